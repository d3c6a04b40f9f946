import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { LABELS, RESTORE_SNAPSHOT_ANNOTATION } from '../../src/platform/kubernetes/resource.ts';
import type { Claim } from '../../src/platform/kubernetes/types.ts';
import type { Volume } from '../../src/sandbox/resources/volume.ts';
import { findCluster, waitFor } from '../support/cluster/cluster.ts';
import type { Cluster } from '../support/cluster/cluster.ts';
import { runKubectl } from '../support/cluster/kubectl.ts';
import { openOperator, openStage } from '../support/cluster/operator.ts';
import type { Stage } from '../support/cluster/operator.ts';
import { installSnapshots, startSnapshotter } from '../support/cluster/snapshots.ts';

const isGiven = (process.env['CAPSTAN_TEST_KUBECONFIG'] ?? '') !== '';
const found = await findCluster();
const another = found === undefined ? undefined : await findCluster();
const third = found === undefined ? undefined : await findCluster();
const fourth = found === undefined ? undefined : await findCluster();
/** Names of snapshots end in the second. */
const OFTEN = { everyMs: 1500, keep: 2, snapshotClassName: 'quick' };

const findCondition = ({ status }: Volume, type: string) => status?.conditions?.find((one) => one.type === type);

describe.skipIf(found === undefined || isGiven)('backups in a cluster that has no VolumeSnapshots', () => {
  let stage: Stage;
  beforeAll(async () => {
    stage = await openStage(found as Cluster, { backup: OFTEN });
  });
  afterAll(() => stage?.close());

  test('say so in a condition and a Warning, and the volume serves on', async () => {
    const session = await stage.newRunning();
    const name = session.spec.volumeName;
    const volume = await stage.api.untilVolume(name, 'reported', (one) => findCondition(one, 'BackedUp') !== undefined);
    expect(findCondition(volume, 'BackedUp')).toMatchObject({
      status: 'False',
      reason: 'SnapshotsMissing',
      message: expect.stringContaining('has no VolumeSnapshots'),
    });
    expect(volume.status?.phase).toBe('Ready');
    await waitFor('a Warning', async () =>
      (await runKubectl(found as Cluster, ['describe', 'volumes.capstan.dev', name])).includes('SnapshotsMissing'),
    );
  });
});

/** An operator that takes backups, beside a snapshot controller that is played. */
async function openBackups(cluster: Cluster, keep: number) {
  await installSnapshots(cluster);
  const failing = new Set<string>();
  const snapshotter = startSnapshotter(cluster, (claim) =>
    failing.has(claim) ? { error: { message: 'the disk is busy' } } : { readyToUse: true, restoreSize: '1Gi' },
  );
  const stage = await openStage(cluster, { backup: { ...OFTEN, keep } });
  return {
    ...stage,
    failing,
    list: snapshotter.list,
    untilBackup: (name: string, other = '') =>
      stage.api.untilVolume(
        name,
        'a backup',
        ({ status }) => ![undefined, other].includes(status?.lastBackup?.snapshot),
      ),
    async close() {
      await snapshotter.close();
      await stage.close();
    },
  };
}

type BackupStage = Awaited<ReturnType<typeof openBackups>>;

describe.skipIf(another === undefined)('backups', () => {
  let stage: BackupStage;
  beforeAll(async () => {
    stage = await openBackups(another as Cluster, 2);
  });
  afterAll(() => stage?.close());

  test('are taken on a schedule, belong to the volume, and the oldest go', async () => {
    const name = await stage.newVolume();
    const first = await stage.untilBackup(name);
    const snapshot = first.status?.lastBackup?.snapshot ?? '';
    expect(findCondition(first, 'BackedUp')).toMatchObject({ status: 'True', reason: 'SnapshotReady' });
    const [taken] = (await stage.list()).filter(({ metadata }) => metadata.name === snapshot);
    expect(taken).toMatchObject({
      metadata: { labels: { [LABELS.volume]: name }, ownerReferences: [{ uid: first.metadata.uid }] },
      spec: { source: { persistentVolumeClaimName: name }, volumeSnapshotClassName: 'quick' },
    });
    await stage.untilBackup(name, snapshot);
    await stage.api.untilGone('volumesnapshots', snapshot);
  });
});

describe.skipIf(third === undefined)('backups of a volume', () => {
  let cluster: Cluster;
  let stage: BackupStage;
  let api: Stage['api'];
  beforeAll(async () => {
    cluster = third as Cluster;
    // None goes before it is restored.
    stage = await openBackups(cluster, 10_000);
    ({ api } = stage);
  });
  afterAll(() => stage?.close());

  test('that fail are reported in the words of the storage', async () => {
    const volume = await stage.newVolume();
    stage.failing.add(volume);
    const failed = await api.untilVolume(volume, 'failed', (one) => findCondition(one, 'BackedUp')?.status === 'False');
    const { reason, message } = findCondition(failed, 'BackedUp') ?? {};
    expect([reason, message]).toEqual(['SnapshotFailed', expect.stringContaining('the disk is busy')]);
    await api.remove('volumes', volume);
  });

  test('bring the files back after the claim was deleted', async () => {
    const name = await stage.newVolume();
    const { status } = await stage.untilBackup(name);
    const snapshot = status?.lastBackup?.snapshot ?? '';
    const annotation = `${RESTORE_SNAPSHOT_ANNOTATION}=${snapshot}`;
    await runKubectl(cluster, ['annotate', 'volumes.capstan.dev', name, annotation]);
    await api.remove('persistentvolumeclaims', name);
    await api.patch('persistentvolumeclaims', name, { metadata: { finalizers: null } }).catch(() => undefined);
    const restored = await api.untilVolume(
      name,
      'restored',
      (volume) => findCondition(volume, 'FilesLost')?.reason === 'FilesRestored',
    );
    expect(restored.status?.phase).toBe('Ready');
    expect(restored.status?.lostDisk).toBeUndefined();
    expect(findCondition(restored, 'FilesLost')).toMatchObject({
      status: 'False',
      message: expect.stringContaining(snapshot),
    });
    const claim = await api.find<Claim>('persistentvolumeclaims', name);
    expect(claim?.spec).toMatchObject({
      dataSource: { kind: 'VolumeSnapshot', name: snapshot },
      resources: { requests: { storage: '1Gi' } },
    });
    await api.remove('volumes', name);
  });

  test('that do not exist are the reason of the volume', async () => {
    const name = await stage.newVolume();
    await api.untilVolume(name, 'bound', ({ status }) => status?.disk !== undefined);
    await runKubectl(cluster, ['annotate', 'volumes.capstan.dev', name, `${RESTORE_SNAPSHOT_ANNOTATION}=gone`]);
    await api.remove('persistentvolumeclaims', name);
    await api.patch('persistentvolumeclaims', name, { metadata: { finalizers: null } }).catch(() => undefined);
    const reason = 'SnapshotNotFound';
    const failed = await api.untilVolume(name, reason, (one) => findCondition(one, 'Ready')?.reason === reason);
    expect(findCondition(failed, 'Ready')?.message).toContain('There is no VolumeSnapshot gone');
    await api.remove('volumes', name);
  });
});

describe.skipIf(fourth === undefined)('backups that are turned off', () => {
  test('are no longer followed, and the condition says so', async () => {
    const cluster = fourth as Cluster;
    const stage = await openBackups(cluster, 2);
    const name = await stage.newVolume();
    stage.failing.add(name);
    await stage.api.untilVolume(name, 'a backup that fails', ({ status }) => status?.pendingBackup !== undefined);
    await stage.api.untilVolume(name, 'failed', (one) => findCondition(one, 'BackedUp')?.reason === 'SnapshotFailed');
    await stage.operator.close();
    const operator = await openOperator(cluster);
    const off = await stage.api.untilVolume(
      name,
      'off',
      (one) => findCondition(one, 'BackedUp')?.reason === 'BackupsOff',
    );
    expect(findCondition(off, 'BackedUp')).toMatchObject({ status: 'Unknown', message: 'Backups are turned off.' });
    expect(off.status?.pendingBackup).toBeUndefined();
    await operator.close();
    await stage.close();
  });
});
