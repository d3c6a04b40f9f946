import { KEPT_OPERATIONS } from '../../../src/sandbox/protocol/executor.ts';
import type { ExecutorCall, ExecutorFrame } from '../../../src/sandbox/protocol/executor.ts';

const KEPT_MS = 30 * 60_000;
const MAX_KEPT = 1000;
const MAX_KEPT_BYTES = 32 * 1024 * 1024;

type Outcome = Exclude<ExecutorFrame, { type: 'output' | 'request' }>;
type Kept = { outcome: Promise<Outcome>; abort: AbortController; settledMs: number | undefined; bytes: number };

export type Calls = {
  /** Runs the call, or returns the outcome of the first call with this id, finished or not. Never rejects. */
  run(call: ExecutorCall, act: (signal: AbortSignal) => Promise<Outcome>): Promise<Outcome>;
  /** Whether a call is running, or its outcome is kept. False if it was cancelled: its outcome is useless. */
  has(id: string): boolean;
  /** False if no such call is running. */
  cancel(id: string): boolean;
};

/** Stores outcomes of calls with side effects for 30 minutes: at most 1,000 and 32 MiB, oldest evicted first. */
export function openCalls(now: () => number = Date.now): Calls {
  const calls = new Map<string, Kept>();
  let bytes = 0;

  const forget = (id: string, kept: Kept): void => {
    if (calls.get(id) === kept) calls.delete(id);
    bytes -= kept.bytes;
    kept.bytes = 0;
  };

  const prune = (): void => {
    for (const [id, kept] of calls) {
      if (kept.settledMs === undefined) continue;
      const full = calls.size > MAX_KEPT || bytes > MAX_KEPT_BYTES;
      if (full || now() - kept.settledMs > KEPT_MS) forget(id, kept);
    }
  };

  return {
    run(call, act) {
      const known = calls.get(call.id);
      if (known !== undefined) return known.outcome;
      prune();
      const abort = new AbortController();
      const kept: Kept = { outcome: act(abort.signal), abort, settledMs: undefined, bytes: 0 };
      calls.set(call.id, kept);
      void kept.outcome.then((outcome) => {
        kept.settledMs = now();
        kept.bytes = JSON.stringify(outcome).length;
        bytes += kept.bytes;
        if (!KEPT_OPERATIONS.includes(call.operation)) forget(call.id, kept);
      });
      return kept.outcome;
    },
    has: (id) => calls.get(id)?.abort.signal.aborted === false,
    cancel(id) {
      const kept = calls.get(id);
      if (kept === undefined || kept.settledMs !== undefined) return false;
      kept.abort.abort();
      return true;
    },
  };
}
