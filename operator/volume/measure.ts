import { get } from 'node:http';
import type { IncomingMessage } from 'node:http';
import { json } from 'node:stream/consumers';
import { EXECUTOR_PORT, LABELS, USAGE_ANNOTATION } from '../../src/platform/kubernetes/resource.ts';
import { runWithin } from '../../src/platform/kubernetes/deadline.ts';
import type { Pod } from '../../src/platform/kubernetes/types.ts';
import type { Controller } from '../runtime/controller.ts';
import { describePod } from '../pod/state.ts';
import { parseQuantity } from './quantity.ts';

const TIMEOUT_MS = 2000;
const AT_ONCE = 16;
/** Smaller changes are not worth a write. */
const NOTABLE_BYTES = 4 * 2 ** 20;
/** Volumes past this part, and those that fill, are asked so many times as often. */
const WATCHED_PART = 0.6;
const WATCHED_RATE = 6;

export type MeasureOptions = {
  caches: Pick<Controller['caches'], 'pods' | 'claims' | 'volumes'>;
  usage: Controller['usage'];
  /** told of the volume by its name, when what it holds has changed notably */
  onUsage: (volumeName: string) => void;
  /** between two questions about a volume; a sixth of it where it may soon be full */
  intervalMs: number;
};

/** Asks the executors what their volumes hold: one pod a volume; at once where a service has seen one fill. */
export function startMeasuring({ caches, usage, onUsage, intervalMs }: MeasureOptions): { close(): void } {
  const stop = new AbortController();
  /** by the UID of the volume */
  const dueMs = new Map<string, number>();

  const measure = async (uid: string, pod: Pod): Promise<void> => {
    const name = pod.metadata.labels?.[LABELS.volume];
    dueMs.set(uid, Date.now() + intervalMs);
    const used = await askUsage(pod.status?.podIP ?? '', stop.signal);
    if (name === undefined || used === undefined || stop.signal.aborted) return;
    const before = usage.get(uid);
    const hasChanged = before === undefined || Math.abs(before - used) >= NOTABLE_BYTES;
    const isFilling = before !== undefined && hasChanged && used > before;
    if (isFilling || used > readCapacity(name) * WATCHED_PART) dueMs.set(uid, Date.now() + intervalMs / WATCHED_RATE);
    if (!hasChanged) return;
    usage.set(uid, used);
    onUsage(name);
  };

  caches.volumes.onChange((name, volume, before) => {
    const seen = volume?.metadata.annotations?.[USAGE_ANNOTATION];
    if (seen === undefined || seen === before?.metadata.annotations?.[USAGE_ANNOTATION]) return;
    const pod = caches.pods.find('volume', name).find((one) => describePod(one).state === 'ready');
    const uid = pod?.metadata.labels?.[LABELS.volumeUid];
    if (pod !== undefined && uid !== undefined) void measure(uid, pod);
  });

  const readCapacity = (name: string): number => {
    const size = caches.claims.get(name)?.status?.capacity?.storage;
    return size === undefined ? Infinity : parseQuantity(size);
  };

  const round = async (): Promise<void> => {
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
    const workers = Array.from({ length: AT_ONCE }, async () => {
      for (const [uid, pod] of next) {
        if (stop.signal.aborted) return;
        await measure(uid, pod);
      }
    });
    await Promise.all(workers);
  };
  let under: Promise<void> | undefined;
  const tick = (): void => {
    under ??= round().finally(() => (under = undefined));
  };
  const timer = setInterval(tick, intervalMs / WATCHED_RATE);
  timer.unref();
  return {
    close() {
      clearInterval(timer);
      stop.abort();
    },
  };
}

/** Undefined when the executor does not answer, or has not counted yet. */
async function askUsage(ip: string, signal: AbortSignal): Promise<number | undefined> {
  const host = ip.includes(':') ? `[${ip}]` : ip;
  const ask = async (limit: AbortSignal): Promise<unknown> => {
    const answer = await new Promise<IncomingMessage>((resolve, reject) => {
      get(`http://${host}:${EXECUTOR_PORT}/healthz`, { signal: limit }, resolve).on('error', reject);
    });
    return json(answer);
  };
  try {
    const { usedBytes } = (await runWithin(TIMEOUT_MS, signal, ask)) as { usedBytes?: unknown };
    return typeof usedBytes === 'number' && Number.isSafeInteger(usedBytes) && usedBytes >= 0 ? usedBytes : undefined;
  } catch {
    return undefined;
  }
}
