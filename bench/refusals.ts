/**
 * Measures how soon a refusal of the Kubernetes API server is known, from the call that needs a pod: the condition of
 * the Session, the Warning, and the answer to the caller.
 * Needs: `scripts/cluster/install-control-plane.sh`.
 * Arguments: sessions per kind of refusal.
 */
import { loadavg } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { API_VERSION } from '../src/platform/kubernetes/resource.ts';
import { buildListPath, buildPath } from '../src/platform/kubernetes/paths.ts';
import { openLog } from '../src/platform/log.ts';
import { buildSigner } from '../src/sandbox/executor/token.ts';
import { openKubernetesSandboxes } from '../src/sandbox/kubernetes/kubernetes.ts';
import { SandboxRefusedError } from '../src/sandbox/sandbox.ts';
import type { Sandboxes } from '../src/sandbox/sandbox.ts';
import type { Session } from '../src/sandbox/resources/session.ts';
import { newName, openCluster } from '../test/support/cluster/cluster.ts';
import type { Cluster } from '../test/support/cluster/cluster.ts';
import { openStage } from '../test/support/cluster/operator.ts';
import { NEVER, newTarget } from '../test/support/sandbox.ts';
import { startKubernetes } from '../test/support/services/kubernetes.ts';
import { printMachine, quantile } from './support/figures.ts';
import { requireFound } from './support/needs.ts';

const RUNS = Number(process.argv[2] ?? 10);
const POLL_MS = 10;
const KEY = Buffer.alloc(32, 3).toString('base64');
const CORE = '/api/v1';
const ADMISSION = '/apis/admissionregistration.k8s.io/v1';
const log = openLog({ level: 'silent', pretty: false });

type Refusal = { name: string; prepare: (cluster: Cluster) => Promise<void> };

async function post({ kubernetes }: Cluster, path: string, body: object): Promise<void> {
  await kubernetes.request({ method: 'POST', path, body });
}

/** Its usage is counted by a controller, which does not run here. */
async function fillQuota(cluster: Cluster, resource: string): Promise<void> {
  const root = `${CORE}/namespaces/${cluster.namespace}/resourcequotas`;
  const hard = { [resource]: '0' };
  await post(cluster, root, { apiVersion: 'v1', kind: 'ResourceQuota', metadata: { name: 'full' }, spec: { hard } });
  const body = { status: { hard, used: hard } };
  await cluster.kubernetes.request({ method: 'PATCH', path: `${root}/full/status`, body });
}

async function limitRange(cluster: Cluster): Promise<void> {
  const limits = [{ type: 'Container', max: { cpu: '5m' } }];
  const body = { apiVersion: 'v1', kind: 'LimitRange', metadata: { name: 'small' }, spec: { limits } };
  await post(cluster, `${CORE}/namespaces/${cluster.namespace}/limitranges`, body);
}

async function denyPods(cluster: Cluster): Promise<void> {
  const { namespace } = cluster;
  const kind = 'ValidatingAdmissionPolicy';
  const apiVersion = 'admissionregistration.k8s.io/v1';
  const resourceRules = [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['pods'] }];
  const spec = { matchConstraints: { resourceRules }, validations: [{ expression: 'false', message: 'denied' }] };
  const metadata = { name: namespace };
  await post(cluster, `${ADMISSION}/validatingadmissionpolicies`, { apiVersion, kind, metadata, spec });
  const namespaceSelector = { matchLabels: { 'kubernetes.io/metadata.name': namespace } };
  const binding = { policyName: namespace, validationActions: ['Deny'], matchResources: { namespaceSelector } };
  const body = { apiVersion, kind: `${kind}Binding`, metadata, spec: binding };
  await post(cluster, `${ADMISSION}/validatingadmissionpolicybindings`, body);
}

/** The class that the sessions name. */
async function newClass(cluster: Cluster, spec: object): Promise<void> {
  const body = { apiVersion: API_VERSION, kind: 'SandboxClass', metadata: { name: 'bench' }, spec };
  await post(cluster, buildListPath(cluster.namespace, 'sandboxclasses'), body);
}

const REFUSALS: Refusal[] = [
  { name: 'quota of pods', prepare: (cluster) => fillQuota(cluster, 'pods') },
  { name: 'quota of claims', prepare: (cluster) => fillQuota(cluster, 'persistentvolumeclaims') },
  { name: 'limit range', prepare: limitRange },
  { name: 'admission policy', prepare: denyPods },
  { name: 'missing runtime class', prepare: (cluster) => newClass(cluster, { runtimeClassName: 'missing' }) },
  { name: 'missing priority class', prepare: (cluster) => newClass(cluster, { priorityClassName: 'missing' }) },
];

async function until(holds: () => Promise<boolean>): Promise<number> {
  while (!(await holds())) await sleep(POLL_MS);
  return performance.now();
}

type Times = { condition: number; warning: number; answer: number };

/** Milliseconds since the call; undefined if the call was not refused, because the refusal is not in force yet. */
async function measure({ kubernetes, namespace }: Cluster, sandboxes: Sandboxes): Promise<Times | undefined> {
  const target = newTarget({ sessionId: `ses_${newName()}`, subjectId: newName() });
  const name = target.sessionId.replaceAll('_', '-');
  const startMs = performance.now();
  const answered = sandboxes.acquire(target, NEVER).then(
    () => undefined,
    (error: unknown) => (error instanceof SandboxRefusedError ? performance.now() : undefined),
  );
  const get = () => kubernetes.request<Session>({ method: 'GET', path: buildPath(namespace, 'sessions', name) });
  const stop = new AbortController();
  const condition = until(async () => {
    const ready = (await get().catch(() => undefined))?.status?.conditions?.find(({ type }) => type === 'Ready');
    const isRefused = ready !== undefined && /exceeded quota|forbidden|not found|denied/.test(ready.message);
    return isRefused || stop.signal.aborted;
  });
  const warning = until(async () => {
    const query = { fieldSelector: `involvedObject.name=${name},type=Warning` };
    const path = buildListPath(namespace, 'events');
    const { items } = await kubernetes.request<{ items: unknown[] }>({ method: 'GET', path, query });
    return items.length > 0 || stop.signal.aborted;
  });
  const answerMs = await answered;
  if (answerMs === undefined) {
    stop.abort();
    await Promise.all([condition, warning]);
    return undefined;
  }
  return { condition: (await condition) - startMs, warning: (await warning) - startMs, answer: answerMs - startMs };
}

async function run(kubeconfig: string, { name, prepare }: Refusal): Promise<void> {
  const cluster = await openCluster(kubeconfig);
  const stage = await openStage(cluster);
  // A pod cannot run without its claim, and the others are refused.
  stage.node.behave('wait');
  await prepare(cluster);
  const { kubernetes, namespace } = cluster;
  const hasClass = name.startsWith('missing');
  const findClass = async () => (hasClass ? 'bench' : null);
  const signer = buildSigner(KEY);
  // A pod that is not refused never runs here, so its call must not wait for long.
  const sandboxes = await openKubernetesSandboxes({ kubernetes, namespace, signer, log, findClass, startMs: 6000 });
  const all: Times[] = [];
  while (all.length < RUNS) {
    const times = await measure(cluster, sandboxes);
    if (times !== undefined) all.push(times);
  }
  await sandboxes.close();
  await stage.close();
  const describe = (key: keyof Times): string => {
    const values = all.map((times) => times[key]);
    return `${quantile(values, 0.5).toFixed(0)} (${Math.max(...values).toFixed(0)})`.padEnd(16);
  };
  console.log(name.padEnd(24), describe('condition'), describe('warning'), describe('answer'));
}

const service = requireFound(await startKubernetes(), 'a control plane (scripts/cluster/install-control-plane.sh)');
printMachine();
console.log(`load ${loadavg()[0]?.toFixed(1)}; ${RUNS} sessions each; ms from the call, median (most)`);
console.log('refused by'.padEnd(24), 'condition'.padEnd(16), 'Warning'.padEnd(16), 'answer');
for (const refusal of REFUSALS) await run(service.url, refusal);
await service.stop();
