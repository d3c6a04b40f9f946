import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { API_VERSION } from '../../../src/platform/kubernetes/resource.ts';
import type { SessionSpec } from '../../../src/sandbox/resources/session.ts';
import type { VolumeSpec } from '../../../src/sandbox/resources/volume.ts';
import { hasStatus, openKubernetes } from '../../../src/platform/kubernetes/client.ts';
import type { Kubernetes } from '../../../src/platform/kubernetes/client.ts';
import { buildListPath } from '../../../src/platform/kubernetes/paths.ts';
import { findService } from '../find-service.ts';
import { readDefinitions } from './stand-ins.ts';

export type Resource<S = unknown> = {
  apiVersion: string;
  kind: string;
  metadata: { name: string; namespace: string; [key: string]: unknown };
  spec: S;
};

/** An API server with our resources, and a namespace for this caller. */
export type Cluster = {
  kubeconfig: string;
  kubernetes: Kubernetes;
  namespace: string;
  create<T extends Resource>(object: T): Promise<T>;
};

const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';

/** The cluster of this run; undefined, with the reason printed, if there is none. */
export async function findCluster(): Promise<Cluster | undefined> {
  const kubeconfig = await findService('kubernetes');
  return kubeconfig === undefined ? undefined : openCluster(kubeconfig);
}

/** The same on a separate control plane. */
export async function openCluster(kubeconfig: string): Promise<Cluster> {
  const kubernetes = await openKubernetes({ kubeconfig });
  for (const definition of readDefinitions()) await installDefinition(kubernetes, definition);
  const namespace = `test-${randomBytes(5).toString('hex')}`;
  const labels = { 'pod-security.kubernetes.io/enforce': 'restricted' };
  const body = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace, labels } };
  await kubernetes.request({ method: 'POST', path: '/api/v1/namespaces', body });
  return {
    kubeconfig,
    kubernetes,
    namespace,
    create: (object) => {
      const plural = object.kind === 'Session' ? 'sessions' : 'volumes';
      return kubernetes.request({ method: 'POST', path: buildListPath(namespace, plural), body: object });
    },
  };
}

type Definition = { metadata: { name: string }; status?: { conditions?: { type: string; status: string }[] } };

/** Concurrent test files install the same definitions; those of an earlier run are updated. */
async function installDefinition(kubernetes: Kubernetes, definition: Definition): Promise<void> {
  const path = `${DEFINITIONS}/${definition.metadata.name}`;
  try {
    await kubernetes.request({ method: 'POST', path: DEFINITIONS, body: definition });
  } catch (error) {
    if (!hasStatus(error, 409)) throw error;
    await kubernetes.request({ method: 'PATCH', path, body: definition });
  }
  await waitFor(`${definition.metadata.name} is established`, async () => {
    const found = await kubernetes.request<Definition>({ method: 'GET', path });
    return found.status?.conditions?.some(({ type, status }) => type === 'Established' && status === 'True') === true;
  });
}

/** Polls until the condition holds, for at most a minute; then throws `what`. */
export async function waitFor<T>(what: string, ask: () => Promise<T> | T, ms = 60_000): Promise<NonNullable<T>> {
  const deadline = Date.now() + ms;
  for (;;) {
    const answer = await ask();
    if (answer !== undefined && answer !== null && answer !== false) return answer;
    if (Date.now() > deadline) throw new Error(`waited in vain: ${what}`);
    await sleep(20);
  }
}

const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';
export const newName = (): string => [...randomBytes(20)].map((byte) => ALPHABET[byte % 32]).join('');
export const SOME_KEY = 'A'.repeat(43);

export function buildSession(namespace: string, spec: Partial<SessionSpec> = {}): Resource<SessionSpec> {
  const sessionId = spec.sessionId ?? `ses_${newName()}`;
  return {
    apiVersion: API_VERSION,
    kind: 'Session',
    metadata: { name: sessionId.replaceAll('_', '-'), namespace },
    spec: {
      sessionId,
      organizationId: 'org_1',
      agentId: 'agt_1',
      subjectId: 'ada',
      volumeName: 'vol-1',
      desiredState: 'Running',
      ...spec,
    },
  };
}

export function buildVolume(namespace: string, spec: Partial<VolumeSpec> = {}): Resource<Partial<VolumeSpec>> {
  return {
    apiVersion: API_VERSION,
    kind: 'Volume',
    metadata: { name: `vol-${newName()}`, namespace },
    spec: { organizationId: 'org_1', agentId: 'agt_1', subjectId: 'ada', publicKey: SOME_KEY, ...spec },
  };
}
