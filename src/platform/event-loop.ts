import { Counter } from 'prom-client';
import type { Logger } from './log.ts';

/** ms from which a block is reported */
const BLOCK_MS = 200;
const CHECK_MS = 100;
/** Works that one log line names. */
const MAX_NAMES = 5;

/** `kind`: the label of the metric, one of few; `name`: for the log. `endedAt`: undefined while it runs */
type Work = { kind: string; name: string; begunAt: number; endedAt?: number };

const running = new Set<Work>();

/** Counts what `watchEventLoop` reports, by the kind of work that ran. One for the process. */
export const eventLoopBlocks = new Counter({
  name: 'capstan_event_loop_blocks_total',
  help: 'Times that the event loop stood still for more than 200 ms, by the work that ran',
  labelNames: ['work'],
  registers: [],
});

/** Notes work that may block the event loop. Call what it returns when the work ends. */
export function beginWork(kind: string, name = kind): () => void {
  const work: Work = { kind, name, begunAt: performance.now() };
  running.add(work);
  return () => {
    work.endedAt ??= performance.now();
  };
}

/** Notes work until its promise settles. */
export async function trackWork<T>(work: { kind: string; name: string }, run: () => Promise<T>): Promise<T> {
  const end = beginWork(work.kind, work.name);
  try {
    return await run();
  } finally {
    end();
  }
}

/** Who may have blocked the loop since `from`: work that began or ended since then, else all that was running. */
function findSuspects(from: number): Work[] {
  const all = [...running];
  const moved = all.filter(({ begunAt, endedAt = -1 }) => begunAt >= from || endedAt >= from);
  return moved.length > 0 ? moved : all;
}

function forgetEnded(): void {
  for (const work of running) if (work.endedAt !== undefined) running.delete(work);
}

/** Logs and counts blocks of the event loop of more than 200 ms, with the route or tool that ran. */
export function watchEventLoop(log: Logger): { close(): void } {
  let last = performance.now();
  const timer = setInterval(() => {
    const now = performance.now();
    const blockedMs = Math.round(now - last - CHECK_MS);
    if (blockedMs > BLOCK_MS) {
      const suspects = findSuspects(last);
      const kinds = new Set(suspects.map(({ kind }) => kind));
      const [only = 'unknown'] = kinds;
      eventLoopBlocks.inc({ work: kinds.size > 1 ? 'several' : only });
      const work = [...new Set(suspects.map(({ name }) => name))].slice(0, MAX_NAMES);
      log.warn({ blockedMs, work }, 'the event loop was blocked');
    }
    forgetEnded();
    last = now;
  }, CHECK_MS);
  timer.unref();
  return { close: () => clearInterval(timer) };
}
