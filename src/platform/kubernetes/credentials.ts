import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import type { Agent } from 'node:http';
import { isIPv6 } from 'node:net';
import { join } from 'node:path';

/** Where a pod finds the identity of its service account. */
const FOLDER = '/var/run/secrets/kubernetes.io/serviceaccount';

export type KubernetesSource = {
  /** path of a kubeconfig */
  kubeconfig?: string;
  /** the API server as pods are told of it; `folder` holds token, ca.crt and namespace */
  pod?: { host: string; port: number; folder?: string };
};

export type Credentials = {
  server: string;
  namespace: string | undefined;
  /** Anew each time, since tokens and certificates are exchanged while a process runs. */
  read(): Promise<Identity>;
};

export type Identity = {
  headers: Record<string, string>;
  /** of a connection: authorities, certificates, names */
  tls: Record<string, unknown>;
  /** where the way leads through a proxy */
  agent?: Agent;
};

/** From the kubeconfig named, else from the pod that this runs in, else from where kubectl looks. Throws `StartupError`. */
export async function openCredentials({ kubeconfig, pod }: KubernetesSource): Promise<Credentials> {
  if (kubeconfig === undefined && pod !== undefined && existsSync(join(pod.folder ?? FOLDER, 'token'))) {
    return openPodCredentials(pod);
  }
  // The library knows every kind of kubeconfig, and takes 80 MiB with its models: a pod has no need of it.
  const { openKubeconfig } = await import('./kubeconfig.ts');
  return openKubeconfig(kubeconfig);
}

async function openPodCredentials({ host, port, folder = FOLDER }: NonNullable<KubernetesSource['pod']>) {
  const read = (name: string): Promise<string> => readFile(join(folder, name), 'utf8');
  const namespace = await read('namespace').catch(() => undefined);
  return {
    server: `https://${isIPv6(host) ? `[${host}]` : host}:${port}`,
    namespace,
    async read() {
      const [token, ca] = await Promise.all([read('token'), read('ca.crt')]);
      return { headers: { authorization: `Bearer ${token.trim()}` }, tls: { ca } };
    },
  };
}
