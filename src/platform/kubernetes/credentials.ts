import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import type { Agent } from 'node:http';
import { isIPv6 } from 'node:net';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { StartupError } from '../errors.ts';

/** Where Kubernetes mounts a pod's service account. */
const FOLDER = '/var/run/secrets/kubernetes.io/serviceaccount';

export type KubernetesSource = {
  /** path of a kubeconfig */
  kubeconfig?: string;
  /** the API server's address inside a pod; `folder` holds token, ca.crt and namespace */
  pod?: { host: string; port: number; folder?: string };
};

export type Credentials = {
  server: string;
  namespace: string | undefined;
  /** Reads the files again each time, since tokens and certificates are rotated. */
  read(): Promise<Identity>;
};

export type Identity = {
  headers: Record<string, string>;
  /** TLS options: authorities, certificates, names */
  tls: Record<string, unknown>;
  /** set when a proxy is used */
  agent?: Agent;
};

/** Uses the named kubeconfig, otherwise the pod's service account, otherwise kubectl's defaults. Throws `StartupError`. */
export async function openCredentials({ kubeconfig, pod }: KubernetesSource): Promise<Credentials> {
  if (kubeconfig === undefined && pod !== undefined && existsSync(join(pod.folder ?? FOLDER, 'token'))) {
    return openPodCredentials(pod);
  }
  if (kubeconfig === undefined && pod !== undefined && !existsSync(join(homedir(), '.kube', 'config'))) {
    throw new StartupError(
      `Kubernetes cannot be reached: this pod has no service account token in ${pod.folder ?? FOLDER}. Set ` +
        'automountServiceAccountToken of the pod to true.',
    );
  }
  // The library reads every kind of kubeconfig, but takes 80 MiB of memory, which a pod can avoid.
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
