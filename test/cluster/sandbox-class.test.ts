import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { API_VERSION } from '../../src/platform/kubernetes/resource.ts';
import { buildListPath } from '../../src/platform/kubernetes/paths.ts';
import type { Claim, Pod } from '../../src/platform/kubernetes/types.ts';
import { buildSigner } from '../../src/sandbox/executor/token.ts';
import { openKubernetesSandboxes } from '../../src/sandbox/kubernetes/kubernetes.ts';
import type { Session } from '../../src/sandbox/resources/session.ts';
import type { Volume } from '../../src/sandbox/resources/volume.ts';
import { openLog } from '../../src/platform/log.ts';
import { newTarget } from '../support/sandbox.ts';
import type { SandboxClassSpec } from '../../src/sandbox/resources/sandbox-class.ts';
import { findCluster, newName } from '../support/cluster/cluster.ts';
import type { Cluster } from '../support/cluster/cluster.ts';
import { runKubectl } from '../support/cluster/kubectl.ts';
import { openStage } from '../support/cluster/operator.ts';
import type { Stage } from '../support/cluster/operator.ts';

const found = await findCluster();
type WholePod = Pod & { spec: { containers: { image: string; resources: object }[]; nodeSelector?: object } };

describe.skipIf(found === undefined)('a SandboxClass', () => {
  let cluster: Cluster;
  let stage: Stage;
  let api: Stage['api'];
  beforeAll(async () => {
    cluster = found as Cluster;
    stage = await openStage(cluster);
    ({ api } = stage);
  });
  afterAll(() => stage?.close());

  const newClass = async (spec: SandboxClassSpec, name = `c-${newName()}`): Promise<string> => {
    const metadata = { name, namespace: cluster.namespace };
    const body = { apiVersion: API_VERSION, kind: 'SandboxClass', metadata, spec };
    const path = buildListPath(cluster.namespace, 'sandboxclasses');
    await cluster.kubernetes.request({ method: 'POST', path, body });
    return name;
  };

  test('makes the pod and the claim of the sessions and volumes that name it', async () => {
    const sandboxClass = await newClass({
      image: 'example.test/gpu:1',
      resources: { requests: { cpu: '20m', 'example.com/gpu': '1' }, limits: { 'example.com/gpu': '1' } },
      nodeSelector: { pool: 'gpu' },
      tolerations: [{ key: 'gpu', operator: 'Exists', effect: 'NoSchedule' }],
      affinity: { nodeAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [] } },
      annotations: { 'example.com/team': 'a' },
      volume: { storageClassName: 'fast', initialSize: '2Gi', maxSize: '8Gi' },
    });
    const volumeName = await stage.newVolume({
      sandboxClass,
      standbyUntil: new Date(Date.now() + 60_000).toISOString(),
    });
    const volume = await api.untilVolume(volumeName, 'has a standby', ({ status }) => status?.podIP !== undefined);
    expect(volume.status?.size).toBe('2Gi');
    const claim = await api.find<Claim & { spec: { storageClassName?: string } }>('persistentvolumeclaims', volumeName);
    expect(claim?.spec.storageClassName).toBe('fast');
    const standby = await api.find<WholePod>('pods', volume.status?.podName ?? '');
    expect(standby?.metadata.annotations).toMatchObject({ 'cluster-autoscaler.kubernetes.io/safe-to-evict': 'true' });
    const session = await stage.newRunning({ volumeName, sandboxClass });
    expect(session.status?.podUid).toBe(volume.status?.podUid);
    const pod = await api.find<WholePod>('pods', session.status?.podName ?? '');
    expect(pod?.metadata.annotations).not.toHaveProperty('cluster-autoscaler.kubernetes.io/safe-to-evict');
    expect(pod?.metadata).toMatchObject({
      labels: { 'capstan.dev/class': sandboxClass, 'capstan.dev/subject-id': 'ada' },
      annotations: { 'example.com/team': 'a' },
    });
    expect(pod?.spec).toMatchObject({
      nodeSelector: { pool: 'gpu' },
      containers: [{ image: 'example.test/gpu:1', resources: { limits: { 'example.com/gpu': '1' } } }],
    });
  });

  test('a session does not adopt a standby pod of another class', async () => {
    const sandboxClass = await newClass({ nodeSelector: { pool: 'other' } });
    const volumeName = await stage.newVolume({ standbyUntil: new Date(Date.now() + 60_000).toISOString() });
    const volume = await api.untilVolume(volumeName, 'has a standby', ({ status }) => status?.podIP !== undefined);
    const session = await stage.newRunning({ volumeName, sandboxClass });
    expect(session.status?.podUid).not.toBe(volume.status?.podUid);
  });

  test('is the one that the services read of the agent', async () => {
    const sandboxClass = await newClass({ nodeSelector: { pool: 'agents' } });
    const { kubernetes, namespace } = cluster;
    const log = openLog({ level: 'silent', pretty: false });
    let named: string | null = sandboxClass;
    const findClass = async (): Promise<string | null> => named;
    const signer = buildSigner(Buffer.alloc(32, 3).toString('base64'));
    const sandboxes = await openKubernetesSandboxes({ kubernetes, namespace, signer, log, findClass });
    const target = newTarget({ sessionId: `ses_${newName()}`, subjectId: newName() });
    await sandboxes.prepare(target);
    const name = target.sessionId.replaceAll('_', '-');
    const session = await api.untilPhase(name, 'Running');
    expect(session.spec.sandboxClass).toBe(sandboxClass);
    expect((await api.find<WholePod>('pods', name))?.spec.nodeSelector).toEqual({ pool: 'agents' });
    const volume = await api.find<Volume>('volumes', session.spec.volumeName);
    expect(volume?.spec.sandboxClass).toBe(sandboxClass);
    named = null;
    await sandboxes.prepare(target);
    expect((await api.find<Session>('sessions', name))?.spec).not.toHaveProperty('sandboxClass');
    await sandboxes.close();
  });

  test('that does not exist is the reason of volume and session, and both go on when it comes', async () => {
    const sandboxClass = `c-${newName()}`;
    const volumeName = await stage.newVolume({ sandboxClass });
    const name = await stage.newSession({ volumeName, sandboxClass });
    const { ready } = await api.untilReason(name, 'VolumeFailed');
    expect(ready.message).toContain(`There is no SandboxClass ${sandboxClass}`);
    const other = await stage.newSession({ sandboxClass });
    expect((await api.untilReason(other, 'ClassNotFound')).session.status?.phase).toBe('Failed');
    await newClass({}, sandboxClass);
    await api.untilPhase(name, 'Running');
    await api.untilPhase(other, 'Running');
  });

  test('kubectl shows it, and the API server checks it', async () => {
    const name = await newClass({ image: 'example.test/x:1', egress: 'None' });
    expect(await runKubectl(cluster, ['get', 'sbc', name, '--no-headers'])).toMatch(/example.test\/x:1 +None/);
    await expect(newClass({ volume: { initialSize: '1 GB' } })).rejects.toThrow(/initialSize/);
  });
});
