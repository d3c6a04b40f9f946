import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Operator } from '../../operator/start.ts';
import { openKubernetesSandboxes } from '../../src/sandbox/kubernetes/kubernetes.ts';
import type { KubernetesSandboxOptions } from '../../src/sandbox/kubernetes/kubernetes.ts';
import { SandboxError } from '../../src/sandbox/sandbox.ts';
import { buildVolumeName } from '../../src/sandbox/kubernetes/names.ts';
import type { Sandboxes } from '../../src/sandbox/sandbox.ts';
import { buildSigner } from '../../src/sandbox/executor/token.ts';
import type { Session } from '../../src/sandbox/resources/session.ts';
import { openLog } from '../../src/platform/log.ts';
import { findCluster, newName, waitFor } from '../support/cluster/cluster.ts';
import type { Cluster } from '../support/cluster/cluster.ts';
import { startNode } from '../support/cluster/kubelet.ts';
import type { Node } from '../support/cluster/kubelet.ts';
import { buildAccess, openOperator } from '../support/cluster/operator.ts';
import { openRuntime } from '../support/cluster/runtime.ts';
import { NEVER, newTarget } from '../support/sandbox.ts';

const found = await findCluster();
const IDLE_MS = 8000;
const KEY = Buffer.alloc(32, 3).toString('base64');

async function openAdapter(cluster: Cluster, options: Partial<KubernetesSandboxOptions> = {}): Promise<Sandboxes> {
  const log = openLog({ level: 'silent', pretty: false });
  const { kubernetes, namespace } = cluster;
  return openKubernetesSandboxes({ kubernetes, namespace, signer: buildSigner(KEY), log, ...options });
}

describe.skipIf(found === undefined)('on Kubernetes', () => {
  let cluster: Cluster;
  let node: Node;
  let operator: Operator;
  let runtime: ReturnType<typeof openRuntime>;
  let api: ReturnType<typeof buildAccess>;

  beforeAll(async () => {
    cluster = found as Cluster;
    runtime = openRuntime();
    node = startNode(cluster.kubernetes, cluster.namespace, runtime);
    operator = await openOperator(cluster, { idleMs: IDLE_MS, pollMs: 300 });
    api = buildAccess(cluster);
  });
  afterAll(async () => {
    await operator?.close();
    await node?.close();
    runtime?.close();
    await cluster?.kubernetes.close();
  });

  describe('the adapter', () => {
    let sandboxes: Sandboxes;
    beforeAll(async () => {
      sandboxes = await openAdapter(cluster, { touchMs: 500 });
    });
    afterAll(() => sandboxes?.close());

    const newSubject = () => newTarget({ sessionId: `ses_${newName()}`, subjectId: newName() });
    const nameOf = (sessionId: string) => sessionId.replaceAll('_', '-');
    const run = async (target: ReturnType<typeof newTarget>, command: string) =>
      (await sandboxes.acquire(target, NEVER)).run({ callId: newName(), command, timeoutMs: 20_000 }, NEVER);

    test('a session with a pod is among the sandboxes, one that was only announced is not', async () => {
      const [used, announced] = [newSubject(), newSubject()];
      await sandboxes.announce(announced);
      await run(used, 'true');
      const find = async ({ organizationId, sessionId }: typeof used) =>
        (await sandboxes.list(organizationId)).find((sandbox) => sandbox.sessionId === sessionId);
      await expect.poll(async () => (await find(used))?.phase, { timeout: 30_000 }).toBe('running');
      expect(await find(used)).toMatchObject({ subjectId: used.subjectId, pod: expect.any(String) as string });
      await api.untilReason(nameOf(announced.sessionId), 'NotStarted');
      expect(await find(announced)).toBeUndefined();
    });

    test('a call reaches a pod that listens before the kubelet has probed it', async () => {
      const target = newSubject();
      node.behave('unprobed');
      try {
        expect((await run(target, 'echo here')).output).toBe('here\n');
      } finally {
        node.behave('run');
      }
      expect((await api.untilPhase(nameOf(target.sessionId), 'Starting')).status?.podIP).toBeDefined();
    });

    test('an announced session is listed without a pod; preparing it starts one that the first call takes', async () => {
      const target = newSubject();
      const own = await openAdapter(cluster, { announceMs: 60_000 });
      await own.announce(target);
      const name = nameOf(target.sessionId);
      const { session } = await api.untilReason(name, 'NotStarted');
      expect(session.status).toMatchObject({ phase: 'Suspended' });
      await own.announce(target);
      expect((await api.find<Session>('sessions', name))?.metadata.generation).toBe(1);
      await own.prepare(target);
      const running = await api.untilPhase(name, 'Running');
      const taken = await own.acquire(target, NEVER);
      const call = { callId: newName(), command: 'echo here', timeoutMs: 20_000 };
      expect((await taken.run(call, NEVER)).output).toBe('here\n');
      const after = await api.find<Session>('sessions', name);
      expect(after?.status?.podUid).toBe(running.status?.podUid);
      // The call found the session already requested, and wrote nothing.
      expect(after?.metadata.generation).toBe(2);
      await own.close();
    });

    test('a pod that dies fails its call; the next one gets another pod and the same files', async () => {
      const target = newSubject();
      await run(target, 'echo kept > file');
      const before = await api.untilPhase(nameOf(target.sessionId), 'Running');
      const call = run(target, 'sleep 300').then(
        () => undefined,
        (error: unknown) => error,
      );
      const podUid = before.status?.podUid ?? '';
      runtime.kill(podUid);
      expect(await call).toBeInstanceOf(SandboxError);
      await node.report(before.status?.podName ?? '', { phase: 'Failed', reason: 'Evicted', message: 'by the test' });
      expect((await run(target, 'cat file')).output).toBe('kept\n');
      const after = await api.untilPhase(nameOf(target.sessionId), 'Running');
      expect(after.status?.podUid).not.toBe(podUid);
    });

    test('who is late to tell of use, after somebody with a later clock, is served all the same', async () => {
      const target = newSubject();
      await run(target, 'true');
      // From now on it sees no events.
      const watch: Cluster['kubernetes']['watch'] = async function* (_path, _query, signal) {
        await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
        yield* [];
      };
      const own = await openAdapter({ ...cluster, kubernetes: { ...cluster.kubernetes, watch } });
      const lastActivityAt = new Date(Date.now() + 60_000).toISOString();
      await api.patch('sessions', nameOf(target.sessionId), { spec: { lastActivityAt } });
      const taken = await own.acquire(target, NEVER);
      const call = { callId: newName(), command: 'echo served', timeoutMs: 20_000 };
      expect((await taken.run(call, NEVER)).output).toBe('served\n');
      await own.close();
    });

    test('a sandbox out of use is suspended, and the next call brings it back', async () => {
      const target = newSubject();
      await run(target, 'echo kept > file');
      await api.untilPhase(nameOf(target.sessionId), 'Suspended');
      expect((await run(target, 'cat file')).output).toBe('kept\n');
    });

    test('a sandbox that starts for longer than it may be idle is not suspended before', async () => {
      node.behave('wait');
      const target = newSubject();
      const answer = run(target, 'echo late');
      const readActivity = async () =>
        Date.parse((await api.find<Session>('sessions', nameOf(target.sessionId)))?.spec.lastActivityAt ?? '');
      const begun = await waitFor('the start', async () => (await readActivity()) || undefined);
      await waitFor('the start outlasts the idle time', async () => (await readActivity()) > begun + IDLE_MS);
      node.behave('run');
      await api.remove('pods', nameOf(target.sessionId));
      expect((await answer).output).toBe('late\n');
    });

    test('a sandbox is not suspended under a command that runs, nor over a background process', async () => {
      const [long, background, idle] = [newSubject(), newSubject(), newSubject()];
      await run(idle, 'true');
      const sandbox = await sandboxes.acquire(background, NEVER);
      const start = { pty: false, notifyOnComplete: false, watchPatterns: [] };
      await sandbox.startProcess({ ...start, callId: newName(), command: 'sleep 300' });
      const call = run(long, 'while [ ! -e end ]; do sleep 0.1; done; echo done');
      await waitFor('the command has begun', () => api.find<Session>('sessions', nameOf(long.sessionId)));
      await api.untilPhase(nameOf(idle.sessionId), 'Suspended');
      const files = await sandboxes.openVolume(long, { create: false });
      for (const { sessionId } of [long, background]) {
        expect((await api.find<Session>('sessions', nameOf(sessionId)))?.status?.phase).toBe('Running');
      }
      const none = (async function* () {
        yield new Uint8Array();
      })();
      await files?.write('end', none, { protect: [], maxBytes: 10, overwrite: true, createParents: true });
      expect((await call).output).toBe('done\n');
    });

    test('warm-up makes a standby pod that serves the files and is adopted by the next session', async () => {
      const target = newSubject();
      expect(await sandboxes.describeVolume(target)).toBeUndefined();
      expect(await sandboxes.openVolume(target, { create: false })).toBeUndefined();
      await sandboxes.warm(target);
      const files = await waitFor('files', () => sandboxes.openVolume(target, { create: true }).catch(() => undefined));
      await files.makeDirectory('made', { protect: [], createParents: true });
      const standby = node.pods.get(`${buildVolumeName(target)}-standby-0`);
      expect((await run(target, 'ls')).output).toBe('made\n');
      const session = await api.untilPhase(nameOf(target.sessionId), 'Running');
      expect(session.status?.podUid).toBe(standby?.metadata.uid);
      await waitFor('ready', async () => (await sandboxes.describeVolume(target))?.status === 'ready');
      expect(await sandboxes.describeVolume(target)).toMatchObject({ sizeBytes: 512 * 2 ** 20 });
    });

    test('without an operator a call fails with a reason, after its time', async () => {
      const name = `other-${newName()}`;
      const body = { apiVersion: 'v1', kind: 'Namespace', metadata: { name } };
      await cluster.kubernetes.request({ method: 'POST', path: '/api/v1/namespaces', body });
      const alone = await openAdapter({ ...cluster, namespace: name }, { startMs: 300, volumeWaitMs: 300 });
      await expect(alone.acquire(newSubject(), NEVER)).rejects.toThrow('no operator has handled it');
      await expect(alone.openVolume(newSubject(), { create: true })).rejects.toThrow('still warming up');
      await alone.close();
    });
  });
});
