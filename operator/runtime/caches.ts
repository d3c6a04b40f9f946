import { LABELS } from '../../src/platform/kubernetes/resource.ts';
import type { ResourceMeta } from '../../src/platform/kubernetes/resource.ts';
import type { Session } from '../../src/sandbox/resources/session.ts';
import type { Volume } from '../../src/sandbox/resources/volume.ts';
import type { Kubernetes } from '../../src/platform/kubernetes/client.ts';
import { startInformer } from '../../src/platform/kubernetes/informer.ts';
import type { InformerOptions } from '../../src/platform/kubernetes/informer.ts';
import { buildListPath } from '../../src/platform/kubernetes/paths.ts';
import type { Plural } from '../../src/platform/kubernetes/paths.ts';
import { stripClaim, stripPod, stripResource } from '../../src/platform/kubernetes/types.ts';
import type { Claim, Pod } from '../../src/platform/kubernetes/types.ts';
import type { Logger } from '../../src/platform/log.ts';
import type { Controller } from './controller.ts';

export type Caches = Controller['caches'] & {
  /** resolves when all are complete */
  synced: Promise<unknown>;
  close(): Promise<void>;
};

/** Caches of the four kinds; `onChange` is told of a change after the cache holds it. */
export function openCaches(
  { kubernetes, namespace, log }: { kubernetes: Kubernetes; namespace: string; log: Logger },
  onChange: (plural: Plural, name: string, object: Related | undefined, before: Related | undefined) => void,
): Caches {
  const start = <T extends { metadata: ResourceMeta }>(
    plural: Plural,
    options: Pick<InformerOptions<T>, 'strip' | 'indexes' | 'labelSelector'>,
  ) => {
    const informer = startInformer<T>({ kubernetes, path: buildListPath(namespace, plural), log, ...options });
    informer.onChange((name, object, before) => onChange(plural, name, object, before));
    return informer;
  };
  const labelSelector = `${LABELS.managedBy}=capstan-operator`;
  const caches = {
    sessions: start<Session>('sessions', {
      strip: stripResource,
      indexes: { volume: ({ spec }) => spec.volumeName },
    }),
    volumes: start<Volume>('volumes', { strip: stripResource }),
    pods: start<Pod>('pods', {
      strip: stripPod,
      labelSelector,
      indexes: {
        session: ({ metadata }) => metadata.labels?.[LABELS.session],
        volume: ({ metadata }) => metadata.labels?.[LABELS.volume],
      },
    }),
    claims: start<Claim>('persistentvolumeclaims', { strip: stripClaim, labelSelector }),
  };
  const all = Object.values(caches);
  return {
    ...caches,
    synced: Promise.all(all.map(({ synced }) => synced)),
    async close() {
      await Promise.all(all.map((cache) => cache.close()));
    },
  };
}

/** What the change of an object tells about others. */
export type Related = { metadata: ResourceMeta };
