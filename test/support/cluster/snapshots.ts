import { setTimeout as sleep } from 'node:timers/promises';
import { hasStatus } from '../../../src/platform/kubernetes/client.ts';
import { buildListPath, buildPath } from '../../../src/platform/kubernetes/paths.ts';
import type { Cluster } from './cluster.ts';
import { waitFor } from './cluster.ts';

const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const NAME = 'volumesnapshots.snapshot.storage.k8s.io';

/** The fields of kubernetes-csi/external-snapshotter that are used here. */
const DEFINITION = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: {
    name: NAME,
    annotations: { 'api-approved.kubernetes.io': 'https://github.com/kubernetes-csi/external-snapshotter/pull/814' },
  },
  spec: {
    group: 'snapshot.storage.k8s.io',
    scope: 'Namespaced',
    names: { kind: 'VolumeSnapshot', plural: 'volumesnapshots', singular: 'volumesnapshot', shortNames: ['vs'] },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        subresources: { status: {} },
        schema: {
          openAPIV3Schema: {
            type: 'object',
            required: ['spec'],
            properties: {
              spec: {
                type: 'object',
                required: ['source'],
                properties: {
                  source: {
                    type: 'object',
                    properties: {
                      persistentVolumeClaimName: { type: 'string' },
                      volumeSnapshotContentName: { type: 'string' },
                    },
                  },
                  volumeSnapshotClassName: { type: 'string' },
                },
              },
              status: {
                type: 'object',
                properties: {
                  readyToUse: { type: 'boolean' },
                  restoreSize: { type: 'string' },
                  error: { type: 'object', properties: { message: { type: 'string' } } },
                },
              },
            },
          },
        },
      },
    ],
  },
};

export type Snapshot = {
  metadata: { name: string; ownerReferences?: { uid: string }[] };
  spec: { source: { persistentVolumeClaimName: string }; volumeSnapshotClassName?: string };
  status?: { readyToUse?: boolean };
};

/** Installs the definition of VolumeSnapshots, as a snapshot controller brings it. */
export async function installSnapshots({ kubernetes, namespace }: Cluster): Promise<void> {
  await kubernetes.request({ method: 'POST', path: DEFINITIONS, body: DEFINITION }).catch((error: unknown) => {
    if (!hasStatus(error, 409)) throw error;
  });
  const path = buildListPath(namespace, 'volumesnapshots');
  await waitFor('VolumeSnapshots are served', () =>
    kubernetes.request({ method: 'GET', path }).then(
      () => true,
      () => false,
    ),
  );
}

/** Stands in for the snapshot controller: what `behave` returns becomes the status of each new snapshot. */
export function startSnapshotter({ kubernetes, namespace }: Cluster, behave: (claim: string) => object) {
  const closing = new AbortController();
  const list = async (): Promise<Snapshot[]> => {
    const path = buildListPath(namespace, 'volumesnapshots');
    return (await kubernetes.request<{ items: Snapshot[] }>({ method: 'GET', path })).items;
  };
  const settle = async (): Promise<void> => {
    for (const { metadata, spec, status } of await list()) {
      if (status !== undefined) continue;
      const path = buildPath(namespace, 'volumesnapshots', metadata.name, 'status');
      const body = { status: behave(spec.source.persistentVolumeClaimName) };
      await kubernetes.request({ method: 'PATCH', path, body }).catch((error: unknown) => {
        if (!hasStatus(error, 404)) throw error;
      });
    }
  };
  const run = async (): Promise<void> => {
    while (!closing.signal.aborted) {
      await settle();
      await sleep(50);
    }
  };
  const done = run();
  return {
    list,
    async close(): Promise<void> {
      closing.abort();
      await done;
    },
  };
}
