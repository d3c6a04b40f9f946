import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Operator } from '../../operator/start.ts';
import type { EventEnvelope } from '../../src/agents/contract/events.ts';
import type { Session } from '../../src/sandbox/resources/session.ts';
import { startServer } from '../cli/server.ts';
import type { CliServer } from '../cli/server.ts';
import { buildApi, textOf } from '../support/chat.ts';
import type { Chat } from '../support/chat.ts';
import { openCluster, waitFor } from '../support/cluster/cluster.ts';
import type { Cluster } from '../support/cluster/cluster.ts';
import { startNode } from '../support/cluster/kubelet.ts';
import type { Node } from '../support/cluster/kubelet.ts';
import { buildAccess, openOperator } from '../support/cluster/operator.ts';
import { openRuntime } from '../support/cluster/runtime.ts';
import { findService } from '../support/find-service.ts';
import { startKubernetes } from '../support/services/kubernetes.ts';
import type { ControlPlane } from '../support/services/kubernetes.ts';

const LEASE = { durationMs: 4000, deadlineMs: 2500, retryMs: 100 };
const SLOW_MS = 120_000;

// Its own control plane, because other tests need theirs; a given one must not be killed.
const isGiven = (process.env['CAPSTAN_TEST_KUBECONFIG'] ?? '') !== '';
const plane = isGiven ? undefined : await startKubernetes();
if (plane === undefined) await findService('kubernetes');

/** kube-apiserver is killed with SIGKILL and restarted on the same etcd, under sessions in every state. */
describe.skipIf(plane?.apiserver === undefined)('while kube-apiserver is killed and started again', () => {
  const apiserver = plane?.apiserver as NonNullable<ControlPlane['apiserver']>;
  let cluster: Cluster;
  let node: Node;
  let operators: Operator[];
  let runtime: ReturnType<typeof openRuntime>;
  let server: CliServer;
  let access: ReturnType<typeof buildAccess>;
  let api: ReturnType<typeof buildApi>;
  let agent: Chat['agent'];
  const chats: Chat[] = [];

  beforeAll(async () => {
    cluster = await openCluster(plane?.url ?? '');
    access = buildAccess(cluster);
    runtime = openRuntime();
    node = startNode(cluster.kubernetes, cluster.namespace, runtime);
    operators = await Promise.all([openOperator(cluster, { lease: LEASE }), openOperator(cluster, { lease: LEASE })]);
    server = await startServer({
      CAPSTAN_SANDBOX: 'kubernetes',
      CAPSTAN_KUBERNETES_NAMESPACE: cluster.namespace,
      KUBECONFIG: cluster.kubeconfig,
    });
    api = buildApi(server.url, readFileSync(join(server.dataDir, 'api-key'), 'utf8').trim(), 'script/demo');
    agent = await api.createAgent();
  });
  afterAll(async () => {
    for (const chat of chats) chat.close();
    await server?.close();
    await Promise.all((operators ?? []).map((operator) => operator.close()));
    await node?.close();
    runtime?.close();
    await cluster?.kubernetes.close();
    await plane?.stop();
  });

  const open = async (subjectId: string): Promise<Chat> => {
    const chat = await api.openChat(agent, { subjectId, yoloMode: true });
    chats.push(chat);
    return chat;
  };
  const nameOf = ({ id }: Chat): string => id.replaceAll('_', '-');
  const uidOf = async (chat: Chat) => (await access.find<Session>('sessions', nameOf(chat)))?.status?.podUid;
  const isResult = ({ type }: EventEnvelope) => type === 'agent.tool_result';
  const readResults = async (chat: Chat): Promise<string[]> =>
    (await chat.list()).filter(isResult).map((event) => (JSON.parse(textOf(event)) as { output: string }).output);
  const untilIdle = (chat: Chat) =>
    waitFor('the turn ends', async () => (await chat.list()).at(-1)?.type === 'session.status_idle', SLOW_MS);
  const untilResults = (chat: Chat, count: number) =>
    waitFor('the results', async () => (await readResults(chat)).length >= count, SLOW_MS);

  test('running commands end, running sandboxes accept new ones, and calls without a pod wait for it', async () => {
    const [long, quick, fresh] = [await open('ada'), await open('bo'), await open('cy')];
    for (const chat of [long, quick]) await chat.run('run: echo one > state; cat state');
    const before = [await uidOf(long), await uidOf(quick)];
    await long.prompt('run: touch begun; while [ ! -e end ]; do sleep 0.1; done; echo through');
    await waitFor('the command runs', async () => (await long.list()).at(-1)?.type === 'agent.tool_use');

    await apiserver.kill();
    await waitFor('nobody leads', () => operators.every((operator) => !operator.isLeading()));
    await quick.prompt('run: echo two >> state; cat state');
    await untilResults(quick, 2);
    await fresh.prompt('run: echo three > state; cat state');
    await waitFor('the call is made', async () => (await fresh.list()).some(({ type }) => type === 'agent.tool_use'));
    await fresh.prompt('run: cat state');
    expect(await readResults(fresh)).toEqual([]);
    await apiserver.start();

    await fresh.next('session.status_idle');
    await untilResults(fresh, 2);
    const path = `/v1/agents/${agent.id}/users/ada/files/content`;
    await waitFor('the file is written', async () => {
      const body = { path: 'end', content: '' };
      return (await api.call('PUT', path, body)).status < 300;
    });
    for (const chat of [long, quick, fresh]) await untilIdle(chat);
    expect(await readResults(long)).toEqual(['one\n', 'through\n']);
    expect(await readResults(quick)).toEqual(['one\n', 'one\ntwo\n']);
    expect(await readResults(fresh)).toEqual(['three\n', 'three\n']);
    expect([await uidOf(long), await uidOf(quick)]).toEqual(before);
    expect(operators.filter((operator) => operator.isLeading())).toHaveLength(1);
  });

  test('sessions that begin and end meanwhile are all brought to what they ask for, one pod each', async () => {
    for (let round = 0; round < 3; round += 1) {
      const ended = await open(`ended-${round}`);
      await ended.run('run: echo made');
      const begun = await Promise.all([0, 1, 2].map((number) => open(`begun-${round}-${number}`)));
      // At a moment with writes in progress.
      const prompts = Promise.all(begun.map((chat, number) => chat.prompt(`run: echo ${round}${number}`)));
      await apiserver.kill();
      await prompts;
      // It cannot be ended now, and the caller is told to retry.
      expect((await api.call('DELETE', `/v1/sessions/${ended.id}`)).status).toBe(502);
      await apiserver.start();
      for (const [number, chat] of begun.entries()) {
        await untilResults(chat, 1);
        expect(await readResults(chat)).toEqual([`${round}${number}\n`]);
      }
      expect((await api.call('DELETE', `/v1/sessions/${ended.id}`)).status).toBe(200);
      await access.untilGone('pods', nameOf(ended));
      for (const chat of begun) {
        const { status } = await access.untilPhase(nameOf(chat), 'Running');
        expect(
          node.pods.find('session', (await access.find<Session>('sessions', nameOf(chat)))?.metadata.uid ?? ''),
        ).toEqual([expect.objectContaining({ metadata: expect.objectContaining({ uid: status?.podUid }) })]);
      }
    }
    expect(node.violations).toEqual([]);
  });
});
