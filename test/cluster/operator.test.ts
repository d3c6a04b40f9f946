import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Session } from '../../src/sandbox/resources/session.ts';
import type { Volume } from '../../src/sandbox/resources/volume.ts';
import type { Claim, Pod } from '../../src/platform/kubernetes/types.ts';
import { buildSession, buildVolume, findCluster, waitFor } from '../support/cluster/cluster.ts';
import type { Cluster } from '../support/cluster/cluster.ts';
import { runKubectl } from '../support/cluster/kubectl.ts';
import { openStage } from '../support/cluster/operator.ts';
import type { Stage } from '../support/cluster/operator.ts';

const found = await findCluster();
const ago = (ms: number): string => new Date(Date.now() - ms).toISOString();

describe.skipIf(found === undefined)('the operator on an API server', () => {
  let cluster: Cluster;
  let stage: Stage;
  let node: Stage['node'];
  let api: Stage['api'];

  beforeAll(async () => {
    cluster = found as Cluster;
    stage = await openStage(cluster);
    ({ node, api } = stage);
  });
  afterAll(() => stage?.close());
  beforeEach(() => node.behave('run'));

  test('a volume gets a claim of 512 MiB and tells its size', async () => {
    const name = await stage.newVolume();
    const volume = await api.untilVolume(name, 'ready', ({ status }) => status?.phase === 'Ready');
    expect(volume.status).toMatchObject({ claimName: name, size: '512Mi', observedGeneration: 1 });
    const claim = await api.find<Claim>('persistentvolumeclaims', name);
    expect(claim?.spec.resources?.requests?.storage).toBe('512Mi');
    expect(claim?.metadata.ownerReferences).toMatchObject([{ kind: 'Volume', name, uid: volume.metadata.uid }]);
    expect((await api.find<Volume>('volumes', name))?.status?.podName).toBeUndefined();
  });

  test('a session without a turn has no pod; its first turn starts one', async () => {
    const name = await stage.newSession({ desiredState: 'Suspended' });
    expect((await api.untilPhase(name, 'Suspended')).status?.podName).toBeUndefined();
    await api.patch('sessions', name, { spec: { desiredState: 'Running' } });
    const { status } = await api.untilPhase(name, 'Running');
    expect(status).toMatchObject({ podName: name, nodeName: 'node-1', podIP: expect.stringMatching(/^10\.9\./) });
    expect(status?.conditions).toMatchObject([{ type: 'Ready', status: 'True', reason: 'PodReady' }]);
  });

  test('kubectl shows the state, and describe the way to it', async () => {
    const { metadata } = await stage.newRunning({ subjectId: 'bob' });
    const line = (await runKubectl(cluster, ['get', 'sess', metadata.name, '--no-headers'])).trim().split(/\s+/);
    expect(line.slice(1, -1)).toEqual(['agt_1', 'bob', 'Running', 'PodReady', metadata.name, 'node-1']);
    await waitFor('events are told', async () =>
      (await runKubectl(cluster, ['describe', 'session.capstan.dev', metadata.name])).includes('accepts calls'),
    );
  });

  test('the pod mounts the volume, has no rights, no secrets and no way to more', async () => {
    const { metadata, spec } = await stage.newRunning();
    const pod = await api.find<{ spec: Record<string, unknown> }>('pods', metadata.name);
    expect(pod?.spec).toMatchObject({
      automountServiceAccountToken: false,
      enableServiceLinks: false,
      restartPolicy: 'Never',
      securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } },
      containers: [
        {
          securityContext: {
            allowPrivilegeEscalation: false,
            readOnlyRootFilesystem: true,
            capabilities: { drop: ['ALL'] },
          },
        },
      ],
    });
    expect(pod?.spec['volumes']).toMatchObject([
      { persistentVolumeClaim: { claimName: spec.volumeName } },
      { emptyDir: {} },
    ]);
    expect(JSON.stringify(pod?.spec)).not.toMatch(/secretRef|secretKeyRef|hostPath|serviceAccountToken/);
  });

  test('a standby pod is made while it is wanted, and goes when it is not', async () => {
    const name = await stage.newVolume({ standbyUntil: ago(-3_600_000) });
    const { status } = await api.untilVolume(name, 'has a standby', (volume) => volume.status?.podIP !== undefined);
    await api.patch('volumes', name, { spec: { standbyUntil: ago(0) } });
    await api.untilGone('pods', status?.podName ?? '');
    const after = await api.untilVolume(name, 'has none', (volume) => volume.status?.podName === undefined);
    expect(after.status?.phase).toBe('Ready');
  });

  test('a standby pod goes when its time is over', async () => {
    const name = await stage.newVolume({ standbyUntil: ago(-3_600_000) });
    await waitFor('a standby', () => node.pods.get(`${name}-standby-0`));
    await api.patch('volumes', name, { spec: { standbyUntil: ago(-1000) } });
    await api.untilGone('pods', `${name}-standby-0`);
    expect(await api.find('persistentvolumeclaims', name)).toBeDefined();
  });

  test('a session adopts the standby pod of its volume, and no other is made meanwhile', async () => {
    const volumeName = await stage.newVolume({ standbyUntil: ago(-3_600_000) });
    const { status: before } = await api.untilVolume(
      volumeName,
      'has a standby',
      ({ status }) => status?.podIP !== undefined,
    );
    const session = await stage.newRunning({ volumeName });
    expect(session.status).toMatchObject({ podName: before?.podName, podUid: before?.podUid });
    const pod = await api.find<Pod>('pods', before?.podName ?? '');
    expect(pod?.metadata.ownerReferences).toMatchObject([{ kind: 'Session', uid: session.metadata.uid }]);
    await api.untilVolume(volumeName, 'tells of no standby', ({ status }) => status?.podName === undefined);
    expect(node.pods.list().filter(({ metadata }) => metadata.name.startsWith(volumeName))).toHaveLength(1);
    // Without the session that adopted it, the standby is requested again. The new pod may have the old one's name.
    await api.remove('sessions', session.metadata.name);
    await waitFor('the adopted pod is gone', async () => {
      const named = await api.find<Pod>('pods', before?.podName ?? '');
      return named?.metadata.uid !== before?.podUid;
    });
    await api.untilVolume(
      volumeName,
      'has another standby',
      ({ status }) => status?.podIP !== undefined && status.podUid !== before?.podUid,
    );
  });

  test('of two sessions at once one adopts the standby pod, the other gets its own', async () => {
    const volumeName = await stage.newVolume({ standbyUntil: ago(-3_600_000) });
    await api.untilVolume(volumeName, 'has a standby', (volume) => volume.status?.podIP !== undefined);
    const sessions = await Promise.all([stage.newRunning({ volumeName }), stage.newRunning({ volumeName })]);
    const names = sessions.map(({ status }) => status?.podName);
    expect(new Set(names).size).toBe(2);
    expect(names).toContain(`${volumeName}-standby-0`);
  });

  test('an idle session is suspended, and comes back with its next call', async () => {
    const { metadata, spec } = await stage.newRunning();
    await api.patch('sessions', metadata.name, { spec: { lastActivityAt: ago(15 * 60_000 - 1000) } });
    const { session, ready } = await api.untilReason(metadata.name, 'Idle');
    expect(ready).toMatchObject({ status: 'False', message: expect.stringContaining('the next call') });
    expect(session.status?.podIP).toBeUndefined();
    await api.untilPhase(metadata.name, 'Suspended');
    expect(await api.find('pods', metadata.name)).toBeUndefined();
    expect(await api.find('persistentvolumeclaims', spec.volumeName)).toBeDefined();
    await api.patch('sessions', metadata.name, { spec: { lastActivityAt: ago(0) } });
    expect((await api.untilPhase(metadata.name, 'Running')).status?.podName).toBe(metadata.name);
  });

  test('a session in use is not suspended', async () => {
    const used = await stage.newRunning({ lastActivityAt: ago(0) });
    const idle = await stage.newRunning();
    await api.patch('sessions', idle.metadata.name, { spec: { lastActivityAt: ago(15 * 60_000 - 1000) } });
    await api.untilPhase(idle.metadata.name, 'Suspended');
    const after = await api.find<Session>('sessions', used.metadata.name);
    expect(after?.status).toMatchObject({ phase: 'Running', podUid: used.status?.podUid });
  });

  test('a deleted session takes its pod along and leaves its volume', async () => {
    const { metadata, spec } = await stage.newRunning();
    await api.remove('sessions', metadata.name);
    await api.untilGone('pods', metadata.name);
    expect(await api.find('volumes', spec.volumeName)).toBeDefined();
  });

  test('a session made anew under the same name never gets the pod of the earlier one', async () => {
    const { metadata, spec, status } = await stage.newRunning();
    node.fail();
    await api.remove('sessions', metadata.name);
    await cluster.create(buildSession(cluster.namespace, spec));
    const { session } = await api.untilReason(metadata.name, 'EarlierPod');
    expect(session.status?.podUid).toBeUndefined();
    node.recover();
    const after = await api.untilPhase(metadata.name, 'Running');
    expect(after.metadata.uid).not.toBe(metadata.uid);
    expect(after.status?.podUid).not.toBe(status?.podUid);
  });

  test('a session whose volume is missing says so, and starts when the volume comes', async () => {
    const volume = buildVolume(cluster.namespace);
    const name = await stage.newSession({ volumeName: volume.metadata.name });
    const { session, ready } = await api.untilReason(name, 'VolumeNotFound');
    expect(session.status?.phase).toBe('Pending');
    expect(ready.message).toContain(volume.metadata.name);
    await cluster.create(volume);
    await api.untilPhase(name, 'Running');
  });

  test('pods that trust a former key are replaced', async () => {
    const { metadata, spec, status } = await stage.newRunning();
    await api.patch('volumes', spec.volumeName, { spec: { publicKey: 'B'.repeat(43) } });
    await waitFor('another pod', async () => {
      const session = await api.find<Session>('sessions', metadata.name);
      return session?.status?.phase === 'Running' && session.status.podUid !== status?.podUid;
    });
    const pod = await api.find<{ spec: { containers: { args: string[] }[] } }>('pods', metadata.name);
    expect(pod?.spec.containers[0]?.args).toContain('B'.repeat(43));
  });

  test('no session ever had two pods', () => {
    expect(node.violations).toEqual([]);
  });

  test('health, readiness and metrics are served', async () => {
    const get = async (path: string) => (await fetch(`${stage.operator.address}${path}`)).text();
    expect(await get('/livez')).toBe('{"status":"ok"}');
    expect(await get('/readyz')).toBe('{"kubernetes":"ok"}');
    const metrics = await get('/metrics');
    expect(metrics).toContain('capstan_operator_leading 1');
    expect(metrics).toMatch(/capstan_operator_writes_total\{verb="create",resource="pods"\} \d+/);
    expect(metrics).toMatch(/capstan_operator_reconcile_seconds_count\{kind="sessions",result="done"\} \d+/);
    expect((await fetch(`${stage.operator.address}/other`)).status).toBe(404);
  });
});
