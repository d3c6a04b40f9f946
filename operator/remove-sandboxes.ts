import { setTimeout as sleep } from 'node:timers/promises';
import { LABELS } from '../src/platform/kubernetes/resource.ts';
import { hasStatus } from '../src/platform/kubernetes/client.ts';
import type { Kubernetes } from '../src/platform/kubernetes/client.ts';
import { buildListPath, buildPath } from '../src/platform/kubernetes/paths.ts';
import type { Plural } from '../src/platform/kubernetes/paths.ts';
import type { Logger } from '../src/platform/log.ts';

export type RemovalOptions = {
  /** of the Sessions, Volumes and pods */
  namespace: string;
  /** Deployments that request pods; scaled to zero first, so that nothing starts again */
  callers: { namespace: string; deployments: readonly string[] };
  timeoutMs: number;
};

type List = { items: { metadata: { name: string } }[] };
type Deployment = { spec: { selector: { matchLabels: Record<string, string> } } };

const POLL_MS = 1000;

/**
 * Runs before an uninstall, because nothing removes pods afterwards. Scales the callers to zero, deletes all Sessions and
 * sandbox pods (standbys too) and waits until they are gone. Keeps Volumes and their claims. Needs no operator. Throws
 * when something remains after `timeoutMs`.
 */
export async function removeSandboxes(
  { kubernetes, log }: { kubernetes: Kubernetes; log: Logger },
  { namespace, callers, timeoutMs }: RemovalOptions,
): Promise<void> {
  const deadline = Date.now() + timeoutMs;
  const list = async (scope: string, plural: Plural, labelSelector?: string): Promise<string[]> => {
    const query: Record<string, string> = labelSelector === undefined ? {} : { labelSelector };
    const { items } = await kubernetes.request<List>({ method: 'GET', path: buildListPath(scope, plural), query });
    return items.map(({ metadata }) => metadata.name);
  };
  const remove = (plural: Plural, name: string) =>
    ignoreMissing(kubernetes.request({ method: 'DELETE', path: buildPath(namespace, plural, name) }));
  const cancelStandby = (name: string) => {
    const body = { spec: { standbyUntil: null } };
    return ignoreMissing(kubernetes.request({ method: 'PATCH', path: buildPath(namespace, 'volumes', name), body }));
  };

  const selectors: string[] = [];
  for (const name of callers.deployments) {
    const path = buildPath(callers.namespace, 'deployments', name);
    const found = await ignoreMissing(kubernetes.request<Deployment>({ method: 'GET', path }));
    if (found === undefined) continue;
    await kubernetes.request({ method: 'PATCH', path: `${path}/scale`, body: { spec: { replicas: 0 } } });
    const labels = Object.entries(found.spec.selector.matchLabels);
    selectors.push(labels.map(([key, value]) => `${key}=${value}`).join(','));
    log.info({ deployment: name }, 'scaled to zero');
  }
  for (const name of await list(namespace, 'volumes')) await cancelStandby(name);
  for (;;) {
    const alive = (await Promise.all(selectors.map((each) => list(callers.namespace, 'pods', each)))).flat();
    const sessions = await list(namespace, 'sessions');
    const pods = await list(namespace, 'pods', `${LABELS.managedBy}=capstan-operator`);
    await Promise.all(sessions.map((name) => remove('sessions', name)));
    await Promise.all(pods.map((name) => remove('pods', name)));
    const left = { callers: alive.length, sessions: sessions.length, pods: pods.length };
    if (left.callers + left.sessions + left.pods === 0) return log.info('all sandboxes are removed');
    if (Date.now() > deadline) {
      throw new Error(
        `There are ${left.callers} callers, ${left.sessions} sessions and ${left.pods} pods left after ${timeoutMs / 1000} s.`,
      );
    }
    log.info(left, 'waiting for sandboxes to end');
    await sleep(POLL_MS);
  }
}

async function ignoreMissing<T>(work: Promise<T>): Promise<T | undefined> {
  try {
    return await work;
  } catch (error) {
    if (hasStatus(error, 404)) return undefined;
    throw error;
  }
}
