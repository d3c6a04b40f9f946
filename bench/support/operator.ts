import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';
import { until } from './kwok.ts';
import type { FakeCluster } from './kwok.ts';

export type OperatorProcess = {
  /** MiB, resident; the maximum so far */
  readMemory(): { now: number; most: number };
  /** MiB of the heap in use, including uncollected garbage */
  readHeap(): Promise<number>;
  /** number of leadership terms; more than one: it lost its lease */
  countTerms(): number;
  /** sum of a counter over all matching labels */
  readCounter(name: string, labels?: RegExp): Promise<number>;
  stop(): Promise<void>;
};

const ROOT = new URL('../..', import.meta.url);
const COMPILED = fileURLToPath(new URL('node_modules/.cache/capstan/compiled', ROOT));
const SECRETS = '/run/secrets/kubernetes.io/serviceaccount';

/**
 * The role as it runs in a pod by image and chart: compiled, with its flags, and with API server and token in their
 * places.
 */
export async function startOperator(cluster: FakeCluster): Promise<OperatorProcess> {
  execFileSync(process.execPath, ['scripts/compile.ts'], { cwd: ROOT, env: { NODE_COMPILE_CACHE: COMPILED } });
  const account = mkdtempSync(join(tmpdir(), 'capstan-account-'));
  for (const [name, text] of Object.entries(cluster.account)) writeFileSync(join(account, name), text);
  // Its own mount namespace without a wrapper process: the script becomes the operator.
  const enter = `mount -t tmpfs none /run && mkdir -p ${SECRETS} && cp ${account}/* ${SECRETS} && exec "$@"`;
  const program = [process.execPath, 'src/main.ts', 'operator'];
  const { hostname, port } = new URL(cluster.server);
  const child = spawn('unshare', ['--map-root-user', '--mount', 'sh', '-c', enter, 'sh', ...program], {
    cwd: ROOT,
    env: {
      PATH: process.env['PATH'],
      NODE_OPTIONS: readNodeOptions(),
      NODE_COMPILE_CACHE: COMPILED,
      KUBERNETES_SERVICE_HOST: hostname,
      KUBERNETES_SERVICE_PORT: port,
      CAPSTAN_KUBERNETES_NAMESPACE: cluster.namespace,
      CAPSTAN_SANDBOX_IMAGE: 'bench/sandbox:1',
      CAPSTAN_SANDBOX_IDLE_TIMEOUT: '86400',
      CAPSTAN_PORT: '0',
      CAPSTAN_LOG_LEVEL: 'info',
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  process.once('exit', () => child.kill('SIGKILL'));
  let output = '';
  child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  await until('the operator leads', () => output.includes('"msg":"leading"'));
  rmSync(account, { recursive: true });
  const address = /Capstan listens on (\S+)/.exec(output)?.[1] ?? '';
  const readStatus = (field: string): number => {
    const status = readFileSync(`/proc/${child.pid}/status`, 'utf8');
    return Number(new RegExp(`^${field}:\\s+(\\d+)`, 'm').exec(status)?.[1]) / 1024;
  };
  const readCounter = async (name: string, labels = /./): Promise<number> => {
    const text = await (await fetch(`${address}/metrics`)).text();
    const lines = text.split('\n').filter((line) => /^[a-z_]+/.exec(line)?.[0] === name && labels.test(line));
    return lines.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' ') + 1)), 0);
  };
  return {
    readMemory: () => ({ now: readStatus('VmRSS'), most: readStatus('VmHWM') }),
    readHeap: async () => (await readCounter('nodejs_heap_size_used_bytes')) / 2 ** 20,
    countTerms: () => output.split('"msg":"leading"').length - 1,
    readCounter,
    async stop() {
      child.kill('SIGTERM');
      await ended;
    },
  };
}

/** The chart's Node options for the operator, plus CAPSTAN_BENCH_NODE_OPTIONS, such as `--cpu-prof`. */
function readNodeOptions(): string {
  const path = fileURLToPath(new URL('../../charts/capstan/values.yaml', import.meta.url));
  const { operator } = parse(readFileSync(path, 'utf8')) as { operator: { nodeOptions: string } };
  return `${operator.nodeOptions} ${process.env['CAPSTAN_BENCH_NODE_OPTIONS'] ?? ''}`;
}
