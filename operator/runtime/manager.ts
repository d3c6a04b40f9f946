import { isDeepStrictEqual } from 'node:util';
import { LABELS } from '../../src/platform/kubernetes/resource.ts';
import type { Kubernetes } from '../../src/platform/kubernetes/client.ts';
import type { Plural } from '../../src/platform/kubernetes/paths.ts';
import type { Logger } from '../../src/platform/log.ts';
import { reconcileSession } from '../session/reconcile.ts';
import { reconcileVolume } from '../volume/reconcile.ts';
import { startUsagePoller } from '../volume/usage-poller.ts';
import { openCaches } from './caches.ts';
import type { CachedObject } from './caches.ts';
import type { Controller, ControllerOptions } from './controller.ts';
import { buildExpectations } from './expectations.ts';
import type { Leadership } from './leader-election.ts';
import type { Metrics } from './metrics.ts';
import { startQueue } from './queue.ts';
import type { Queue } from './queue.ts';
import { buildWriter, resourceKey, splitKey } from './writer.ts';

export type ManagerOptions = {
  kubernetes: Kubernetes;
  namespace: string;
  controller: ControllerOptions;
  metrics: Metrics;
  log: Logger;
  workers?: number;
  /** between two polls of a volume's usage; default 30 s */
  pollMs?: number;
};

/** The cache of each kind that is written. */
const CACHES: Record<string, keyof Controller['caches']> = {
  sessions: 'sessions',
  volumes: 'volumes',
  pods: 'pods',
  persistentvolumeclaims: 'claims',
};

/** A status that somebody else has changed is repaired within this time. */
const RESYNC_MS = 10 * 60_000;

/**
 * False for a change that leads to no decision. A change of only the status of a session or volume is our own write. Of
 * a pod or claim the cache keeps only some fields, and others may have changed.
 */
function needsReconcile(plural: Plural, object: CachedObject | undefined, before: CachedObject | undefined): boolean {
  if (object === undefined || before === undefined || object.metadata.uid !== before.metadata.uid) return true;
  if (plural === 'sessions' || plural === 'volumes') {
    const { generation, deletionTimestamp } = object.metadata;
    return generation !== before.metadata.generation || deletionTimestamp !== before.metadata.deletionTimestamp;
  }
  const { resourceVersion } = object.metadata;
  return !isDeepStrictEqual(object, { ...before, metadata: { ...before.metadata, resourceVersion } });
}

/**
 * Reconciles for one term of leadership. The caches are listed after the lease was acquired, so they hold the last
 * writes of the previous leader, and no decision rests on less than it knew.
 */
export async function runManager(options: ManagerOptions, leadership: Leadership): Promise<void> {
  const { kubernetes, namespace, metrics, log, workers = 16 } = options;
  const queues: Partial<Record<'sessions' | 'volumes', Queue>> = {};
  const enqueue: Enqueue = (plural, name) => {
    if (name !== undefined) queues[plural]?.add(name);
  };
  const expectations = buildExpectations(
    (key) => {
      const [plural, name] = splitKey(key);
      return caches[CACHES[plural] ?? 'pods'].get(name);
    },
    (waiter) => {
      const [plural, name] = splitKey(waiter);
      enqueue(plural === 'volumes' ? 'volumes' : 'sessions', name);
    },
  );
  const ended = waitAborted(leadership.signal);
  const caches = openCaches({ kubernetes, namespace, log }, (plural, name, object, before) => {
    expectations.observe(resourceKey(plural, name), object === undefined);
    if (!needsReconcile(plural, object, before)) return;
    for (const [target, affected] of listAffected(caches, { plural, name, object, before })) enqueue(target, affected);
  });
  await Promise.race([caches.synced, ended]);
  const writer = buildWriter({ kubernetes, namespace, leadership, expectations, log, onWrite: metrics.onWrite });
  const controller: Controller = {
    kubernetes,
    namespace,
    options: options.controller,
    caches,
    expectations,
    writer,
    deferredStatus: new Map(),
    usage: new Map(),
    onSessionReady: (ms) => metrics.onSessionReady(ms),
  };
  const start = (
    kind: 'sessions' | 'volumes',
    reconcile: (controller: Controller, name: string) => ReturnType<typeof reconcileSession>,
  ) =>
    startQueue({
      workers,
      log: log.child({ kind }),
      reconcile: (name) => reconcile(controller, name),
      onReconcile: (error, ms) => metrics.onReconcile(kind, error, ms),
    });
  queues.sessions = start('sessions', reconcileSession);
  queues.volumes = start('volumes', reconcileVolume);
  metrics.watchQueues(() => ({ sessions: queues.sessions?.depth() ?? 0, volumes: queues.volumes?.depth() ?? 0 }));
  metrics.watchResources(() => ({ sessions: caches.sessions.list(), volumes: caches.volumes.list() }));
  enqueueAll(caches, enqueue);
  const resync = setInterval(() => enqueueAll(caches, enqueue), RESYNC_MS);
  const poller = startUsagePoller({
    caches,
    usage: controller.usage,
    onUsage: (name) => enqueue('volumes', name),
    intervalMs: options.pollMs ?? 30_000,
  });

  await ended;
  metrics.watchResources(() => ({ sessions: [], volumes: [] }));
  clearInterval(resync);
  poller.close();
  await Promise.all([queues.sessions.close(), queues.volumes.close()]);
  await writer.flushEvents();
  await caches.close();
}

type Enqueue = (plural: 'sessions' | 'volumes', name: string | undefined) => void;

type Change = { plural: Plural; name: string; object: CachedObject | undefined; before: CachedObject | undefined };

/** The sessions and volumes to reconcile after a change. */
function listAffected(caches: Controller['caches'], { plural, name, object, before }: Change): Parameters<Enqueue>[] {
  switch (plural) {
    case 'sessions':
      return [['sessions', name]];
    case 'persistentvolumeclaims':
      return [['volumes', name]];
    case 'volumes': {
      const users = caches.sessions.find('volume', name);
      return [['volumes', name], ...users.map(({ metadata }): Parameters<Enqueue> => ['sessions', metadata.name])];
    }
    case 'pods': {
      const labels = [object?.metadata.labels, before?.metadata.labels];
      const related = labels.flatMap((each): Parameters<Enqueue>[] => [
        ['sessions', each?.[LABELS.session]],
        ['volumes', each?.[LABELS.volume]],
      ]);
      // A session may wait for a pod of its own name to go, whatever that pod's labels say.
      return object === undefined ? [...related, ['sessions', name]] : related;
    }
    default:
      return [];
  }
}

function enqueueAll(caches: Controller['caches'], enqueue: Enqueue): void {
  for (const { metadata } of caches.sessions.list()) enqueue('sessions', metadata.name);
  for (const { metadata } of caches.volumes.list()) enqueue('volumes', metadata.name);
  // Also sessions that are gone, whose pods may remain.
  for (const { metadata } of caches.pods.list()) enqueue('sessions', metadata.labels?.[LABELS.session]);
}

export function waitAborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
