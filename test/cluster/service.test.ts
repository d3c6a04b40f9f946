import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Operator } from '../../operator/start.ts';
import { startServer } from '../cli/server.ts';
import type { CliServer } from '../cli/server.ts';
import { API_VERSION } from '../../src/platform/kubernetes/resource.ts';
import { buildListPath } from '../../src/platform/kubernetes/paths.ts';
import type { SandboxClass } from '../../src/sandbox/resources/sandbox-class.ts';
import type { Session } from '../../src/sandbox/resources/session.ts';
import { buildApi } from '../support/chat.ts';
import { findCluster, waitFor } from '../support/cluster/cluster.ts';
import type { Cluster } from '../support/cluster/cluster.ts';
import { startNode } from '../support/cluster/kubelet.ts';
import type { Node } from '../support/cluster/kubelet.ts';
import { runKubectl } from '../support/cluster/kubectl.ts';
import { buildAccess, openOperator } from '../support/cluster/operator.ts';
import { openRuntime } from '../support/cluster/runtime.ts';

const found = await findCluster();
/** of agents that name none */
const CLASS = 'standard';

describe.skipIf(found === undefined)('the service with CAPSTAN_SANDBOX=kubernetes', () => {
  let cluster: Cluster;
  let node: Node;
  let operator: Operator;
  let runtime: ReturnType<typeof openRuntime>;
  let server: CliServer;
  const readKey = (): string => readFileSync(join(server.dataDir, 'api-key'), 'utf8').trim();

  beforeAll(async () => {
    cluster = found as Cluster;
    runtime = openRuntime();
    node = startNode(cluster.kubernetes, cluster.namespace, runtime);
    const body = { apiVersion: API_VERSION, kind: 'SandboxClass', metadata: { name: CLASS }, spec: {} };
    await cluster.kubernetes.request({
      method: 'POST',
      path: buildListPath(cluster.namespace, 'sandboxclasses'),
      body,
    });
    operator = await openOperator(cluster);
    server = await startServer({
      CAPSTAN_SANDBOX: 'kubernetes',
      CAPSTAN_KUBERNETES_NAMESPACE: cluster.namespace,
      CAPSTAN_SANDBOX_CLASS: CLASS,
      KUBECONFIG: cluster.kubeconfig,
    });
  });
  afterAll(async () => {
    await server?.close();
    await operator?.close();
    await node?.close();
    runtime?.close();
    await cluster?.kubernetes.close();
  });

  test('a turn runs its tools in a pod, kubectl shows it, its files are served, and a deletion ends it', async () => {
    const key = readKey();
    const api = buildApi(server.url, key, 'script/demo');
    const agent = await api.createAgent();
    const chat = await api.openChat(agent, { subjectId: 'ada', yoloMode: true });
    const shown = async (columns: number) =>
      (await runKubectl(cluster, ['get', 'sessions.capstan.dev', name, '--no-headers']))
        .trim()
        .split(/\s+/)
        .slice(0, columns);
    const name = chat.id.replaceAll('_', '-');
    await expect.poll(() => shown(5)).toEqual([name, agent.id, 'ada', 'Suspended', 'NotStarted']);
    // No tool is called, so nobody waits for the pod that starts meanwhile.
    await chat.run('say hello');
    await expect.poll(() => shown(5), { timeout: 60_000 }).toEqual([name, agent.id, 'ada', 'Running', 'PodReady']);
    await chat.run('run: echo made in a pod > made; cat made');
    const result = (await chat.list()).find(({ type }) => type === 'agent.tool_result');
    expect(JSON.stringify(result)).toContain('made in a pod');
    expect((await shown(8)).slice(0, 7)).toEqual([name, agent.id, 'ada', 'Running', 'PodReady', name, 'node-1']);
    const path = `${server.url}/v1/agents/${agent.id}/users/ada/files`;
    const files = await fetch(path, { headers: { 'x-api-key': key } });
    expect(JSON.stringify(await files.json())).toContain('"made"');
    chat.close();
    expect((await api.call('DELETE', `/v1/sessions/${chat.id}`)).status).toBe(200);
    await buildAccess(cluster).untilGone('pods', name);
  });

  test('the first turn of a new subject runs in a pod of the warm pool, and the next session has its files', async () => {
    const access = buildAccess(cluster);
    await access.patch('sandboxclasses', CLASS, { spec: { warm: { target: 1 } } });
    await waitFor('a warm pod', async () => {
      const { status } = (await access.find<SandboxClass>('sandboxclasses', CLASS)) ?? {};
      return status?.warm?.ready === 1;
    });
    const api = buildApi(server.url, readKey(), 'script/demo');
    const agent = await api.createAgent();
    const turn = async (command: string) => {
      const chat = await api.openChat(agent, { subjectId: 'hopper', yoloMode: true });
      await chat.run(`run: ${command}`);
      const result = (await chat.list()).find(({ type }) => type === 'agent.tool_result');
      chat.close();
      const session = await access.find<Session>('sessions', chat.id.replaceAll('_', '-'));
      return { output: JSON.stringify(result), pod: session?.status?.podName, name: session?.metadata.name };
    };
    const first = await turn('echo kept > note; cat note');
    expect(first).toMatchObject({
      output: expect.stringContaining('kept') as string,
      pod: expect.stringMatching(/^warm-/),
    });
    const second = await turn('cat note');
    expect(second.output).toContain('kept');
    expect(second.pod).not.toBe(first.pod);
    await access.patch('sandboxclasses', CLASS, { spec: { warm: null } });
  });

  test('a file call is answered 429 with Retry-After while the quota of pods is used up', async () => {
    const agent = await buildApi(server.url, readKey(), 'script/demo').createAgent();
    const hard = { pods: '0' };
    const body = { apiVersion: 'v1', kind: 'ResourceQuota', metadata: { name: 'full' }, spec: { hard } };
    const path = `/api/v1/namespaces/${cluster.namespace}/resourcequotas`;
    await cluster.kubernetes.request({ method: 'POST', path, body });
    // Its use is counted by a controller, which there is none of here.
    const counted = { status: { hard, used: hard } };
    await cluster.kubernetes.request({ method: 'PATCH', path: `${path}/full/status`, body: counted });
    const url = `${server.url}/v1/agents/${agent.id}/users`;
    const write = (subject: string) =>
      fetch(`${url}/${subject}/files/content?path=note`, {
        method: 'PUT',
        headers: { 'x-api-key': readKey(), 'content-type': 'application/octet-stream' },
        body: 'text',
      });
    // The API server notices a new quota a moment later: until then a subject may still get a pod.
    let subject = 0;
    const refused = await waitFor('a refusal', async () => {
      subject += 1;
      const answer = await write(`grace-${subject}`);
      return answer.ok ? undefined : answer;
    });
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '10']);
    expect(await refused.json()).toEqual({ error: 'rate_limited', message: expect.stringContaining('exceeded quota') });
    await cluster.kubernetes.request({ method: 'DELETE', path: `${path}/full` });
    await waitFor('the files are served', async () => (await write(`grace-${subject}`)).ok);
  });
});
