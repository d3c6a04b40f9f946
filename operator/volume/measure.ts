import { EXECUTOR_PORT, LABELS } from '../../src/contract/resources/common.ts';
import type { Pod } from '../../src/kubernetes/types.ts';
import type { Controller } from '../runtime/controller.ts';
import { describePod } from '../pod/state.ts';

const TIMEOUT_MS = 2000;
const AT_ONCE = 16;
/** Smaller changes are not worth a write. */
const NOTABLE_BYTES = 4 * 2 ** 20;

export type MeasureOptions = {
  caches: Pick<Controller['caches'], 'pods'>;
  usage: Controller['usage'];
  /** told of the volume by its name, when what it holds has changed notably */
  onUsage: (volumeName: string) => void;
  intervalMs: number;
};

/** Asks the executors what their volumes hold: one pod a volume, in turns of `intervalMs`. */
export function startMeasuring({ caches, usage, onUsage, intervalMs }: MeasureOptions): { close(): void } {
  const stop = new AbortController();

  const measure = async (pod: Pod): Promise<void> => {
    const { [LABELS.volume]: name, [LABELS.volumeUid]: uid } = pod.metadata.labels ?? {};
    const used = await askUsage(pod.status?.podIP ?? '', stop.signal);
    if (name === undefined || uid === undefined || used === undefined || stop.signal.aborted) return;
    const before = usage.get(uid);
    if (before !== undefined && Math.abs(before - used) < NOTABLE_BYTES) return;
    usage.set(uid, used);
    onUsage(name);
  };

  let under = false;
  const round = async (): Promise<void> => {
    if (under) return;
    under = true;
    const ready = caches.pods.list().filter((pod) => describePod(pod).state === 'ready');
    const pods = [...new Map(ready.map((pod) => [pod.metadata.labels?.[LABELS.volumeUid], pod])).values()];
    const known = new Set(pods.map((pod) => pod.metadata.labels?.[LABELS.volumeUid]));
    for (const uid of usage.keys()) if (!known.has(uid)) usage.delete(uid);
    const workers = Array.from({ length: AT_ONCE }, async () => {
      for (let pod = pods.pop(); pod !== undefined && !stop.signal.aborted; pod = pods.pop()) await measure(pod);
    });
    await Promise.all(workers);
    under = false;
  };
  const timer = setInterval(() => void round(), intervalMs);
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
  try {
    const host = ip.includes(':') ? `[${ip}]` : ip;
    const response = await fetch(`http://${host}:${EXECUTOR_PORT}/healthz`, {
      signal: AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]),
    });
    const { usedBytes } = (await response.json()) as { usedBytes?: unknown };
    return typeof usedBytes === 'number' && Number.isSafeInteger(usedBytes) && usedBytes >= 0 ? usedBytes : undefined;
  } catch {
    return undefined;
  }
}
