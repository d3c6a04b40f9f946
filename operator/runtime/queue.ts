import { errorText } from '../../src/platform/errors.ts';
import { hasStatus } from '../../src/platform/kubernetes/client.ts';
import type { Logger } from '../../src/platform/log.ts';

const BACKOFF_MS = { first: 20, most: 60_000 };
/** Passes that write nothing follow each other without a pause: after this long, timers and sockets have their turn. */
const SLICE_MS = 10;

/** Look again after this time, whether or not anything changed; undefined: only when something does. The last pass counts. */
export type Outcome = { requeueMs: number } | undefined;

/** The first of these times; undefined: none is set. */
export function soonest(...times: (number | undefined)[]): Outcome {
  const set = times.filter((ms) => ms !== undefined);
  return set.length === 0 ? undefined : { requeueMs: Math.min(...set) };
}

export type Queue = {
  /** However often a key is added, it is worked on once, and by one worker at a time. */
  add(key: string): void;
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
  const timers = new Map<string, NodeJS.Timeout>();
  let turn: NodeJS.Immediate | undefined;
  let sliceEndMs = 0;
  let closed = false;

  /** Passes begin in the next turn of the event loop: what one event brings, or several at once, is one pass. */
  const schedule = (): void => {
    turn ??= setImmediate(() => {
      turn = undefined;
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
    // Timers of Node hold 24.8 days at most; whoever wakes early looks again.
    const timer = setTimeout(() => add(key), Math.min(ms, 2 ** 30));
    timer.unref();
    timers.set(key, timer);
  };

  const forgetTimer = (key: string): void => {
    clearTimeout(timers.get(key));
    timers.delete(key);
  };

  const pass = async (key: string): Promise<void> => {
    const begunMs = performance.now();
    // What an earlier pass wanted to look at later is looked at now.
    forgetTimer(key);
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
      const done = pass(key).finally(() => {
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
