import { isDeepStrictEqual } from 'node:util';
import { LABELS } from '../../src/platform/kubernetes/resource.ts';
import type { Kubernetes } from '../../src/platform/kubernetes/client.ts';
import type { Plural } from '../../src/platform/kubernetes/paths.ts';
import type { Logger } from '../../src/platform/log.ts';
import { reconcileSession } from '../session/reconcile.ts';
import { startMeasuring } from '../volume/measure.ts';
import { reconcileVolume } from '../volume/reconcile.ts';
import { openCaches } from './caches.ts';
import type { Related } from './caches.ts';
import type { Controller, ControllerOptions } from './controller.ts';
import { buildExpectations } from './expectations.ts';
import type { Term } from './lease.ts';
import type { Metrics } from './metrics.ts';
import { startQueue } from './queue.ts';
import type { Queue } from './queue.ts';
import { buildWriter, expectationKey, splitKey } from './writer.ts';

export type TermOptions = {
  kubernetes: Kubernetes;
  namespace: string;
  controller: ControllerOptions;
  metrics: Metrics;
  log: Logger;
  workers?: number;
  measureMs?: number;
};

/** The cache of each kind that is written. */
const CACHES: Record<string, keyof Controller['caches']> = {
  sessions: 'sessions',
  volumes: 'volumes',
  pods: 'pods',
  persistentvolumeclaims: 'claims',
};

/** A status that somebody else has changed is put right within this time. */
const RESYNC_MS = 10 * 60_000;

/**
 * Whether anything is there to decide. A change of a status alone is our own write; of a pod or a claim, what is not
 * kept of it may have changed.
 */
function isNews(plural: Plural, object: Related | undefined, before: Related | undefined): boolean {
  if (object === undefined || before === undefined || object.metadata.uid !== before.metadata.uid) return true;
  if (plural === 'sessions' || plural === 'volumes') {
    const { generation, deletionTimestamp } = object.metadata;
    return generation !== before.metadata.generation || deletionTimestamp !== before.metadata.deletionTimestamp;
  }
  const { resourceVersion } = object.metadata;
  return !isDeepStrictEqual(object, { ...before, metadata: { ...before.metadata, resourceVersion } });
}

/**
 * One term of leadership, until it ends. The caches are listed anew, after the lease was taken: what an earlier
 * leader wrote last is in them, so nothing is decided on less than it knew.
 */
export async function runTerm(options: TermOptions, term: Term): Promise<void> {
  const { kubernetes, namespace, metrics, log, workers = 16 } = options;
  const queues: Partial<Record<'sessions' | 'volumes', Queue>> = {};
  const enqueue = (plural: 'sessions' | 'volumes', name: string | undefined) => {
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

  const onChange = (plural: Plural, name: string, object: Related | undefined, before: Related | undefined): void => {
    expectations.observe(expectationKey(plural, name), object === undefined);
    if (!isNews(plural, object, before)) return;
    if (plural === 'sessions' || plural === 'volumes') enqueue(plural, name);
    if (plural === 'persistentvolumeclaims') enqueue('volumes', name);
    if (plural === 'volumes') {
      for (const { metadata } of caches.sessions.find('volume', name)) enqueue('sessions', metadata.name);
    }
    if (plural !== 'pods') return;
    for (const labels of [object?.metadata.labels, before?.metadata.labels]) {
      enqueue('sessions', labels?.[LABELS.session]);
      enqueue('volumes', labels?.[LABELS.volume]);
    }
    // A pod of this name may be what a session waits for, whatever its labels say.
    if (object === undefined) enqueue('sessions', name);
  };

  const ended = waitAborted(term.signal);
  const caches = openCaches({ kubernetes, namespace, log }, onChange);
  await Promise.race([caches.synced, ended]);
  const writer = buildWriter({ kubernetes, namespace, term, expectations, log, onWrite: metrics.onWrite });
  const usage = new Map<string, number>();
  const controller: Controller = {
    kubernetes,
    namespace,
    options: options.controller,
    caches,
    expectations,
    writer,
    untold: new Map(),
    usage,
    onStart: (ms) => metrics.onStart(ms),
  };
  const start = (
    kind: 'sessions' | 'volumes',
    reconcile: (controller: Controller, name: string) => ReturnType<typeof reconcileSession>,
  ) =>
    startQueue({
      workers,
      log: log.child({ kind }),
      reconcile: (name) => reconcile(controller, name),
      onPass: (error, ms) => metrics.onPass(kind, error, ms),
    });
  queues.sessions = start('sessions', reconcileSession);
  queues.volumes = start('volumes', reconcileVolume);
  metrics.watchQueues(() => ({ sessions: queues.sessions?.depth() ?? 0, volumes: queues.volumes?.depth() ?? 0 }));
  metrics.watchResources(() => ({ sessions: caches.sessions.list(), volumes: caches.volumes.list() }));
  const enqueueAll = (): void => {
    for (const { metadata } of caches.sessions.list()) enqueue('sessions', metadata.name);
    for (const { metadata } of caches.volumes.list()) enqueue('volumes', metadata.name);
    for (const { metadata } of caches.pods.list()) enqueue('sessions', metadata.labels?.[LABELS.session]);
  };
  enqueueAll();
  const resync = setInterval(enqueueAll, RESYNC_MS);
  const measuring = startMeasuring({
    caches,
    usage,
    onUsage: (name) => enqueue('volumes', name),
    intervalMs: options.measureMs ?? 30_000,
  });

  await ended;
  metrics.watchResources(() => ({ sessions: [], volumes: [] }));
  clearInterval(resync);
  measuring.close();
  await Promise.all([queues.sessions.close(), queues.volumes.close()]);
  await writer.settled();
  await caches.close();
}

export function waitAborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
