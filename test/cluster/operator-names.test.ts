import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ResourceMeta } from '../../src/platform/kubernetes/resource.ts';
import { API_VERSION, LOSS_ACCEPTED_ANNOTATION } from '../../src/platform/kubernetes/resource.ts';
import { buildListPath } from '../../src/platform/kubernetes/paths.ts';
import type { Plural } from '../../src/platform/kubernetes/paths.ts';
import type { Pod } from '../../src/platform/kubernetes/types.ts';
import type { Session } from '../../src/sandbox/resources/session.ts';
import type { Volume } from '../../src/sandbox/resources/volume.ts';
import { buildVolume, findCluster, newName, waitFor } from '../support/cluster/cluster.ts';
import type { Cluster } from '../support/cluster/cluster.ts';
import { openStage } from '../support/cluster/operator.ts';
import type { Stage } from '../support/cluster/operator.ts';

const found = await findCluster();
const another = found === undefined ? undefined : await findCluster();

const readReason = ({ status }: Volume) => status?.conditions?.find(({ type }) => type === 'Ready')?.reason;

describe.skipIf(found === undefined)('a name that a person has taken', () => {
  let cluster: Cluster;
  let stage: Stage;
  let api: Stage['api'];
  beforeAll(async () => {
    cluster = found as Cluster;
    stage = await openStage(cluster);
    ({ api } = stage);
  });
  afterAll(() => stage?.close());

  const post = <T>(plural: Plural, body: object): Promise<T> =>
    cluster.kubernetes.request<T>({ method: 'POST', path: buildListPath(cluster.namespace, plural), body });
  /** As `kubectl apply` would: without labels and owner. */
  const createClaim = (name: string) => {
    const spec = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '512Mi' } } };
    return post('persistentvolumeclaims', {
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      metadata: { name },
      spec,
    });
  };
  const giveTo = (claim: string, { name, uid }: ResourceMeta) => {
    const owner = { apiVersion: API_VERSION, kind: 'Volume', name, uid, controller: true };
    return api.patch('persistentvolumeclaims', claim, { metadata: { ownerReferences: [owner] } });
  };

  test('for the claim of a new volume: both say so, no pod mounts it, and they go on when it is given to the volume', async () => {
    const volume = buildVolume(cluster.namespace);
    const { name } = volume.metadata;
    await createClaim(name);
    await cluster.create(volume);
    const failed = await api.untilVolume(name, 'EarlierClaim', (one) => readReason(one) === 'EarlierClaim');
    expect(failed.status?.phase).toBe('Failed');
    const message = failed.status?.conditions?.find(({ type }) => type === 'Ready')?.message ?? '';
    expect(message).toContain(`(UID ${failed.metadata.uid})`);
    const session = await stage.newSession({ volumeName: name });
    expect((await api.untilReason(session, 'VolumeFailed')).ready.message).toContain(message);
    expect(await api.find<Pod>('pods', session)).toBeUndefined();
    await giveTo(name, failed.metadata);
    await api.untilPhase(session, 'Running');
    await api.remove('sessions', session);
  });

  test('for the claim of a volume that lost its own: no pod mounts it', async () => {
    const session = await stage.newRunning();
    const { volumeName } = session.spec;
    await api.untilVolume(volumeName, 'bound', ({ status }) => status?.disk !== undefined);
    await api.patch('sessions', session.metadata.name, { spec: { desiredState: 'Suspended' } });
    await api.untilPhase(session.metadata.name, 'Suspended');
    await api.remove('persistentvolumeclaims', volumeName);
    await api.patch('persistentvolumeclaims', volumeName, { metadata: { finalizers: null } }).catch(() => undefined);
    const { status } = await api.untilVolume(volumeName, 'lost', (one) => one.status?.lostDisk !== undefined);
    await createClaim(volumeName);
    const metadata = { annotations: { [LOSS_ACCEPTED_ANNOTATION]: status?.lostDisk } };
    await api.patch('volumes', volumeName, { metadata });
    await api.untilVolume(volumeName, 'EarlierClaim', (one) => readReason(one) === 'EarlierClaim');
    await api.patch('sessions', session.metadata.name, { spec: { desiredState: 'Running' } });
    await api.untilReason(session.metadata.name, 'VolumeFailed');
    expect(await api.find<Pod>('pods', session.metadata.name)).toBeUndefined();
    await api.remove('sessions', session.metadata.name);
  });

  test('for the pod of a session: it says so, and starts when the name is free', async () => {
    const sessionId = `ses_${newName()}`;
    const name = sessionId.replaceAll('_', '-');
    const securityContext = { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } };
    await post('pods', {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name },
      spec: {
        containers: [{ name: 'x', image: 'x', securityContext }],
        securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } },
      },
    });
    await stage.newSession({ sessionId });
    const { session, ready } = await api.untilReason(name, 'PodRefused');
    expect(session.status?.phase).toBe('Failed');
    expect(ready.message).toContain('does not belong to this session');
    await api.remove('pods', name, { gracePeriodSeconds: 0 });
    await api.untilPhase(name, 'Running');
    await api.remove('sessions', name);
  });

  test('a session of a wrong clock whose volume is missing says so', async () => {
    const name = await stage.newSession({ volumeName: 'no-such-volume', lastActivityAt: '2999-01-01T00:00:00Z' });
    expect((await api.untilReason(name, 'VolumeNotFound')).session.status?.phase).toBe('Pending');
    await api.remove('sessions', name);
  });

  test('a limit range that caps memory is the reason of the session, in its own words', async () => {
    const path = `/api/v1/namespaces/${cluster.namespace}/limitranges`;
    const metadata = { name: `small-${newName()}` };
    const spec = { limits: [{ type: 'Container', max: { memory: '128Mi' } }] };
    await cluster.kubernetes.request({
      method: 'POST',
      path,
      body: { apiVersion: 'v1', kind: 'LimitRange', metadata, spec },
    });
    const name = await waitFor('the limit holds', async () => {
      const session = await stage.newSession();
      const { status } = await waitFor('a status', async () => {
        const now = await api.find<Session>('sessions', session);
        return now?.status?.phase === 'Running' || now?.status?.phase === 'Failed' ? now : undefined;
      });
      if (status?.phase === 'Failed') return session;
      await api.remove('sessions', session);
      await api.untilGone('pods', session);
      return undefined;
    });
    expect((await api.untilReason(name, 'PodRefused')).ready.message).toContain('maximum memory usage per Container');
    await cluster.kubernetes.request({ method: 'DELETE', path: `${path}/${metadata.name}` });
    await api.untilPhase(name, 'Running');
  });
});

describe.skipIf(another === undefined)('a namespace that is being deleted', () => {
  let stage: Stage;
  beforeAll(async () => {
    stage = await openStage(another as Cluster);
  });
  afterAll(() => stage?.close());

  test('is the reason of a session that needs a pod', async () => {
    const { kubernetes, namespace } = another as Cluster;
    const name = await stage.newSession({ desiredState: 'Suspended' });
    await stage.api.untilPhase(name, 'Suspended');
    // No controller empties it here, so it stays.
    await kubernetes.request({ method: 'DELETE', path: `/api/v1/namespaces/${namespace}` });
    await stage.api.patch('sessions', name, { spec: { desiredState: 'Running' } });
    const { session, ready } = await stage.api.untilReason(name, 'PodRefused');
    expect(session.status?.phase).toBe('Failed');
    expect(ready.message).toContain('is being terminated');
  });
});
