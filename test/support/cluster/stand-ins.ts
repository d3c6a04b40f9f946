import { readFileSync, readdirSync } from 'node:fs';
import { parse } from 'yaml';
import { hasStatus } from '../../../src/platform/kubernetes/client.ts';
import type { Kubernetes } from '../../../src/platform/kubernetes/client.ts';
import { startInformer } from '../../../src/platform/kubernetes/informer.ts';
import type { Informer } from '../../../src/platform/kubernetes/informer.ts';
import { buildListPath, buildPath } from '../../../src/platform/kubernetes/paths.ts';
import { stripClaim } from '../../../src/platform/kubernetes/types.ts';
import type { Claim } from '../../../src/platform/kubernetes/types.ts';
import type { Logger } from '../../../src/platform/log.ts';

/** Replacements for a cluster's own components, for tests and benches with an API server only. */

const CRDS = new URL('../../../crds/', import.meta.url);

/** The CustomResourceDefinitions of this repository. */
export function readDefinitions(): { metadata: { name: string } }[] {
  return readdirSync(CRDS).map((file) => parse(readFileSync(new URL(file, CRDS), 'utf8')) as never);
}

/** Acts as a scheduler. Throws 404, 409. */
export async function bindPod(kubernetes: Kubernetes, namespace: string, pod: string, node: string): Promise<void> {
  const target = { apiVersion: 'v1', kind: 'Node', name: node };
  const body = { apiVersion: 'v1', kind: 'Binding', metadata: { name: pod }, target };
  await kubernetes.request({ method: 'POST', path: `${buildPath(namespace, 'pods', pod)}/binding`, body });
}

/** The object may be deleted or changed meanwhile; then this is too late and does nothing. */
export function tolerate(work: Promise<unknown>, onError: (error: unknown) => void): void {
  work.catch((error: unknown) => {
    if (!hasStatus(error, 404, 409)) onError(error);
  });
}

/** Acts as a storage class: gives claims their requested size at once, also when it grows. */
export function startStorage(options: {
  kubernetes: Kubernetes;
  namespace: string;
  log: Logger;
  onError: (error: unknown) => void;
  /** paused while this is true */
  isAway?: () => boolean;
}): Informer<Claim> {
  const { kubernetes, namespace, log, onError } = options;
  const path = buildListPath(namespace, 'persistentvolumeclaims');
  const claims = startInformer<Claim>({ kubernetes, path, strip: stripClaim, log });
  claims.onChange((name, claim) => {
    const storage = claim?.spec.resources?.requests?.storage;
    if (storage === undefined || claim?.status?.capacity?.storage === storage || options.isAway?.() === true) return;
    const bind = async (): Promise<void> => {
      const own = buildPath(namespace, 'persistentvolumeclaims', name);
      if (claim?.spec.volumeName === undefined) {
        const body = { spec: { volumeName: `disk-${claim?.metadata.uid ?? ''}` } };
        await kubernetes.request({ method: 'PATCH', path: own, body });
      }
      const body = { status: { phase: 'Bound', capacity: { storage } } };
      await kubernetes.request({ method: 'PATCH', path: `${own}/status`, body });
    };
    tolerate(bind(), onError);
  });
  return claims;
}

/** The content of a kubeconfig with one cluster, one user and a token. */
export function readKubeconfig(path: string): { server: string; token: string; ca: string } {
  const { clusters, users } = JSON.parse(readFileSync(path, 'utf8')) as {
    clusters: { cluster: { server: string; 'certificate-authority-data': string } }[];
    users: { user: { token: string } }[];
  };
  const cluster = clusters[0]?.cluster;
  if (cluster === undefined) throw new Error('the kubeconfig names no cluster');
  const { server, 'certificate-authority-data': ca } = cluster;
  return { server, token: users[0]?.user.token ?? '', ca: Buffer.from(ca, 'base64').toString() };
}
