import { closeSync, openSync, readSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Operator } from '../../operator/start.ts';
import { RESTORE_SNAPSHOT_ANNOTATION } from '../../src/platform/kubernetes/resource.ts';
import { buildVolume, openCluster } from '../support/cluster/cluster.ts';
import type { Cluster } from '../support/cluster/cluster.ts';
import { runKubectl } from '../support/cluster/kubectl.ts';
import { buildAccess, openOperator } from '../support/cluster/operator.ts';
import { findStorage, startStorage } from '../support/cluster/storage.ts';
import { startKubernetes } from '../support/services/kubernetes.ts';

const isGiven = (process.env['CAPSTAN_TEST_KUBECONFIG'] ?? '') !== '';
const programs = isGiven ? undefined : findStorage();
/** Names of snapshots end in the second. */
const OFTEN = { everyMs: 3000, keep: 1 };

/** The external snapshotter and the snapshot controller on a control plane of their own, whose definitions stay there. */
describe.skipIf(programs === undefined)('snapshots by a CSI driver', () => {
  let plane: Awaited<ReturnType<typeof startKubernetes>>;
  let cluster: Cluster;
  let storage: Awaited<ReturnType<typeof startStorage>>;
  let operator: Operator | undefined;
  beforeAll(async () => {
    plane = await startKubernetes();
    cluster = await openCluster(plane?.url ?? '');
    storage = await startStorage(cluster, programs ?? '');
  });
  afterAll(async () => {
    await operator?.close();
    await cluster?.kubernetes.close();
    await storage?.stop();
    await plane?.stop();
  });

  /** Bytes in the middle of the disk. */
  const use = <T>(disk: string, work: (file: number) => T): T => {
    const file = openSync(join(storage.disks, `${disk}.xfs`), 'r+');
    try {
      return work(file);
    } finally {
      closeSync(file);
    }
  };
  const write = (disk: string, text: string) => use(disk, (file) => writeSync(file, text, 2 ** 20));
  const read = (disk: string): string => {
    const bytes = Buffer.alloc(6);
    use(disk, (file) => readSync(file, bytes, 0, bytes.length, 2 ** 20));
    return bytes.toString();
  };

  test('are taken on a schedule, the oldest go, and one of them is restored to a new disk', async () => {
    const api = buildAccess(cluster);
    operator = await openOperator(cluster, { backup: OFTEN });
    const volume = buildVolume(cluster.namespace);
    const { name } = volume.metadata;
    await cluster.create(volume);
    const { status } = await api.untilVolume(name, 'bound', (one) => one.status?.disk !== undefined);
    const disk = status?.disk ?? '';
    const untilNext = async (before: string | undefined): Promise<string> => {
      const other = await api.untilVolume(name, 'a backup', (one) => {
        const last = one.status?.lastBackup?.snapshot;
        return last !== undefined && last !== before;
      });
      return other.status?.lastBackup?.snapshot ?? '';
    };
    write(disk, 'first ');
    const first = await untilNext(undefined);
    write(disk, 'second');
    // One may have been on its way.
    await untilNext(await untilNext(first));
    await api.untilGone('volumesnapshots', first);
    await operator.close();

    const last = (await api.untilVolume(name, 'backed up', () => true)).status?.lastBackup?.snapshot ?? '';
    write(disk, 'third ');
    operator = await openOperator(cluster);
    await runKubectl(cluster, ['annotate', 'volumes.capstan.dev', name, `${RESTORE_SNAPSHOT_ANNOTATION}=${last}`]);
    await runKubectl(cluster, ['delete', 'pvc', name, '--wait=false']);
    const restored = await api.untilVolume(
      name,
      'restored',
      (one) =>
        one.status?.phase === 'Ready' &&
        one.status.conditions?.some(({ reason }) => reason === 'FilesRestored') === true,
    );
    expect(restored.status?.disk).not.toBe(disk);
    expect(read(restored.status?.disk ?? '')).toBe('second');
  });
});
