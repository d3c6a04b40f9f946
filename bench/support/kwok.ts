import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Agent, request } from 'undici';
import { fileURLToPath } from 'node:url';
import { openKubernetes } from '../../src/platform/kubernetes/client.ts';
import type { Kubernetes } from '../../src/platform/kubernetes/client.ts';
import { startInformer } from '../../src/platform/kubernetes/informer.ts';
import type { Informer } from '../../src/platform/kubernetes/informer.ts';
import { buildListPath } from '../../src/platform/kubernetes/paths.ts';
import { stripPod } from '../../src/platform/kubernetes/types.ts';
import type { Pod } from '../../src/platform/kubernetes/types.ts';
import { openLog } from '../../src/platform/log.ts';
import {
  bindPod,
  readDefinitions,
  readKubeconfig,
  startStorage,
  tolerate,
} from '../../test/support/cluster/stand-ins.ts';
import { startKubernetes } from '../../test/support/services/kubernetes.ts';

const KWOK = join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'capstan/kwok/v0.8.0/kwok');
const STAGES = fileURLToPath(new URL('kwok-stages.yaml', import.meta.url));
const log = openLog({ level: 'warn', pretty: false });

/** A control plane whose nodes kwok simulates: pods become ready, and nothing runs. */
export type FakeCluster = {
  kubernetes: Kubernetes;
  server: string;
  /** service account files of a pod, by file name */
  account: Record<'token' | 'ca.crt' | 'namespace', string>;
  namespace: string;
  pods: Informer<Pod>;
  /** writes that the API server has answered, by verb and resource, without leases and events */
  countWrites(): Promise<number>;
  close(): Promise<void>;
};

/**
 * Binds pods to nodes in turn and claims to storage, at once: the scheduler and the storage class are not measured
 * here. Undefined if a program is missing.
 */
export async function startFakeCluster(nodes: number): Promise<FakeCluster | undefined> {
  if (!existsSync(KWOK)) return undefined;
  // Without this flag kwok lists by watches, which need a newer etcd than some systems have.
  const service = await startKubernetes(['--feature-gates=WatchList=false']);
  if (service === undefined) return undefined;
  const kubernetes = await openKubernetes({ kubeconfig: service.url });
  const namespace = 'bench';
  const post = (path: string, body: object) => kubernetes.request({ method: 'POST', path, body });
  for (const definition of readDefinitions()) {
    await post('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', definition);
  }
  await post('/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } });
  for (let number = 0; number < nodes; number += 1) {
    const metadata = { name: `node-${number}`, annotations: { 'kwok.x-k8s.io/node': 'fake' } };
    await post('/api/v1/nodes', { apiVersion: 'v1', kind: 'Node', metadata });
    const conditions = [{ type: 'Ready', status: 'True', reason: 'Fake' }];
    const path = `/api/v1/nodes/${metadata.name}/status`;
    await kubernetes.request({ method: 'PATCH', path, body: { status: { conditions } } });
  }
  const kwok = startKwok(service.url);
  const onError = (error: unknown) => log.warn({ error: String(error) }, 'the cluster');
  let turn = 0;
  const bound = new Set<string>();
  const pods = startInformer<Pod>({ kubernetes, path: buildListPath(namespace, 'pods'), strip: stripPod, log });
  pods.onChange((name, pod) => {
    if (pod === undefined || pod.spec.nodeName !== undefined || bound.has(pod.metadata.uid)) return;
    bound.add(pod.metadata.uid);
    turn += 1;
    tolerate(bindPod(kubernetes, namespace, name, `node-${turn % nodes}`), onError);
  });
  const claims = startStorage({ kubernetes, namespace, log, onError });
  const { server, token, ca } = readKubeconfig(service.url);
  return {
    kubernetes,
    server,
    account: { token, 'ca.crt': ca, namespace },
    namespace,
    pods,
    countWrites: () => countWrites(server, token, ca),
    async close() {
      await Promise.all([pods.close(), claims.close()]);
      kwok.kill('SIGKILL');
      await kubernetes.close();
      await service.stop();
    },
  };
}

/** Polls every 50 ms until the condition holds. Throws with `what` after the timeout. */
export async function until(what: string, holds: () => Promise<boolean> | boolean, ms = 600_000): Promise<void> {
  const deadline = Date.now() + ms;
  while (!(await holds())) {
    if (Date.now() > deadline) throw new Error(`waited in vain: ${what}`);
    await sleep(50);
  }
}

function startKwok(kubeconfig: string): ChildProcess {
  const args = ['--kubeconfig', kubeconfig, '--manage-all-nodes', '--cidr', '10.64.0.0/12', '--node-ip', '10.63.0.1'];
  const child = spawn(KWOK, [...args, '--node-lease-duration-seconds', '0', '--config', STAGES, '--v', '4'], {
    // It logs an error for each pod that disappeared before it could delete it.
    stdio: 'ignore',
  });
  process.once('exit', () => child.kill('SIGKILL'));
  return child;
}

const WRITES = /^apiserver_request_total\{(.*)\} (\d+)/gm;

/** By the API server's own count, of all clients: control plane, kwok and others. */
async function countWrites(server: string, token: string, ca: string): Promise<number> {
  const dispatcher = new Agent({ connect: { ca } });
  const headers = { authorization: `Bearer ${token}` };
  const { body } = await request(`${server}/metrics`, { dispatcher, headers });
  const text = await body.text();
  await dispatcher.close();
  let total = 0;
  for (const [, labels = '', count] of text.matchAll(WRITES)) {
    const isWrite = /verb="(POST|PUT|PATCH|DELETE|APPLY)"/.test(labels);
    const isCounted = /resource="(sessions|volumes|pods|persistentvolumeclaims)"/.test(labels);
    if (isWrite && isCounted && /code="2/.test(labels)) total += Number(count);
  }
  return total;
}
