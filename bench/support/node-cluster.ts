import { execFile, spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { openKubernetes } from '../../src/platform/kubernetes/client.ts';
import type { Kubernetes } from '../../src/platform/kubernetes/client.ts';
import { findKubectl } from '../../test/support/services/kubernetes.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const CACHE = join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'capstan');

/** A cluster with a node, a namespace for the bench, and operators as processes of this machine. */
export type NodeCluster = {
  kubernetes: Kubernetes;
  namespace: string;
  /** of sandbox pods */
  image: string;
  /** count so far, by any component: writes to the objects of a sandbox, without Events and leases */
  countWrites(): Promise<number>;
  close(): Promise<void>;
};

const COUNTED = new Set(
  (
    'pods persistentvolumeclaims persistentvolumes services endpoints endpointslices networkpolicies ' +
    'sessions volumes sandboxes sandboxclaims sandboxwarmpools'
  ).split(' '),
);
const WRITES = /^apiserver_request_total\{(.*)\} (\d+)/gm;

/** Undefined if neither `make cluster` nor `CAPSTAN_TEST_KUBECONFIG` gives a cluster, or the peer is not built. */
export async function startNodeCluster(): Promise<NodeCluster | undefined> {
  const given = process.env['CAPSTAN_TEST_KUBECONFIG'] ?? '';
  const kubeconfig = given === '' ? join(CACHE, 'cluster/kubeconfig') : given;
  const peer = findPeer();
  if (!existsSync(kubeconfig) || peer === undefined) return undefined;
  const namespace = `bench-${randomBytes(3).toString('hex')}`;
  const version = /^appVersion: *"?([^"\n]+)/m.exec(readFileSync(join(ROOT, 'charts/capstan/Chart.yaml'), 'utf8'))?.[1];
  const image = process.env['CAPSTAN_TEST_SANDBOX_IMAGE'] ?? `docker.io/library/capstan-sandbox:${version}`;
  const kubectl = async (...args: string[]): Promise<string> => {
    const command = ['--kubeconfig', kubeconfig, ...args];
    return (await promisify(execFile)(findKubectl() ?? 'kubectl', command, { cwd: ROOT, maxBuffer: 2 ** 26 })).stdout;
  };
  await kubectl('apply', '--server-side', '--force-conflicts', '-f', 'crds', '-f', join(peer, 'crds'));
  await kubectl('create', 'namespace', namespace);
  const children = [
    startProcess(process.execPath, ['src/main.ts', 'operator'], {
      KUBECONFIG: kubeconfig,
      CAPSTAN_KUBERNETES_NAMESPACE: namespace,
      CAPSTAN_SANDBOX_IMAGE: image,
      // As in the other arms, so that the same number fits on the node.
      CAPSTAN_SANDBOX_CPU: '20m,2',
      CAPSTAN_SANDBOX_MEMORY: '64Mi,2Gi',
      CAPSTAN_PORT: '0',
      CAPSTAN_LOG_LEVEL: 'warn',
    }),
    // As in its own manifest, except for ports and leader election: there is only one.
    startProcess(
      join(peer, 'agent-sandbox-controller'),
      [
        ['--extensions', '--leader-elect=false', '--metrics-bind-address=127.0.0.1:0'],
        ['--health-probe-bind-address=127.0.0.1:0', '--kubeconfig', kubeconfig],
      ].flat(),
      {},
    ),
  ];
  const kubernetes = await openKubernetes({ kubeconfig });
  return {
    kubernetes,
    namespace,
    image,
    async countWrites() {
      let total = 0;
      for (const [, labels = '', count] of (await kubectl('get', '--raw', '/metrics')).matchAll(WRITES)) {
        const label = (name: string): string => new RegExp(`(?:^|,)${name}="([^"]*)"`).exec(labels)?.[1] ?? '';
        const isWrite = /^(POST|PUT|PATCH|DELETE|APPLY)$/.test(label('verb'));
        if (isWrite && COUNTED.has(label('resource')) && label('code').startsWith('2')) total += Number(count);
      }
      return total;
    },
    async close() {
      await kubectl('-n', namespace, 'delete', 'sandboxclaims,sandboxwarmpools,sandboxes,sessions,volumes', '--all');
      for (const child of children) child.kill('SIGKILL');
      await kubectl('delete', 'namespace', namespace, '--timeout=5m');
      await kubernetes.close();
    },
  };
}

/** The folder that scripts/cluster/build-agent-sandbox.sh creates. */
function findPeer(): string | undefined {
  const folder = join(CACHE, 'agent-sandbox');
  const versions = existsSync(folder) ? readdirSync(folder) : [];
  return versions
    .map((version) => join(folder, version))
    .find((path) => existsSync(join(path, 'agent-sandbox-controller')));
}

function startProcess(program: string, args: string[], more: Record<string, string>): ChildProcess {
  const env = { PATH: process.env['PATH'] ?? '', HOME: process.env['HOME'] ?? '/', ...more };
  const child = spawn(program, args, { cwd: ROOT, env, stdio: ['ignore', 'ignore', 'pipe'] });
  let complaints = '';
  child.stderr?.on('data', (chunk: Buffer) => (complaints = (complaints + chunk.toString()).slice(-2000)));
  child.once('exit', (code) => {
    if (code !== null && code !== 0) console.error(`${program} ended with ${code}: ${complaints}`);
  });
  process.once('exit', () => child.kill('SIGKILL'));
  return child;
}
