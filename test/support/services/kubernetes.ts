import { execFile } from 'node:child_process';
import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:https';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

import { makeScratch } from '../scratch.ts';
import { findFreePort, findProgram, startServer } from './process.ts';
import type { Service } from './process.ts';

const CACHE = join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'capstan');

/** A program of the control plane: from the folder that envtest users know, then from our cache, then from PATH. */
function findControlPlaneProgram(name: string): string | undefined {
  const assets = process.env.KUBEBUILDER_ASSETS;
  if (assets !== undefined && assets !== '') return findProgram(join(assets, name));
  return findProgram(...listBuilt(name), join(CACHE, 'etcd/usr/bin', name), name);
}

/** Built by scripts/cluster/build-kubernetes.sh, whose VERSION is the one that counts. */
function listBuilt(name: string): string[] {
  const script = readFileSync(new URL('../../../scripts/cluster/build-kubernetes.sh', import.meta.url), 'utf8');
  const version = /^VERSION=(v[\d.]+)$/m.exec(script)?.[1];
  return version === undefined ? [] : [join(CACHE, 'kubernetes', version, 'bin', name)];
}

/** The kubectl beside the API server of the tests. */
export function findKubectl(): string | undefined {
  return findControlPlaneProgram('kubectl');
}

/** `apiserver` can be killed and started again on what etcd holds; undefined where the control plane is a given one. */
export type ControlPlane = Service & { apiserver?: { kill(): Promise<void>; start(): Promise<void> } };

/**
 * A control plane without nodes: etcd and kube-apiserver on free ports of 127.0.0.1, everything they keep in a scratch
 * folder. `url` is the path of a kubeconfig with every right. With `CAPSTAN_TEST_KUBECONFIG` it is that one, unless it has
 * nodes: those would do what the tests stand in for. Undefined when a program is missing.
 * `more` goes to the API server.
 */
export async function startKubernetes(more: readonly string[] = []): Promise<ControlPlane | undefined> {
  const given = process.env.CAPSTAN_TEST_KUBECONFIG;
  if (given !== undefined && given !== '') {
    if (!existsSync(given)) throw new Error(`CAPSTAN_TEST_KUBECONFIG names no file: ${given}`);
    if (!(await hasNodes(given)))
      return { url: given, pause: () => undefined, resume: () => undefined, stop: async () => undefined };
  }
  const etcdPath = findControlPlaneProgram('etcd');
  const apiserverPath = findControlPlaneProgram('kube-apiserver');
  if (etcdPath === undefined || apiserverPath === undefined) return undefined;
  const etcd = await startEtcd(etcdPath);
  try {
    const apiserver = await startApiserver(apiserverPath, etcd.url, more);
    return {
      ...apiserver,
      async stop() {
        await apiserver.stop();
        await etcd.stop();
      },
    };
  } catch (error) {
    await etcd.stop();
    throw error;
  }
}

async function hasNodes(kubeconfig: string): Promise<boolean> {
  const args = ['--kubeconfig', kubeconfig, 'get', 'nodes', '--output', 'name'];
  const { stdout } = await promisify(execFile)(findKubectl() ?? 'kubectl', args);
  return stdout.trim() !== '';
}

async function startEtcd(command: string): Promise<Service> {
  const scratch = makeScratch('etcd');
  const url = `http://127.0.0.1:${await findFreePort()}`;
  const peer = `http://127.0.0.1:${await findFreePort()}`;
  return startServer({
    command,
    args: [
      ['--data-dir', join(scratch, 'data'), '--name', 'default', '--logger', 'zap'],
      ['--listen-client-urls', url, '--advertise-client-urls', url],
      ['--listen-peer-urls', peer, '--initial-advertise-peer-urls', peer, '--initial-cluster', `default=${peer}`],
    ].flat(),
    scratch,
    url,
    ready: async () => {
      const response = await fetch(`${url}/health`);
      if (!response.ok) throw new Error(`status ${response.status}`);
    },
    signal: 'SIGKILL',
  });
}

/** What service accounts do is noted with what they send; the tests themselves are the administrator. */
const AUDIT = {
  apiVersion: 'audit.k8s.io/v1',
  kind: 'Policy',
  omitStages: ['RequestReceived'],
  rules: [{ level: 'Request', userGroups: ['system:serviceaccounts'] }, { level: 'None' }],
};

async function startApiserver(command: string, etcdUrl: string, more: readonly string[]): Promise<ControlPlane> {
  const scratch = makeScratch('kubernetes');
  const port = await findFreePort();
  const token = randomBytes(24).toString('hex');
  const files = {
    tokens: join(scratch, 'tokens.csv'),
    accounts: join(scratch, 'accounts.pem'),
    certificates: join(scratch, 'certificates'),
    kubeconfig: join(scratch, 'kubeconfig'),
    auditPolicy: join(scratch, 'audit.json'),
    auditLog: join(scratch, 'audit.log'),
  };
  mkdirSync(files.certificates);
  writeFileSync(files.tokens, `${token},admin,admin,system:masters\n`, { mode: 0o600 });
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  writeFileSync(files.accounts, privateKey.export({ type: 'pkcs8', format: 'pem' }), { mode: 0o600 });
  writeFileSync(files.auditPolicy, JSON.stringify(AUDIT), { mode: 0o600 });
  writeFileSync(files.auditLog, '', { mode: 0o600 });
  const server = `https://127.0.0.1:${port}`;
  const start = (): Promise<Service> =>
    startServer({
      command,
      args: [
        `--etcd-servers=${etcdUrl}`,
        `--secure-port=${port}`,
        '--bind-address=127.0.0.1',
        '--advertise-address=127.0.0.1',
        '--endpoint-reconciler-type=none',
        `--cert-dir=${files.certificates}`,
        `--token-auth-file=${files.tokens}`,
        '--authorization-mode=RBAC',
        '--service-cluster-ip-range=10.96.0.0/16',
        '--service-account-issuer=https://kubernetes.default.svc',
        `--service-account-key-file=${files.accounts}`,
        `--service-account-signing-key-file=${files.accounts}`,
        // Nobody makes the accounts that it asks for where no controller manager runs.
        '--disable-admission-plugins=ServiceAccount',
        `--audit-policy-file=${files.auditPolicy}`,
        `--audit-log-path=${files.auditLog}`,
        '--v=0',
        ...more,
      ],
      scratch: makeScratch('apiserver'),
      url: files.kubeconfig,
      ready: async () => {
        const certificate = readFileSync(join(files.certificates, 'apiserver.crt'));
        await askReady(`${server}/readyz`, token, certificate);
        writeFileSync(files.kubeconfig, buildKubeconfig(server, token, certificate), { mode: 0o600 });
      },
      signal: 'SIGKILL',
      attempts: 2400,
    });
  let running = await start();
  return {
    url: files.kubeconfig,
    pause: () => running.pause(),
    resume: () => running.resume(),
    async stop() {
      await running.stop();
      rmSync(scratch, { recursive: true, force: true });
    },
    apiserver: {
      kill: () => running.stop(),
      async start() {
        running = await start();
      },
    },
  };
}

function askReady(url: string, token: string, ca: Buffer): Promise<void> {
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${token}` };
    const call = request(url, { ca, headers, agent: false }, (response) => {
      response.resume();
      if (response.statusCode === 200) resolve();
      else reject(new Error(`status ${response.statusCode}`));
    });
    call.on('error', reject);
    call.end();
  });
}

function buildKubeconfig(server: string, token: string, certificate: Buffer): string {
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'test',
    contexts: [{ name: 'test', context: { cluster: 'test', user: 'admin' } }],
    clusters: [{ name: 'test', cluster: { server, 'certificate-authority-data': certificate.toString('base64') } }],
    users: [{ name: 'admin', user: { token } }],
  });
}
