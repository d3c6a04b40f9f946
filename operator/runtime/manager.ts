import { isDeepStrictEqual } from 'node:util';
import { LABELS, USAGE_ANNOTATION } from '../../src/platform/kubernetes/resource.ts';
import type { Volume } from '../../src/sandbox/resources/volume.ts';
import type { Kubernetes } from '../../src/platform/kubernetes/client.ts';
import type { Plural } from '../../src/platform/kubernetes/paths.ts';
import type { Logger } from '../../src/platform/log.ts';
import { reconcileSession } from '../session/reconcile.ts';
import { reconcileVolume } from '../volume/reconcile.ts';
import { reconcileWarmPool } from '../warm/reconcile.ts';
import { Backups } from '../volume/backup-policy.ts';
import { startUsagePoller } from '../volume/usage-poller.ts';
import { openCaches } from './caches.ts';
import type { CachedObject } from './caches.ts';
import type { Controller, ControllerOptions } from './controller.ts';
import { buildExpectations } from './expectations.ts';
import type { Leadership } from './leader-election.ts';
import type { Metrics } from './metrics.ts';
import { OwnWrites } from './own-writes.ts';
import { startQueue } from './queue.ts';
import type { Queue } from './queue.ts';
import { Refusals } from './refusals.ts';
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
  sandboxclasses: 'classes',
};

/** Interval for changes without a watch event. */
const RESYNC_MS = 10 * 60_000;

/**
 * False for a change that leads to no decision, such as our own write of a status. For pods and claims the cache keeps
 * only some fields, so others may have changed.
 */
function needsReconcile(
  plural: Plural,
  object: CachedObject | undefined,
  before: CachedObject | undefined,
  isOwnStatus: () => boolean,
): boolean {
  if (object === undefined || before === undefined || object.metadata.uid !== before.metadata.uid) return true;
  if (plural === 'sessions' || plural === 'volumes' || plural === 'sandboxclasses') {
    const { generation, deletionTimestamp } = object.metadata;
    return (
      generation !== before.metadata.generation ||
      deletionTimestamp !== before.metadata.deletionTimestamp ||
      !isDeepStrictEqual(pickAnnotations(object), pickAnnotations(before)) ||
      (!isOwnStatus() && !isDeepStrictEqual(object.status, before.status))
    );
  }
  const { resourceVersion } = object.metadata;
  return !isDeepStrictEqual(object, { ...before, metadata: { ...before.metadata, resourceVersion } });
}

/**
 * Reconciles for one term of leadership. The caches are listed after the lease was acquired, so they contain the last
 * writes of the previous leader, and every decision knows at least as much.
 */
export async function runManager(options: ManagerOptions, leadership: Leadership): Promise<void> {
  const { kubernetes, namespace, metrics, log, workers = 16 } = options;
  const queues: Partial<Record<Queued, Queue>> = {};
  const enqueue: Enqueue = (plural, name) => {
    if (name !== undefined) queues[plural]?.add(name);
  };
  const lookup = (key: string): CachedObject | undefined => {
    const [plural, name] = splitKey(key);
    return caches[CACHES[plural] ?? 'pods'].get(name);
  };
  const enqueueKey = (key: string): void => {
    const [plural, name] = splitKey(key);
    enqueue(plural === 'volumes' || plural === 'sandboxclasses' ? plural : 'sessions', name);
  };
  const expectations = buildExpectations(lookup, enqueueKey);
  const ownWrites = new OwnWrites((key) => lookup(key)?.metadata.resourceVersion, enqueueKey);
  const ended = waitAborted(leadership.signal);
  const caches = openCaches({ kubernetes, namespace, log }, (plural, name, object, before) => {
    const key = resourceKey(plural, name);
    expectations.observe(key, object === undefined);
    if (object === undefined) ownWrites.forget(key);
    const isOwnStatus = (): boolean => ownWrites.isOwn(key, object?.metadata.resourceVersion ?? '');
    const affected = listAffected(caches, { plural, name, object, before });
    if (needsReconcile(plural, object, before, isOwnStatus))
      for (const [target, each] of affected) enqueue(target, each);
    // Sessions wait for a volume that has failed.
    else if (isFailedVolume(plural, object) !== isFailedVolume(plural, before)) {
      for (const [target, each] of affected) if (target === 'sessions') enqueue(target, each);
    }
  });
  await Promise.race([caches.synced, ended]);
  const writer = buildWriter({
    kubernetes,
    namespace,
    leadership,
    expectations,
    ownWrites,
    log,
    onWrite: metrics.onWrite,
  });
  const controller: Controller = {
    kubernetes,
    namespace,
    options: options.controller,
    caches,
    expectations,
    writer,
    deferredStatus: new Map(),
    refusals: new Refusals(),
    backups: new Backups(),
    warm: { created: new Map(), taken: new Map() },
    usage: new Map(),
    onSessionReady: (ms) => metrics.onSessionReady(ms),
    onWarmTake: (className, result) => metrics.onWarmTake(className, result),
  };
  const start = (
    kind: Queued,
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
  queues.sandboxclasses = start('sandboxclasses', reconcileWarmPool);
  metrics.watchQueues(() => Object.fromEntries(Object.entries(queues).map(([kind, queue]) => [kind, queue.depth()])));
  metrics.watchResources(() => ({
    sessions: caches.sessions.list(),
    volumes: caches.volumes.list(),
    classes: caches.classes.list(),
  }));
  enqueueAll(caches, enqueue);
  const resync = setInterval(() => enqueueAll(caches, enqueue), RESYNC_MS);
  const poller = startUsagePoller({
    caches,
    usage: controller.usage,
    onUsage: (name) => enqueue('volumes', name),
    intervalMs: options.pollMs ?? 30_000,
  });

  await ended;
  metrics.watchResources(() => ({ sessions: [], volumes: [], classes: [] }));
  clearInterval(resync);
  poller.close();
  await Promise.all(Object.values(queues).map((queue) => queue.close()));
  await writer.flushEvents();
  await caches.close();
}

/** The poller already reports the usage that services write. */
function pickAnnotations({ metadata }: CachedObject): object {
  const { [USAGE_ANNOTATION]: _, ...others } = metadata.annotations ?? {};
  return others;
}

function isFailedVolume(plural: Plural, object: CachedObject | undefined): boolean {
  return plural === 'volumes' && (object as Volume | undefined)?.status?.phase === 'Failed';
}

type Queued = 'sessions' | 'volumes' | 'sandboxclasses';
type Enqueue = (plural: Queued, name: string | undefined) => void;

type Change = { plural: Plural; name: string; object: CachedObject | undefined; before: CachedObject | undefined };

/** The sessions and volumes to reconcile after a change. */
function listAffected(caches: Controller['caches'], { plural, name, object, before }: Change): Parameters<Enqueue>[] {
  switch (plural) {
    case 'sessions':
      return [['sessions', name]];
    case 'persistentvolumeclaims':
      return [['volumes', name], ...listByLabels(caches, object, before)];
    case 'volumes': {
      const users = caches.sessions.find('volume', name);
      return [['volumes', name], ...users.map(({ metadata }): Parameters<Enqueue> => ['sessions', metadata.name])];
    }
    case 'sandboxclasses':
      return [
        ['sandboxclasses', name],
        ...caches.sessions.find('class', name).map(({ metadata }): Parameters<Enqueue> => ['sessions', metadata.name]),
        ...caches.volumes.find('class', name).map(({ metadata }): Parameters<Enqueue> => ['volumes', metadata.name]),
      ];
    case 'pods': {
      const labels = [object?.metadata.labels, before?.metadata.labels];
      const related = [
        ...labels.map((each): Parameters<Enqueue> => ['sessions', each?.[LABELS.session]]),
        ...listByLabels(caches, object, before),
      ];
      // A session may wait for the deletion of a pod with its name, whatever that pod's labels say.
      return object === undefined ? [...related, ['sessions', name]] : related;
    }
    default:
      return [];
  }
}

/** The volumes and warm pools that a pod or claim is of, or was; and sessions of a volume that has just taken it. */
function listByLabels(
  caches: Controller['caches'],
  object: CachedObject | undefined,
  before: CachedObject | undefined,
): Parameters<Enqueue>[] {
  const labels = [object?.metadata.labels, before?.metadata.labels];
  const isTaken = before?.metadata.labels?.[LABELS.warm] !== undefined;
  const waiting = isTaken ? caches.sessions.find('volume', labels[0]?.[LABELS.volume] ?? '') : [];
  return [
    ...labels.map((each): Parameters<Enqueue> => ['volumes', each?.[LABELS.volume]]),
    ...labels
      .filter((each) => each?.[LABELS.warm] !== undefined)
      .map((each): Parameters<Enqueue> => ['sandboxclasses', each?.[LABELS.sandboxClass]]),
    ...waiting.map(({ metadata }): Parameters<Enqueue> => ['sessions', metadata.name]),
  ];
}

function enqueueAll(caches: Controller['caches'], enqueue: Enqueue): void {
  for (const { metadata } of caches.sessions.list()) enqueue('sessions', metadata.name);
  for (const { metadata } of caches.volumes.list()) enqueue('volumes', metadata.name);
  for (const { metadata } of caches.classes.list()) enqueue('sandboxclasses', metadata.name);
  // Also deleted sessions, whose pods may remain.
  for (const { metadata } of caches.pods.list()) enqueue('sessions', metadata.labels?.[LABELS.session]);
}

export function waitAborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
