import type { ResourceMeta } from '../contract/resources/common.ts';

/** The parts of Kubernetes' own kinds that are read here, as JSON. */

type PodCondition = { type: string; status: string; reason?: string; message?: string; lastTransitionTime?: string };

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
  spec: { resources?: { requests?: { storage?: string } }; volumeName?: string; storageClassName?: string };
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

/** Without what nobody reads: who manages which field, and the last applied configuration. */
export function stripMeta(meta: ResourceMeta): ResourceMeta {
  const { name, namespace, uid, resourceVersion, generation, creationTimestamp, deletionTimestamp } = meta;
  const { labels, annotations, ownerReferences } = meta;
  const kept = Object.fromEntries(
    Object.entries(annotations ?? {}).filter(([key]) => !key.startsWith('kubectl.kubernetes.io/')),
  );
  return {
    name,
    namespace,
    uid,
    resourceVersion,
    ...(generation === undefined ? {} : { generation }),
    ...(creationTimestamp === undefined ? {} : { creationTimestamp }),
    ...(deletionTimestamp === undefined ? {} : { deletionTimestamp }),
    ...(labels === undefined ? {} : { labels }),
    ...(Object.keys(kept).length === 0 ? {} : { annotations: kept }),
    ...(ownerReferences === undefined ? {} : { ownerReferences }),
  };
}

export function stripResource<T extends { metadata: ResourceMeta }>(object: T): T {
  return { ...object, metadata: stripMeta(object.metadata) };
}

export function stripPod({ metadata, spec, status }: Pod): Pod {
  const { phase, reason, message, podIP, conditions, containerStatuses } = status ?? {};
  return {
    metadata: stripMeta(metadata),
    spec: spec.nodeName === undefined ? {} : { nodeName: spec.nodeName },
    status: {
      ...(phase === undefined ? {} : { phase }),
      ...(reason === undefined ? {} : { reason }),
      ...(message === undefined ? {} : { message }),
      ...(podIP === undefined ? {} : { podIP }),
      ...(conditions === undefined ? {} : { conditions }),
      ...(containerStatuses === undefined
        ? {}
        : {
            containerStatuses: containerStatuses.map(({ name, ready, state }) => ({
              name,
              ready,
              ...(state === undefined ? {} : { state }),
            })),
          }),
    },
  };
}
