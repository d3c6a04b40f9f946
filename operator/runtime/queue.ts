import { errorText } from '../../src/errors.ts';
import { hasStatus } from '../../src/kubernetes/client.ts';
import type { Logger } from '../../src/log.ts';

const BACKOFF_MS = { first: 20, most: 60_000 };

/** Look again after this time, whether or not anything changed; undefined: only when something does. */
export type Outcome = { requeueMs: number } | undefined;

export type Queue = {
  /** However often a key is added, it is worked on once, and by one worker at a time. */
  add(key: string): void;
  /** The sooner of this time and one that is set already. */
  addAfter(key: string, ms: number): void;
  /** keys that wait for a worker */
  depth(): number;
  /** Resolves when what is under way has ended; nothing is begun any more. */
  close(): Promise<void>;
};

export type QueueOptions = {
  workers: number;
  reconcile: (key: string) => Promise<Outcome>;
  /** told how each pass ended */
  onPass?: (error: unknown, ms: number) => void;
  log: Logger;
};

/** Keys to reconcile. What throws is tried again, later each time; a pass that succeeds forgets the failures. */
export function startQueue(options: QueueOptions): Queue {
  const waiting = new Set<string>();
  const running = new Map<string, Promise<void>>();
  const failures = new Map<string, number>();
  const timers = new Map<string, { timer: NodeJS.Timeout; dueMs: number }>();
  let closed = false;

  const add = (key: string): void => {
    if (closed) return;
    waiting.add(key);
    pump();
  };

  const addAfter = (key: string, ms: number): void => {
    if (closed) return;
    const dueMs = Date.now() + ms;
    const set = timers.get(key);
    if (set !== undefined && set.dueMs <= dueMs) return;
    clearTimeout(set?.timer);
    // Timers of Node hold 24.8 days at most; whoever wakes early looks again.
    const timer = setTimeout(
      () => {
        timers.delete(key);
        add(key);
      },
      Math.min(ms, 2 ** 30),
    );
    timer.unref();
    timers.set(key, { timer, dueMs });
  };

  const pass = async (key: string): Promise<void> => {
    const begunMs = performance.now();
    try {
      const outcome = await options.reconcile(key);
      failures.delete(key);
      options.onPass?.(undefined, performance.now() - begunMs);
      if (outcome !== undefined) addAfter(key, outcome.requeueMs);
    } catch (error) {
      const count = (failures.get(key) ?? 0) + 1;
      failures.set(key, count);
      options.onPass?.(error, performance.now() - begunMs);
      // Somebody else wrote first: the change is on its way here.
      if (!closed && !hasStatus(error, 409))
        options.log.warn({ key, count, error: errorText(error) }, 'will try again');
      const most = Math.min(BACKOFF_MS.most, BACKOFF_MS.first * 2 ** Math.min(count - 1, 20));
      addAfter(key, most * (0.5 + Math.random() / 2));
    }
  };

  const pump = (): void => {
    for (const key of waiting) {
      if (closed || running.size >= options.workers) return;
      if (running.has(key)) continue;
      waiting.delete(key);
      const done = pass(key).finally(() => {
        running.delete(key);
        pump();
      });
      running.set(key, done);
    }
  };

  return {
    add,
    addAfter,
    depth: () => waiting.size,
    async close() {
      closed = true;
      waiting.clear();
      for (const { timer } of timers.values()) clearTimeout(timer);
      timers.clear();
      await Promise.all(running.values());
    },
  };
}
