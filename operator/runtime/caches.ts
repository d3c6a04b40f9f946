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

/** Caches of the four kinds. `onChange` is called after the cache holds the change. */
export function openCaches(
  { kubernetes, namespace, log }: { kubernetes: Kubernetes; namespace: string; log: Logger },
  onChange: (plural: Plural, name: string, object: CachedObject | undefined, before: CachedObject | undefined) => void,
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

export type CachedObject = { metadata: ResourceMeta; status?: object | undefined };
