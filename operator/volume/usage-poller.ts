import { get } from 'node:http';
import type { IncomingMessage } from 'node:http';
import { json } from 'node:stream/consumers';
import { EXECUTOR_PORT, LABELS, USAGE_ANNOTATION } from '../../src/platform/kubernetes/resource.ts';
import { runWithin } from '../../src/platform/abort.ts';
import type { Pod } from '../../src/platform/kubernetes/types.ts';
import type { Controller } from '../runtime/controller.ts';
import { describePod } from '../pod/state.ts';
import { parseQuantity } from './quantity.ts';

const TIMEOUT_MS = 2000;
const CONCURRENCY = 16;
/** Smaller changes are not reported. */
const MIN_CHANGE_BYTES = 4 * 2 ** 20;
/** Volumes that are fuller than this, or are filling, are polled this many times as often. */
const BUSY_FRACTION = 0.6;
const BUSY_RATE = 6;

export type UsagePollerOptions = {
  caches: Pick<Controller['caches'], 'pods' | 'claims' | 'volumes'>;
  usage: Controller['usage'];
  /** called with the name of a volume whose usage has changed notably */
  onUsage: (volumeName: string) => void;
  /** between two polls of a volume; a sixth of it for volumes that may soon be full */
  intervalMs: number;
};

/** Polls executors for the usage of their volumes: one pod per volume, and at once when a service reports high usage. */
export function startUsagePoller({ caches, usage, onUsage, intervalMs }: UsagePollerOptions): { close(): void } {
  const stop = new AbortController();
  /** by the UID of the volume */
  const dueMs = new Map<string, number>();

  const poll = async (uid: string, pod: Pod): Promise<void> => {
    const name = pod.metadata.labels?.[LABELS.volume];
    dueMs.set(uid, Date.now() + intervalMs);
    const used = await fetchUsage(pod.status?.podIP ?? '', stop.signal);
    if (name === undefined || used === undefined || stop.signal.aborted) return;
    const before = usage.get(uid);
    const hasChanged = before === undefined || Math.abs(before - used) >= MIN_CHANGE_BYTES;
    const isFilling = before !== undefined && hasChanged && used > before;
    if (isFilling || used > readCapacity(name) * BUSY_FRACTION) dueMs.set(uid, Date.now() + intervalMs / BUSY_RATE);
    if (!hasChanged) return;
    usage.set(uid, used);
    onUsage(name);
  };

  caches.volumes.onChange((name, volume, before) => {
    const reported = volume?.metadata.annotations?.[USAGE_ANNOTATION];
    if (reported === undefined || reported === before?.metadata.annotations?.[USAGE_ANNOTATION]) return;
    const pod = caches.pods.find('volume', name).find((one) => describePod(one).state === 'ready');
    const uid = pod?.metadata.labels?.[LABELS.volumeUid];
    if (pod !== undefined && uid !== undefined) void poll(uid, pod);
  });

  const readCapacity = (name: string): number => {
    const size = caches.claims.get(name)?.status?.capacity?.storage;
    return size === undefined ? Infinity : parseQuantity(size);
  };

  const pollDue = async (): Promise<void> => {
    const now = Date.now();
    const known = new Set<string>();
    const due = new Map<string, Pod>();
    for (const pod of caches.pods.list()) {
      const uid = pod.metadata.labels?.[LABELS.volumeUid];
      if (uid === undefined) continue;
      known.add(uid);
      if ((dueMs.get(uid) ?? 0) <= now && describePod(pod).state === 'ready') due.set(uid, pod);
    }
    for (const uid of dueMs.keys()) if (!known.has(uid)) dueMs.delete(uid);
    for (const uid of usage.keys()) if (!known.has(uid)) usage.delete(uid);
    const next = due.entries();
    const workers = Array.from({ length: CONCURRENCY }, async () => {
      for (const [uid, pod] of next) {
        if (stop.signal.aborted) return;
        await poll(uid, pod);
      }
    });
    await Promise.all(workers);
  };
  let running: Promise<void> | undefined;
  const tick = (): void => {
    running ??= pollDue().finally(() => (running = undefined));
  };
  const timer = setInterval(tick, intervalMs / BUSY_RATE);
  timer.unref();
  return {
    close() {
      clearInterval(timer);
      stop.abort();
    },
  };
}

/** Undefined when the executor does not respond or has not counted yet. */
async function fetchUsage(ip: string, signal: AbortSignal): Promise<number | undefined> {
  const host = ip.includes(':') ? `[${ip}]` : ip;
  const fetchHealth = async (limit: AbortSignal): Promise<unknown> => {
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      get(`http://${host}:${EXECUTOR_PORT}/healthz`, { signal: limit }, resolve).on('error', reject);
    });
    return json(response);
  };
  try {
    const { usedBytes } = (await runWithin(TIMEOUT_MS, signal, fetchHealth)) as { usedBytes?: unknown };
    return typeof usedBytes === 'number' && Number.isSafeInteger(usedBytes) && usedBytes >= 0 ? usedBytes : undefined;
  } catch {
    return undefined;
  }
}
