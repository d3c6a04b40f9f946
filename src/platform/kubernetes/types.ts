import { omitUndefined } from '../records.ts';
import { GROUP } from './resource.ts';
import type { ResourceMeta } from './resource.ts';

/** The fields of Kubernetes' own kinds that are read here, as JSON. */

type PodCondition = { type: string; status: string; reason?: string; message?: string };

/** The pod conditions that are read. */
const POD_CONDITIONS = new Set(['PodScheduled', 'Ready', 'DisruptionTarget']);

type ContainerState = {
  running?: { startedAt?: string };
  waiting?: { reason?: string; message?: string };
  terminated?: { reason?: string; exitCode?: number; message?: string };
};

export type Pod = {
  metadata: ResourceMeta;
  spec: { nodeName?: string };
  status?: {
    phase?: string;
    reason?: string;
    message?: string;
    podIP?: string;
    conditions?: PodCondition[];
    containerStatuses?: { name: string; ready: boolean; state?: ContainerState }[];
  };
};

export type Claim = {
  metadata: ResourceMeta;
  spec: {
    resources?: { requests?: { storage?: string } };
    volumeName?: string;
    dataSource?: { kind: string; name: string };
  };
  status?: {
    phase?: string;
    capacity?: { storage?: string };
    conditions?: { type: string; status: string; reason?: string; message?: string }[];
  };
};

export type Lease = {
  metadata: ResourceMeta;
  spec: {
    holderIdentity?: string;
    leaseDurationSeconds?: number;
    acquireTime?: string;
    renewTime?: string;
    leaseTransitions?: number;
  };
};

/** Only labels and annotations of our own group are read. */
const OWN_PREFIX = `${GROUP}/`;

/** Drops unread fields: managed fields, the last applied configuration, labels and annotations of others. */
export function stripMeta(meta: ResourceMeta): ResourceMeta {
  const { name, namespace, uid, resourceVersion, generation, creationTimestamp, deletionTimestamp } = meta;
  const labels = pickOwn(meta.labels);
  const annotations = pickOwn(meta.annotations);
  const owners = meta.ownerReferences?.map((owner) => ({
    uid: owner.uid,
    ...omitUndefined({ controller: owner.controller }),
  }));
  return {
    name,
    namespace,
    uid,
    resourceVersion,
    ...omitUndefined({
      generation,
      creationTimestamp,
      deletionTimestamp,
      labels,
      annotations,
      ownerReferences: owners,
    }),
  };
}

function pickOwn(all: Record<string, string> | undefined): Record<string, string> | undefined {
  const own = Object.entries(all ?? {}).filter(([key]) => key.startsWith(OWN_PREFIX));
  return own.length === 0 ? undefined : Object.fromEntries(own);
}

export function stripResource<T extends { metadata: ResourceMeta }>(object: T): T {
  const { metadata, spec, status } = object as { metadata: ResourceMeta; spec?: unknown; status?: unknown };
  // Sessions and Volumes have no other fields besides `apiVersion` and `kind`, which are the same for all.
  return { metadata: stripMeta(metadata), spec, ...omitUndefined({ status }) } as unknown as T;
}

export function stripClaim({ metadata, spec, status }: Claim): Claim {
  const { resources, volumeName, dataSource } = spec;
  const { phase, capacity, conditions } = status ?? {};
  return {
    metadata: stripMeta(metadata),
    spec: {
      ...(resources === undefined ? {} : { resources: pick(resources, ['requests']) }),
      ...omitUndefined({ volumeName }),
      ...(dataSource === undefined ? {} : { dataSource: pick(dataSource, ['kind', 'name']) }),
    },
    status: {
      ...omitUndefined({ phase, capacity }),
      ...(conditions === undefined
        ? {}
        : { conditions: conditions.map((one) => pick(one, ['type', 'status', 'reason', 'message'])) }),
    },
  };
}

/** Keeps the fields that the operator's `describePod` reads. */
export function stripPod({ metadata, spec, status }: Pod): Pod {
  const { phase, reason, message, podIP, conditions, containerStatuses } = status ?? {};
  const relevant = conditions?.filter(({ type }) => POD_CONDITIONS.has(type));
  return {
    metadata: stripMeta(metadata),
    spec: spec.nodeName === undefined ? {} : { nodeName: spec.nodeName },
    status: {
      ...omitUndefined({ phase, reason, message, podIP }),
      ...(relevant === undefined
        ? {}
        : { conditions: relevant.map((one) => pick(one, ['type', 'status', 'reason', 'message'])) }),
      ...(containerStatuses === undefined
        ? {}
        : { containerStatuses: containerStatuses.map((one) => pick(one, ['name', 'ready', 'state'])) }),
    },
  };
}

/** The named fields that are present. */
function pick<T extends object, K extends keyof T>(object: T, keys: readonly K[]): Pick<T, K> {
  return Object.fromEntries(keys.filter((key) => object[key] !== undefined).map((key) => [key, object[key]])) as Pick<
    T,
    K
  >;
}
