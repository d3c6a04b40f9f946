import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { LOSS_ACCEPTED_ANNOTATION } from '../../src/platform/kubernetes/resource.ts';
import type { Claim } from '../../src/platform/kubernetes/types.ts';
import type { Volume } from '../../src/sandbox/resources/volume.ts';
import { findCluster, waitFor } from '../support/cluster/cluster.ts';
import type { Cluster } from '../support/cluster/cluster.ts';
import { runKubectl } from '../support/cluster/kubectl.ts';
import { openStage } from '../support/cluster/operator.ts';
import type { Stage } from '../support/cluster/operator.ts';

const found = await findCluster();
const another = found === undefined ? undefined : await findCluster();

const findCondition = ({ status }: Volume, type: string) => status?.conditions?.find((one) => one.type === type);

/** A volume with a bound claim, which is then deleted. */
async function loseClaim({ api, newVolume }: Stage): Promise<{ name: string; disk: string }> {
  const name = await newVolume();
  const { status } = await api.untilVolume(name, 'bound', (volume) => volume.status?.disk !== undefined);
  await api.remove('persistentvolumeclaims', name);
  // In a cluster, the controller that protects claims does this once no pod uses the claim.
  await api.patch('persistentvolumeclaims', name, { metadata: { finalizers: null } }).catch(() => undefined);
  return { name, disk: status?.disk ?? '' };
}

describe.skipIf(found === undefined)('a volume whose claim is deleted', () => {
  let cluster: Cluster;
  let stage: Stage;
  let api: Stage['api'];
  beforeAll(async () => {
    cluster = found as Cluster;
    stage = await openStage(cluster);
    ({ api } = stage);
  });
  afterAll(() => stage?.close());

  test('gets no empty claim before somebody confirms the loss; volume, session and an Event tell of it, for good', async () => {
    const { name, disk } = await loseClaim(stage);
    const halted = await api.untilVolume(
      name,
      'halted',
      (volume) => findCondition(volume, 'Ready')?.reason === 'FilesLost',
    );
    expect(halted.status?.phase).toBe('Failed');
    expect(findCondition(halted, 'FilesLost')).toMatchObject({
      status: 'True',
      message: expect.stringContaining(disk),
    });
    expect(halted.status).toMatchObject({ lostDisk: disk });
    const session = await stage.newSession({ volumeName: name });
    expect((await api.untilReason(session, 'VolumeFailed')).ready.message).toContain(disk);
    expect(await api.find('persistentvolumeclaims', name)).toBeUndefined();
    await waitFor('a Warning', async () =>
      (await runKubectl(cluster, ['describe', 'volumes.capstan.dev', name])).includes('Warning  ClaimDeleted'),
    );
    await runKubectl(cluster, ['annotate', 'volumes.capstan.dev', name, `${LOSS_ACCEPTED_ANNOTATION}=${disk}`]);
    const after = await api.untilVolume(name, 'ready', (volume) => volume.status?.phase === 'Ready');
    expect(after.status?.disk).not.toBe(disk);
    const lost = findCondition(after, 'FilesLost');
    expect(lost).toMatchObject({ status: 'True', message: expect.stringContaining(after.status?.disk ?? '') });
    await api.untilPhase(session, 'Running');
  });

  test('keeps its files where only the label was removed from the claim', async () => {
    const name = await stage.newVolume();
    const before = await api.untilVolume(name, 'bound', (volume) => volume.status?.disk !== undefined);
    const label = 'app.kubernetes.io/managed-by';
    await api.patch('persistentvolumeclaims', name, { metadata: { labels: { [label]: null } } });
    await waitFor('the label is back', async () => {
      const claim = await api.find<Claim>('persistentvolumeclaims', name);
      return claim?.metadata.labels?.[label] !== undefined;
    });
    const after = await api.untilVolume(name, 'ready', (volume) => volume.status?.phase === 'Ready');
    expect(after.status?.disk).toBe(before.status?.disk);
    expect(findCondition(after, 'FilesLost')).toBeUndefined();
  });
});

describe.skipIf(another === undefined)('with the policy recreate', () => {
  let stage: Stage;
  beforeAll(async () => {
    stage = await openStage(another as Cluster, { onLostClaim: 'recreate' });
  });
  afterAll(() => stage?.close());

  test('an empty claim replaces it at once, and the loss is reported for good', async () => {
    const { name, disk } = await loseClaim(stage);
    const after = await stage.api.untilVolume(
      name,
      'ready with another disk',
      ({ status }) => status?.phase === 'Ready' && status.disk !== undefined && status.disk !== disk,
    );
    expect(findCondition(after, 'FilesLost')).toMatchObject({ status: 'True', reason: 'ClaimDeleted' });
    expect(after.status?.lostDisk).toBe(disk);
  });
});
