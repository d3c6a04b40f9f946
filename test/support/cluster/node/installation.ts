import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, isAbsolute, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { buildClient } from '../../../../clients/typescript/index.ts';
import type { Client } from '../../../../clients/typescript/index.ts';
import { makeScratch } from '../../scratch.ts';
import { findKubectl } from '../../services/kubernetes.ts';
import { waitFor } from '../cluster.ts';
import { SITE, SITE_PORTS } from './site-address.ts';

const ROOT = fileURLToPath(new URL('../../../../', import.meta.url));
const CACHE = join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'capstan');
const SLOW_MS = 300_000;

/** Idle seconds after which a pod is removed: longer than the interval at which activity is recorded, one minute. */
export const IDLE_SECONDS = 75;
const VIDEO_PORT = 30880;

/** Capstan in a cluster with nodes, installed by helm from this repository. */
export type Installation = {
  /** of the agent service; for others use `findUrl` */
  url: string;
  /** by the NodePort of a role's Service */
  findUrl: (role: 'api' | 'video' | 'login') => Promise<string>;
  /** the address of a node, and the image of the control plane */
  node: string;
  image: string;
  key: string;
  client: Client;
  /** of the release, and of the sandboxes */
  namespace: string;
  sandboxes: string;
  /** Standard output of kubectl, by default in the namespace of the sandboxes. Throws its error output. */
  kubectl: (...args: string[]) => Promise<string>;
  /** Applies objects with kubectl. */
  apply: (...objects: object[]) => Promise<void>;
  helm: (...args: string[]) => Promise<string>;
  /** for a shell that uses this cluster, kubectl and helm */
  environment: NodeJS.ProcessEnv;
  /** After the Services were recreated: updates `url` and `client`, once they answer. */
  reconnect: () => Promise<void>;
  /** upgrades with the installation's settings and these; resolves when everything is rolled out */
  upgrade: (...sets: string[]) => Promise<void>;
  /** deletes everything, including the objects that an uninstallation keeps */
  close: () => Promise<void>;
};

/** The kubeconfig of a cluster with nodes: a given one, else that of `make cluster`. */
function findKubeconfig(): string | undefined {
  const given = process.env['CAPSTAN_TEST_KUBECONFIG'] ?? '';
  const kubeconfig = given === '' ? join(CACHE, 'cluster/kubeconfig') : given;
  if (existsSync(kubeconfig)) return kubeconfig;
  const reason = 'no cluster with nodes: `make cluster` starts one, CAPSTAN_TEST_KUBECONFIG names one';
  if (process.env['CAPSTAN_REQUIRE_ALL'] === '1') throw new Error(reason);
  process.stderr.write(`Skipped what needs pods in earnest: ${reason}.\n`);
  return undefined;
}

function findHelm(): string {
  const script = readFileSync(join(ROOT, 'scripts/cluster/build-helm.sh'), 'utf8');
  const version = /^VERSION=(v[\d.]+)$/m.exec(script)?.[1] ?? '';
  const built = join(CACHE, 'helm', version, 'helm');
  return existsSync(built) ? built : 'helm';
}

/**
 * Installs the chart with all roles and its bundled backends. Images are the ones that `make cluster` loads, or those that
 * `CAPSTAN_TEST_IMAGE_REPOSITORY`, `CAPSTAN_TEST_MEDIA_IMAGE` and `CAPSTAN_TEST_SANDBOX_IMAGE` name. Undefined, with the reason printed, where there
 * is no cluster.
 */
export async function findInstallation(): Promise<(() => Promise<Installation>) | undefined> {
  const kubeconfig = findKubeconfig();
  return kubeconfig === undefined ? undefined : () => install(kubeconfig);
}

async function install(kubeconfig: string): Promise<Installation> {
  const namespace = `capstan-${randomBytes(3).toString('hex')}`;
  const sandboxes = `${namespace}-sandboxes`;
  const programs = { kubectl: findKubectl() ?? 'kubectl', helm: findHelm() };
  const folders = Object.values(programs)
    .filter((path) => isAbsolute(path))
    .map((path) => dirname(path));
  const environment = { ...process.env, KUBECONFIG: kubeconfig, PATH: [...folders, process.env['PATH']].join(':') };
  const run = async (program: string, args: string[]): Promise<string> => {
    const { stdout } = await promisify(execFile)(program, args, { cwd: ROOT, maxBuffer: 2 ** 26, env: environment });
    return stdout;
  };
  const kubectl = (...args: string[]): Promise<string> =>
    run(programs.kubectl, args.includes('-n') || args.includes('-A') ? args : ['-n', sandboxes, ...args]);
  const applyObjects = async (...items: object[]): Promise<void> => {
    const path = join(makeScratch('objects'), 'list.json');
    writeFileSync(path, JSON.stringify({ apiVersion: 'v1', kind: 'List', items }));
    await run(programs.kubectl, ['apply', '-f', path]).finally(() => rmSync(dirname(path), { recursive: true }));
  };
  const helm = (...args: string[]): Promise<string> => run(programs.helm, ['-n', namespace, ...args]);
  const version = /^appVersion: *"?([^"\n]+)/m.exec(readFileSync(join(ROOT, 'charts/capstan/Chart.yaml'), 'utf8'))?.[1];
  const repository = process.env['CAPSTAN_TEST_IMAGE_REPOSITORY'] ?? 'docker.io/library/capstan';
  const media = process.env['CAPSTAN_TEST_MEDIA_IMAGE'] ?? `docker.io/library/capstan-media:${version}`;
  const address = 'jsonpath={.items[0].status.addresses[?(@.type=="InternalIP")].address}';
  const node = await kubectl('get', 'nodes', '-o', address);
  const settings = [
    `image.repository=${repository}`,
    `sandbox.image=${process.env['CAPSTAN_TEST_SANDBOX_IMAGE'] ?? `docker.io/library/capstan-sandbox:${version}`}`,
    `sandbox.namespace=${sandboxes}`,
    `sandbox.idleTimeout=${IDLE_SECONDS}`,
    ...['api', 'video', 'login'].map((role) => `${role}.service.type=NodePort`),
    ...['video', 'login'].flatMap((role) => [`${role}.enabled=true`, `${role}.image=${media}`]),
    // Addresses of videos point to the service as the test reaches it.
    `video.service.nodePort=${VIDEO_PORT}`,
    `video.publicUrl=http://${node}:${VIDEO_PORT}`,
    // The only internal address that the website login may reach, by its proxy's rule and by the network policy.
    `settings.CAPSTAN_EGRESS_ALLOW=${SITE}.${namespace}.svc.cluster.local:80`,
    `login.network.allow[0].to[0].podSelector.matchLabels.app=${SITE}`,
    `login.network.allow[0].ports[0].port=${SITE_PORTS.site}`,
  ];
  // Definitions of an earlier installation belong to it until another one takes them over.
  const options = ['-f', 'charts/capstan/values-small.yaml', '--take-ownership', '--wait', '--timeout', '5m'];
  const apply = (verb: 'install' | 'upgrade', sets: string[]) =>
    helm(verb, 'capstan', 'charts/capstan', ...options, ...sets.flatMap((set) => ['--set', set]));
  const close = async (): Promise<void> => {
    await helm('uninstall', 'capstan', '--ignore-not-found', '--wait', '--timeout', '2m').catch(() => undefined);
    for (const kind of ['sessions.capstan.dev', 'volumes.capstan.dev', 'pods']) {
      await kubectl('delete', kind, '--all', '--wait=false').catch(() => undefined);
    }
    await kubectl('delete', 'namespace', namespace, sandboxes, '--timeout=3m');
  };
  await kubectl('create', 'namespace', namespace);
  await kubectl('create', 'namespace', sandboxes);
  await kubectl('label', 'namespace', sandboxes, 'pod-security.kubernetes.io/enforce=restricted');
  try {
    await apply('install', settings);
    const findUrl = async (role: string): Promise<string> => {
      const path = '-o=jsonpath={.spec.ports[0].nodePort}';
      return `http://${node}:${await kubectl('-n', namespace, 'get', `service/capstan-${role}`, path)}`;
    };
    const connect = async () => {
      const url = await findUrl('api');
      const secret = ['secret', 'capstan-keys', '-o=jsonpath={.data.CAPSTAN_API_KEY}'];
      const key = Buffer.from(await kubectl('-n', namespace, 'get', ...secret), 'base64').toString();
      await waitFor('the API is ready', async () => (await fetch(`${url}/readyz`).catch(() => undefined))?.ok, SLOW_MS);
      return { url, key, client: buildClient({ baseUrl: url, apiKey: key }) };
    };
    const upgrade = async (...sets: string[]) => {
      await apply('upgrade', [...settings, ...sets]);
      await waitForOperator((...args) => kubectl('-n', namespace, ...args));
    };
    const image = `${repository}:${version}`;
    const installation: Installation = {
      ...(await connect()),
      findUrl,
      node,
      image,
      namespace,
      sandboxes,
      environment,
      kubectl,
      apply: applyObjects,
      helm,
      upgrade,
      close,
      reconnect: async () => void Object.assign(installation, await connect()),
    };
    return installation;
  } catch (error) {
    const state = await kubectl('-n', namespace, 'get', 'pods,pvc,events').catch(String);
    await close();
    throw new Error(`helm install did not come to an end: ${String(error)}\n${state}`, { cause: error });
  }
}

/** helm waits for the new operator alone. Until the earlier one has ended, it may lead and start sandboxes. */
async function waitForOperator(kubectl: Installation['kubectl']): Promise<void> {
  await kubectl('rollout', 'status', 'deployment/capstan-operator', '--timeout=5m');
  const selector = ['-l', 'app.kubernetes.io/component=operator', '-o=jsonpath={.items[*].metadata.deletionTimestamp}'];
  const hasEnded = async () => (await kubectl('get', 'pods', ...selector)) === '' || undefined;
  await waitFor('the earlier operator has ended', hasEnded, SLOW_MS);
}
