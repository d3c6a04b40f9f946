import { Counter } from 'prom-client';
import type { Logger } from './log.ts';

/** ms from which a block is reported */
const BLOCK_MS = 200;
const CHECK_MS = 100;
/** The same while nothing has run for a while. */
const IDLE_CHECK_MS = 500;
const QUIET_CHECKS = 10;
/** Share of the time that the loop of an idle process is busy, at most. */
const QUIET_SHARE = 0.05;
/** Works that one log line names. */
const MAX_NAMES = 5;

/** `kind`: the label of the metric, one of few; `name`: for the log. `endedAt`: undefined while it runs */
type Work = { kind: string; name: string; begunAt: number; endedAt?: number };

const running = new Set<Work>();
/** called when work begins; undefined: nobody watches, so work that has ended is not kept */
let onWork: (() => void) | undefined;

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
  onWork?.();
  return () => {
    work.endedAt ??= performance.now();
    if (onWork === undefined) running.delete(work);
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
  const watch = new EventLoopWatch(log);
  onWork = () => watch.hurry();
  return {
    close() {
      onWork = undefined;
      watch.close();
      forgetEnded();
    },
  };
}

/** Looks ten times a second while there is work, and twice a second while there is none, which an idle process feels. */
class EventLoopWatch {
  readonly #log: Logger;
  #periodMs = CHECK_MS;
  #quietChecks = 0;
  #last = performance.now();
  #usage = performance.eventLoopUtilization();
  #timer: NodeJS.Timeout;

  constructor(log: Logger) {
    this.#log = log;
    this.#timer = this.#startTimer(CHECK_MS);
  }

  /** Work begins: from now on it looks often. */
  hurry(): void {
    if (this.#periodMs !== CHECK_MS) this.#timer = this.#startTimer(CHECK_MS);
  }

  close(): void {
    clearInterval(this.#timer);
  }

  #startTimer(periodMs: number): NodeJS.Timeout {
    clearInterval(this.#timer);
    this.#periodMs = periodMs;
    this.#quietChecks = 0;
    this.#last = performance.now();
    return setInterval(() => this.#check(), periodMs).unref();
  }

  #check(): void {
    const now = performance.now();
    const blockedMs = Math.round(now - this.#last - this.#periodMs);
    if (blockedMs > BLOCK_MS) this.#report(blockedMs);
    forgetEnded();
    this.#last = now;
    if (this.#isQuiet()) this.#quietChecks += 1;
    else if (this.#periodMs === CHECK_MS) this.#quietChecks = 0;
    else this.hurry();
    if (this.#quietChecks >= QUIET_CHECKS && this.#periodMs === CHECK_MS) {
      this.#timer = this.#startTimer(IDLE_CHECK_MS);
    }
  }

  #isQuiet(): boolean {
    const before = this.#usage;
    this.#usage = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(this.#usage, before);
    return running.size === 0 && utilization < QUIET_SHARE;
  }

  #report(blockedMs: number): void {
    const suspects = findSuspects(this.#last);
    const kinds = new Set(suspects.map(({ kind }) => kind));
    const [only = 'unknown'] = kinds;
    eventLoopBlocks.inc({ work: kinds.size > 1 ? 'several' : only });
    const work = [...new Set(suspects.map(({ name }) => name))].slice(0, MAX_NAMES);
    this.#log.warn({ blockedMs, work }, 'the event loop was blocked');
  }
}
