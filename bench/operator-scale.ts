/**
 * Measures thousands of sessions on a Kubernetes control plane whose nodes kwok simulates: start times compared with
 * bare pods at the same rate, writes to the API server per session, and the operator's resources at 1,000 and 10,000
 * sessions.
 * Needs: `scripts/cluster/install-control-plane.sh` and `scripts/cluster/build-kwok.sh`.
 * Arguments: final number of sessions (10,000 take a while), sessions started per second.
 */
import { loadavg } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { API_VERSION, LABELS } from '../src/platform/kubernetes/resource.ts';
import type { Session } from '../src/sandbox/resources/session.ts';
import type { Volume } from '../src/sandbox/resources/volume.ts';
import { startInformer } from '../src/platform/kubernetes/informer.ts';
import { buildListPath } from '../src/platform/kubernetes/paths.ts';
import { stripResource } from '../src/platform/kubernetes/types.ts';
import { openLog } from '../src/platform/log.ts';
import { milliseconds, printMachine, quantile } from './support/figures.ts';
import { startFakeCluster, until } from './support/kwok.ts';
import type { FakeCluster } from './support/kwok.ts';
import { startOperator } from './support/operator.ts';
import type { OperatorProcess } from './support/operator.ts';

const NODES = 100;
/** final number of sessions, and sessions started per second, for ten seconds per arm */
const MOST = Number(process.argv[2] ?? 1000);
const RATE = Number(process.argv[3] ?? 75);
const BURST = RATE * 10;
const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';
const log = openLog({ level: 'warn', pretty: false });

let counter = 0;
const newName = (): string => {
  let number = (counter += 1);
  let text = '';
  for (let place = 0; place < 26; place += 1) {
    text = (ALPHABET[number % 32] ?? '') + text;
    number = Math.floor(number / 32);
  }
  return text;
};

/** Starts `count` runs at RATE per second, whether or not earlier runs have ended. */
async function runOpenLoop(count: number, begin: (index: number) => void): Promise<void> {
  const startMs = performance.now();
  for (let index = 0; index < count; index += 1) {
    const dueMs = startMs + (index * 1000) / RATE;
    const restMs = dueMs - performance.now();
    if (restMs > 1) await sleep(restMs);
    begin(index);
  }
}

function describeTimes(name: string, times: readonly number[]): void {
  const [p50, p90, p99, most] = [0.5, 0.9, 0.99, 1].map((part) => milliseconds(quantile(times, part)));
  console.log(`${name.padEnd(44)} n ${times.length}  p50 ${p50}  p90 ${p90}  p99 ${p99}  most ${most}`);
}

async function describeMemory(operator: OperatorProcess): Promise<string> {
  const { now, most } = operator.readMemory();
  const heap = (await operator.readHeap()).toFixed(0);
  const terms = operator.countTerms();
  const lateMs = (await operator.readCounter('nodejs_eventloop_lag_max_seconds')) * 1000;
  return `${now.toFixed(0)} MiB resident (${most.toFixed(0)} at most), ${heap} of its heap; its event loop late by ${milliseconds(lateMs)} at most since the last look; term ${terms}`;
}

/** Creates objects on the cluster and measures the time until they are ready. */
function openWorkload(cluster: FakeCluster) {
  const { kubernetes, namespace } = cluster;
  const create = (plural: 'sessions' | 'volumes' | 'pods', body: object) =>
    kubernetes.request({ method: 'POST', path: buildListPath(namespace, plural), body });
  const follow = <T extends Session | Volume>(plural: 'sessions' | 'volumes') =>
    startInformer<T>({ kubernetes, path: buildListPath(namespace, plural), strip: stripResource, log });
  const sessions = follow<Session>('sessions');
  const volumes = follow<Volume>('volumes');
  /** request time of each object, and the callback when it is ready */
  const waiting = new Map<string, (ms: number) => void>();
  const note = (name: string, isThere: boolean): void => {
    if (!isThere) return;
    waiting.get(name)?.(performance.now());
    waiting.delete(name);
  };
  sessions.onChange((name, session) => note(name, session?.status?.phase === 'Running'));
  cluster.pods.onChange((name, pod) => {
    if (name.startsWith('bare-'))
      note(name, pod?.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') === true);
  });
  const measure = (name: string, asked: () => Promise<unknown>): Promise<number> => {
    const begunMs = performance.now();
    const there = new Promise<number>((resolve) => waiting.set(name, (ms) => resolve(ms - begunMs)));
    asked().catch((error: unknown) => console.error(String(error)));
    return there;
  };
  const identity = { organizationId: 'org_1', agentId: 'agt_1', subjectId: 'ada' };
  const makeVolume = async (spec = {}): Promise<string> => {
    const name = `vol-${newName()}`;
    const body = { ...identity, publicKey: 'A'.repeat(43), ...spec };
    await create('volumes', { apiVersion: API_VERSION, kind: 'Volume', metadata: { name, namespace }, spec: body });
    return name;
  };
  const makeVolumes = async (count: number, spec = {}): Promise<string[]> => {
    const names: string[] = [];
    const makers = Array.from({ length: 32 }, async () => {
      while (names.length < count) {
        const place = names.push('') - 1;
        names[place] = await makeVolume(spec);
      }
    });
    await Promise.all(makers);
    return names;
  };
  const startSession = (volumeName: string): Promise<number> => {
    const sessionId = `ses_${newName()}`;
    const name = sessionId.replace('_', '-');
    const spec = {
      ...identity,
      sessionId,
      volumeName,
      desiredState: 'Running',
      lastActivityAt: new Date().toISOString(),
    };
    const metadata = { name, namespace };
    return measure(name, () => create('sessions', { apiVersion: API_VERSION, kind: 'Session', metadata, spec }));
  };
  const startPod = (): Promise<number> => {
    const name = `bare-${newName()}`;
    const spec = { containers: [{ name: 'one', image: 'bench/sandbox:1' }], automountServiceAccountToken: false };
    const metadata = { name, namespace, labels: { [LABELS.component]: 'bare' } };
    return measure(name, () => create('pods', { apiVersion: 'v1', kind: 'Pod', metadata, spec }));
  };
  const removeBarePods = async (): Promise<void> => {
    const query = { labelSelector: `${LABELS.component}=bare` };
    await kubernetes.request({ method: 'DELETE', path: buildListPath(namespace, 'pods'), query });
    await until(
      'bare pods are gone',
      () => !cluster.pods.list().some(({ metadata }) => metadata.name.startsWith('bare-')),
    );
  };
  const close = async () => void (await Promise.all([sessions.close(), volumes.close()]));
  return { sessions, volumes, makeVolumes, startSession, startPod, removeBarePods, close };
}

type Workload = ReturnType<typeof openWorkload>;

async function runArm(start: (index: number) => Promise<number>): Promise<number[]> {
  const times: Promise<number>[] = [];
  await runOpenLoop(BURST, (index) => times.push(start(index)));
  return Promise.all(times);
}

/** counts so far: writes by all, writes by the operator, events among them, reconciles of sessions */
async function readCosts(cluster: FakeCluster, operator: OperatorProcess): Promise<number[]> {
  return [
    await cluster.countWrites(),
    await operator.readCounter('capstan_operator_writes_total'),
    await operator.readCounter('capstan_operator_writes_total', /"events"/),
    await operator.readCounter('capstan_operator_reconcile_seconds_count', /"sessions"/),
  ];
}

/** Bare pods, sessions on a volume and sessions that adopt a standby pod, alternating, twice each. */
async function measureArms(cluster: FakeCluster, workload: Workload, operator: OperatorProcess): Promise<void> {
  const { volumes, makeVolumes, startSession, startPod, removeBarePods } = workload;
  const bare: number[] = [];
  const cold: number[] = [];
  const warm: number[] = [];
  for (let round = 0; round < 2; round += 1) {
    bare.push(...(await runArm(startPod)));
    await removeBarePods();
    const names = await makeVolumes(BURST);
    const isReady = (name: string) => volumes.get(name)?.status?.phase === 'Ready';
    await until('volumes are ready', () => names.every(isReady));
    const before = await readCosts(cluster, operator);
    cold.push(...(await runArm((index) => startSession(names[index] ?? ''))));
    await sleep(2000);
    const after = await readCosts(cluster, operator);
    const [all, own, events, passes] = after.map((value, index) => ((value - (before[index] ?? 0)) / BURST).toFixed(2));
    console.log(
      `a cold session costs: ${all} writes to the API server by all, ${own} by the operator (${events} of them events), ${passes} passes`,
    );
    const standbyUntil = new Date(Date.now() + 3_600_000).toISOString();
    const prepared = await makeVolumes(BURST, { standbyUntil });
    await until('standby pods are ready', () =>
      prepared.every((name) => volumes.get(name)?.status?.podIP !== undefined),
    );
    warm.push(...(await runArm((index) => startSession(prepared[index] ?? ''))));
  }
  describeTimes(`bare pods, ${RATE}/s`, bare);
  describeTimes(`sessions on a volume, ${RATE}/s`, cold);
  describeTimes(`sessions that adopt a standby pod, ${RATE}/s`, warm);
}

/** Starts sessions until there are `count`. */
async function grow(workload: Workload, operator: OperatorProcess, count: number): Promise<void> {
  const { sessions, makeVolumes, startSession } = workload;
  const isRunning = ({ status }: Session) => status?.phase === 'Running';
  const missing = count - sessions.list().length;
  const startMs = performance.now();
  for (let made = 0; made < missing; made += 250) {
    const names = await makeVolumes(Math.min(250, missing - made));
    await Promise.all(names.map((name) => startSession(name)));
  }
  await until('all run', () => sessions.list().filter(isRunning).length === count);
  const seconds = (performance.now() - startMs) / 1000;
  await sleep(5000);
  const rate = missing > 0 ? `, ${missing} more in ${seconds.toFixed(0)} s` : '';
  console.log(`${count} sessions run${rate}: operator ${await describeMemory(operator)}`);
}

/** Counts writes at rest, then restarts the operator. Returns the new operator. */
async function measureRestart(
  cluster: FakeCluster,
  { sessions, volumes, makeVolumes, startSession }: Workload,
  before: OperatorProcess,
): Promise<OperatorProcess> {
  const pods = new Set(cluster.pods.list().map(({ metadata }) => metadata.uid));
  const [volumeName = ''] = await makeVolumes(1);
  await until('its volume is ready', () => volumes.get(volumeName)?.status?.phase === 'Ready');
  const quiet = await cluster.countWrites();
  await sleep(30_000);
  console.log(`writes within 30 s in which nobody wanted anything: ${(await cluster.countWrites()) - quiet}`);
  await before.stop();
  const restartMs = performance.now();
  const operator = await startOperator(cluster);
  const leadsMs = performance.now() - restartMs;
  await startSession(volumeName);
  console.log(
    `restart with ${sessions.list().length} sessions: leads after ${milliseconds(leadsMs)}, the first new session runs after ${milliseconds(performance.now() - restartMs)}`,
  );
  await sleep(5000);
  const kept = cluster.pods.list().filter(({ metadata }) => pods.has(metadata.uid)).length;
  const writes = await operator.readCounter('capstan_operator_writes_total');
  console.log(
    `after it: ${pods.size - kept} of ${pods.size} pods replaced, ${writes} writes of the operator, ${await describeMemory(operator)}`,
  );
  return operator;
}

async function main(): Promise<void> {
  printMachine();
  const printLoad = () => console.log(`load of the machine: ${loadavg()[0]?.toFixed(1)}`);
  printLoad();
  const cluster = await startFakeCluster(NODES);
  if (cluster === undefined) {
    return console.log('Not measured, for want of it: scripts/cluster/install-control-plane.sh and build-kwok.sh');
  }
  const workload = openWorkload(cluster);
  let operator = await startOperator(cluster);
  console.log(`operator without anything: ${await describeMemory(operator)}`);
  await measureArms(cluster, workload, operator);
  const already = workload.sessions.list().length;
  console.log(`${already} sessions run: operator ${await describeMemory(operator)}`);
  if (MOST > already) await grow(workload, operator, MOST);
  operator = await measureRestart(cluster, workload, operator);
  printLoad();
  await operator.stop();
  await workload.close();
  await cluster.close();
}

// A signal also stops the processes that the bench started.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));
await main();
