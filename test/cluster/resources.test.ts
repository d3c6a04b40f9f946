import { beforeAll, describe, expect, test } from 'vitest';
import type { Kubernetes } from '../../src/platform/kubernetes/client.ts';
import { buildPath } from '../../src/platform/kubernetes/paths.ts';
import { buildSession, buildVolume, findCluster } from '../support/cluster/cluster.ts';
import type { Cluster } from '../support/cluster/cluster.ts';
import { runKubectl } from '../support/cluster/kubectl.ts';

const found = await findCluster();

describe.skipIf(found === undefined)('custom resources on an API server', () => {
  let cluster: Cluster;
  let kubernetes: Kubernetes;
  beforeAll(() => {
    cluster = found as Cluster;
    ({ kubernetes } = cluster);
    return () => kubernetes.close();
  });

  const patchSpec = (plural: 'sessions' | 'volumes', name: string, spec: object) =>
    kubernetes.request({ method: 'PATCH', path: buildPath(cluster.namespace, plural, name), body: { spec } });

  test('a session is accepted, and omitted fields have defaults', async () => {
    const session = buildSession(cluster.namespace);
    const { desiredState: _, ...spec } = session.spec;
    const made = await cluster.create({ ...session, spec });
    expect((made as typeof session).spec.desiredState).toBe('Suspended');
  });

  test('a volume is taken, and starts with 512 MiB towards 4 GiB', async () => {
    const made = await cluster.create(buildVolume(cluster.namespace));
    expect(made.spec).toMatchObject({ initialSize: '512Mi', maxSize: '4Gi' });
  });

  test.each([
    ['a name that is not the identifier', { metadata: { name: 'other' } }, /name must be spec.sessionId/],
    ['an unknown state', { spec: { desiredState: 'Paused' } }, /desiredState/],
    ['a subject with control characters', { spec: { subjectId: 'a\u0007b' } }, /subjectId/],
    ['an empty subject', { spec: { subjectId: '' } }, /subjectId/],
    ['a subject of 257 characters', { spec: { subjectId: 'x'.repeat(257) } }, /subjectId/],
    ['an identifier of capitals', { spec: { agentId: 'AGT' } }, /agentId/],
    ['a volume that is no name', { spec: { volumeName: 'a/b' } }, /volumeName/],
    ['a time that is none', { spec: { lastActivityAt: 'yesterday' } }, /lastActivityAt/],
  ])('a session with %s is refused', async (_, change, message) => {
    const session = buildSession(cluster.namespace);
    const metadata = { ...session.metadata, ...('metadata' in change ? change.metadata : {}) };
    const spec = { ...session.spec, ...('spec' in change ? change.spec : {}) };
    await expect(cluster.create({ ...session, metadata, spec } as typeof session)).rejects.toThrow(message);
  });

  test.each(['sessionId', 'organizationId', 'agentId', 'subjectId', 'volumeName'])(
    'a session keeps its %s',
    async (field) => {
      const { metadata } = await cluster.create(buildSession(cluster.namespace));
      await expect(patchSpec('sessions', metadata.name, { [field]: 'other' })).rejects.toThrow(
        field === 'sessionId' ? /sessionId/ : `${field} cannot be changed`,
      );
    },
  );

  test('the time of a session moves forward only', async () => {
    const { metadata } = await cluster.create(buildSession(cluster.namespace));
    await patchSpec('sessions', metadata.name, { lastActivityAt: '2026-01-02T00:00:00Z' });
    await patchSpec('sessions', metadata.name, { lastActivityAt: '2026-01-02T00:00:00.500Z' });
    for (const lastActivityAt of ['2026-01-01T23:30:00Z', null]) {
      await expect(patchSpec('sessions', metadata.name, { lastActivityAt })).rejects.toThrow('cannot go back');
    }
  });

  test('a time that a wrong clock has set far ahead can be corrected', async () => {
    const { metadata } = await cluster.create(
      buildSession(cluster.namespace, { lastActivityAt: '2999-01-01T00:00:00Z' }),
    );
    const lastActivityAt = '2026-01-02T00:00:00Z';
    expect(await patchSpec('sessions', metadata.name, { lastActivityAt })).toMatchObject({ spec: { lastActivityAt } });
  });

  test.each([
    ['of 64 characters', 'v'.repeat(64)],
    ['with dots', 'vol.ada'],
  ])('a volume with a name %s is refused, for its claim could not carry it', async (_, name) => {
    const volume = buildVolume(cluster.namespace);
    const named = { ...volume, metadata: { ...volume.metadata, name } };
    await expect(cluster.create(named)).rejects.toThrow('at most 63 characters and no dots');
  });

  test.each([
    ['a key that is none', { publicKey: 'short' }, /publicKey/],
    ['a size that is none', { initialSize: '1 GB' }, /initialSize/],
    ['less room than it starts with', { initialSize: '2Gi', maxSize: '1Gi' }, /maxSize must be at least initialSize/],
  ])('a volume with %s is refused', async (_, spec, message) => {
    await expect(cluster.create(buildVolume(cluster.namespace, spec))).rejects.toThrow(message);
  });

  test.each([
    ['organizationId', 'other', 'organizationId cannot be changed'],
    ['agentId', 'other', 'agentId cannot be changed'],
    ['subjectId', 'other', 'subjectId cannot be changed'],
    ['initialSize', '256Mi', 'initialSize cannot be changed'],
    ['maxSize', '2Gi', 'maxSize cannot shrink'],
  ])('a volume keeps its %s', async (field, value, message) => {
    const { metadata } = await cluster.create(buildVolume(cluster.namespace));
    await expect(patchSpec('volumes', metadata.name, { [field]: value })).rejects.toThrow(message);
  });

  test('a volume may get more room and another key', async () => {
    const { metadata } = await cluster.create(buildVolume(cluster.namespace));
    const wider = { maxSize: '8Gi', publicKey: 'B'.repeat(43) };
    expect(await patchSpec('volumes', metadata.name, wider)).toMatchObject({ spec: wider });
  });

  test('status is written through its subresource only', async () => {
    const { metadata } = await cluster.create(buildSession(cluster.namespace));
    const body = { status: { phase: 'Running' } };
    const path = (subresource?: 'status') => buildPath(cluster.namespace, 'sessions', metadata.name, subresource);
    type Answer = { status?: { phase?: string } };
    const main = await kubernetes.request<Answer>({ method: 'PATCH', path: path(), body });
    expect(main.status).toBeUndefined();
    const status = await kubernetes.request<Answer>({ method: 'PATCH', path: path('status'), body });
    expect(status.status).toEqual({ phase: 'Running' });
    const bad = { method: 'PATCH' as const, path: path('status'), body: { status: { phase: 'Happy' } } };
    await expect(kubernetes.request(bad)).rejects.toThrow(/phase/);
  });

  test('kubectl shows both, by their short names too', async () => {
    const session = await cluster.create(buildSession(cluster.namespace));
    const volume = await cluster.create(buildVolume(cluster.namespace));
    const lastTransitionTime = new Date().toISOString();
    const ready = { type: 'Ready', status: 'True', reason: 'PodReady', message: 'It takes calls.', lastTransitionTime };
    await kubernetes.request({
      method: 'PATCH',
      path: buildPath(cluster.namespace, 'sessions', session.metadata.name, 'status'),
      body: { status: { phase: 'Running', podName: 'pod-1', nodeName: 'node-1', conditions: [ready] } },
    });
    await kubernetes.request({
      method: 'PATCH',
      path: buildPath(cluster.namespace, 'volumes', volume.metadata.name, 'status'),
      body: { status: { phase: 'Ready', podName: 'pod-2', size: '512Mi', used: '3Mi' } },
    });
    const get = async (what: string, name: string) =>
      (await runKubectl(cluster, ['get', what, name])).split('\n').map((line) => line.trim().split(/\s+/));
    const sessions = await get('sess', session.metadata.name);
    expect(sessions[0]).toEqual(['NAME', 'AGENT', 'SUBJECT', 'PHASE', 'STATUS', 'POD', 'NODE', 'AGE']);
    expect(sessions[1]?.slice(0, -1)).toEqual([
      session.metadata.name,
      'agt_1',
      'ada',
      'Running',
      'PodReady',
      'pod-1',
      'node-1',
    ]);
    const volumes = await get('cvol', volume.metadata.name);
    expect(volumes[0]).toEqual(['NAME', 'AGENT', 'SUBJECT', 'PHASE', 'SIZE', 'USED', 'POD', 'AGE']);
    expect(volumes[1]?.slice(0, -1)).toEqual([volume.metadata.name, 'agt_1', 'ada', 'Ready', '512Mi', '3Mi', 'pod-2']);
    expect(await runKubectl(cluster, ['get', 'sessions.capstan.dev', '-o', 'name'])).toContain(session.metadata.name);
    const selector = ['get', 'cvol', '--field-selector', 'spec.subjectId=ada,spec.agentId=agt_1', '-o', 'name'];
    expect(await runKubectl(cluster, selector)).toContain(volume.metadata.name);
    expect(await runKubectl(cluster, ['get', 'cvol', '--field-selector', 'status.phase=Failed', '-o', 'name'])).toBe(
      '',
    );
    expect(await runKubectl(cluster, ['get', 'sess', '--field-selector', 'spec.subjectId=bob', '-o', 'name'])).toBe('');
    expect(await runKubectl(cluster, ['get', 'sess', '-o', 'wide'])).toMatch(
      /AGE +ORGANIZATION +VOLUME +LAST ACTIVITY/,
    );
    expect(await runKubectl(cluster, ['explain', 'session.spec.lastActivityAt'])).toContain('idle timeout');
  });

  test('the examples of the documentation are taken', async () => {
    const applied = await runKubectl(cluster, ['apply', '-f', 'docs/examples/kubernetes']);
    expect(applied.trim().split('\n').sort()).toEqual([
      'session.capstan.dev/ses-01k3x6m8q2v9b4n7c5d1f0g8ha created',
      'volume.capstan.dev/vol-ada created',
    ]);
  });
});
