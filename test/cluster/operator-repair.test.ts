import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { buildPath } from '../../src/platform/kubernetes/paths.ts';
import type { Session } from '../../src/sandbox/resources/session.ts';
import { findCluster, waitFor } from '../support/cluster/cluster.ts';
import type { Cluster } from '../support/cluster/cluster.ts';
import { openStage } from '../support/cluster/operator.ts';
import type { Stage } from '../support/cluster/operator.ts';

const found = await findCluster();
const IDLE_MS = 4000;
const another = found === undefined ? undefined : await findCluster();

describe.skipIf(found === undefined)('writes of other clients', () => {
  let cluster: Cluster;
  let stage: Stage;
  let api: Stage['api'];
  beforeAll(async () => {
    cluster = found as Cluster;
    stage = await openStage(cluster);
    ({ api } = stage);
  });
  afterAll(() => stage?.close());

  const overwrite = (plural: 'sessions' | 'volumes', name: string, status: object) =>
    cluster.kubernetes.request({
      method: 'PATCH',
      path: buildPath(cluster.namespace, plural, name, 'status'),
      body: { status },
    });

  test('a status that somebody has overwritten is repaired', async () => {
    const { metadata, spec, status } = await stage.newRunning();
    for (const podIP of ['6.6.6.6', '7.7.7.7']) {
      await overwrite('sessions', metadata.name, { phase: 'Failed', podIP });
      const repaired = await api.untilPhase(metadata.name, 'Running');
      expect(repaired.status?.podIP).toBe(status?.podIP);
    }
    await api.untilVolume(spec.volumeName, 'ready', (volume) => volume.status?.phase === 'Ready');
    await overwrite('volumes', spec.volumeName, { phase: 'Failed', podIP: '6.6.6.6' });
    const volume = await api.untilVolume(spec.volumeName, 'ready', (one) => one.status?.phase === 'Ready');
    expect(volume.status?.podIP).toBeUndefined();
  });

  test.each([
    ['organizationId', 'org_2'],
    ['agentId', 'agt_2'],
    ['subjectId', 'mallory'],
  ])('a session of another %s gets no pod on the volume', async (field, value) => {
    const name = await stage.newSession({ volumeName: await stage.newVolume(), [field]: value });
    const { session, ready } = await api.untilReason(name, 'VolumeMismatch');
    expect(session.status?.phase).toBe('Failed');
    expect(ready.message).toContain(field);
    expect(await api.find('pods', name)).toBeUndefined();
  });
});

describe.skipIf(another === undefined)('a time of activity that lies far ahead', () => {
  let stage: Stage;
  beforeAll(async () => {
    stage = await openStage(another as Cluster, { idleMs: IDLE_MS });
  });
  afterAll(() => stage?.close());

  test('does not keep the pod for ever', async () => {
    const lastActivityAt = '2999-01-01T00:00:00Z';
    const name = await stage.newSession({ lastActivityAt });
    await stage.api.untilPhase(name, 'Running');
    await stage.api.untilReason(name, 'Idle');
    await stage.api.untilGone('pods', name);
    const now = new Date().toISOString();
    await stage.api.patch('sessions', name, { spec: { lastActivityAt: now } });
    const running = await waitFor('running again', async () => {
      const session = await stage.api.find<Session>('sessions', name);
      return session?.status?.phase === 'Running' ? session : undefined;
    });
    expect(running.status).not.toHaveProperty('futureActivity');
  });
});
