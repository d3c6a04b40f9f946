import { errorText } from '../../src/platform/errors.ts';
import { hasStatus } from '../../src/platform/kubernetes/client.ts';
import type { Logger } from '../../src/platform/log.ts';

const BACKOFF_MS = { first: 20, most: 60_000 };
/** Reconciles that write nothing never wait. After this long the queue yields to timers and sockets. */
const SLICE_MS = 10;

/** Reconcile again after this time even if nothing changes; undefined: only on a change. The last outcome counts. */
export type Outcome = { requeueMs: number } | undefined;

/** The earliest of these times; undefined when none is set. */
export function earliest(...times: (number | undefined)[]): Outcome {
  const set = times.filter((ms) => ms !== undefined);
  return set.length === 0 ? undefined : { requeueMs: Math.min(...set) };
}

export type Queue = {
  /** A key that is added several times is reconciled once, and by one worker at a time. */
  add(key: string): void;
  /** keys waiting for a worker */
  depth(): number;
  /** Starts nothing more; resolves when running reconciles have ended. */
  close(): Promise<void>;
};

export type QueueOptions = {
  workers: number;
  reconcile: (key: string) => Promise<Outcome>;
  /** called after each reconcile */
  onReconcile?: (error: unknown, ms: number) => void;
  log: Logger;
};

/** A work queue of resource names. Failures are retried with exponential backoff, which a success resets. */
export function startQueue(options: QueueOptions): Queue {
  const waiting = new Set<string>();
  const running = new Map<string, Promise<void>>();
  const failures = new Map<string, number>();
  const timers = new Map<string, NodeJS.Timeout>();
  let scheduled: NodeJS.Immediate | undefined;
  let sliceEndMs = 0;
  let closed = false;

  /** Starts in the next turn of the event loop, so that several events at once cause one reconcile. */
  const schedule = (): void => {
    scheduled ??= setImmediate(() => {
      scheduled = undefined;
      sliceEndMs = performance.now() + SLICE_MS;
      pump();
    });
  };

  const add = (key: string): void => {
    if (closed) return;
    waiting.add(key);
    schedule();
  };

  const addAfter = (key: string, ms: number): void => {
    if (closed) return;
    // Timers of Node hold at most 24.8 days. Reconciling early is harmless.
    const timer = setTimeout(() => add(key), Math.min(ms, 2 ** 30));
    timer.unref();
    timers.set(key, timer);
  };

  const forgetTimer = (key: string): void => {
    clearTimeout(timers.get(key));
    timers.delete(key);
  };

  const reconcile = async (key: string): Promise<void> => {
    const startedMs = performance.now();
    // This run replaces one that was scheduled for later.
    forgetTimer(key);
    try {
      const outcome = await options.reconcile(key);
      failures.delete(key);
      options.onReconcile?.(undefined, performance.now() - startedMs);
      if (outcome !== undefined) addAfter(key, outcome.requeueMs);
    } catch (error) {
      const count = (failures.get(key) ?? 0) + 1;
      failures.set(key, count);
      options.onReconcile?.(error, performance.now() - startedMs);
      // 409: another writer was first, and the watch will deliver that change.
      if (!closed && !hasStatus(error, 409))
        options.log.warn({ resource: key, failures: count, error: errorText(error) }, 'reconcile failed; will retry');
      const most = Math.min(BACKOFF_MS.most, BACKOFF_MS.first * 2 ** Math.min(count - 1, 20));
      addAfter(key, most * (0.5 + Math.random() / 2));
    }
  };

  const pump = (): void => {
    for (const key of waiting) {
      if (closed || running.size >= options.workers) return;
      if (running.has(key)) continue;
      if (performance.now() >= sliceEndMs) return schedule();
      waiting.delete(key);
      const done = reconcile(key).finally(() => {
        running.delete(key);
        pump();
      });
      running.set(key, done);
    }
  };

  return {
    add,
    depth: () => waiting.size,
    async close() {
      closed = true;
      waiting.clear();
      for (const key of timers.keys()) forgetTimer(key);
      await Promise.all(running.values());
    },
  };
}
