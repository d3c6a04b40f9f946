import { setTimeout as sleep } from 'node:timers/promises';
import { LABELS } from '../../src/platform/kubernetes/resource.ts';
import type { ResourceMeta } from '../../src/platform/kubernetes/resource.ts';
import type { Session } from '../../src/sandbox/resources/session.ts';
import type { SandboxClass } from '../../src/sandbox/resources/sandbox-class.ts';
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

const CLASSES_MS = 5000;

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
      indexes: { volume: ({ spec }) => spec.volumeName, class: ({ spec }) => spec.sandboxClass },
    }),
    volumes: start<Volume>('volumes', {
      strip: stripResource,
      indexes: { class: ({ spec }) => spec.sandboxClass },
    }),
    pods: start<Pod>('pods', {
      strip: stripPod,
      labelSelector,
      indexes: {
        session: ({ metadata }) => metadata.labels?.[LABELS.session],
        volume: ({ metadata }) => metadata.labels?.[LABELS.volume],
        pool: ({ metadata: { labels } }) =>
          labels?.[LABELS.warm] === undefined ? undefined : labels[LABELS.sandboxClass],
      },
    }),
    claims: start<Claim>('persistentvolumeclaims', {
      strip: stripClaim,
      labelSelector,
      indexes: { volume: ({ metadata }) => metadata.labels?.[LABELS.volume] },
    }),
    classes: start<SandboxClass>('sandboxclasses', { strip: stripResource }),
  };
  const all = Object.values(caches);
  // The definitions of an earlier release lack this kind; it must not hold up the others.
  const { classes, ...needed } = caches;
  const classesSynced = Promise.race([classes.synced, sleep(CLASSES_MS, undefined, { ref: false })]);
  return {
    ...caches,
    synced: Promise.all([classesSynced, ...Object.values(needed).map(({ synced }) => synced)]),
    async close() {
      await Promise.all(all.map((cache) => cache.close()));
    },
  };
}

export type CachedObject = { metadata: ResourceMeta; status?: object | undefined };
