import { setTimeout as delay } from 'node:timers/promises';
import { ModelError } from './model.ts';
import type { ModelDelta } from './model.ts';
import type { RetryBudget } from './retry-budget.ts';

export type RetryPolicy = {
  /** tries of one upstream, the first included */
  attempts: number;
  /** the first wait is random between 0 and this; each further wait has twice the maximum */
  baseMs: number;
  /** maximum wait; an upstream that asks for more is not retried */
  maxMs: number;
  /** absent: retries are not limited */
  budget?: RetryBudget;
  sleep(ms: number, signal: AbortSignal): Promise<unknown>;
  /** 0 to 1 */
  random(): number;
};

export const DEFAULT_RETRY: RetryPolicy = {
  attempts: 3,
  baseMs: 500,
  maxMs: 30_000,
  sleep: (ms, signal) => delay(ms, undefined, { signal }),
  random: Math.random,
};

/** One upstream of a fallback list. */
export type Candidate<T = ModelDelta> = {
  name: string;
  /** the key of its retry budget; absent: its name */
  group?: string;
  stream(signal: AbortSignal): AsyncIterable<T>;
};

/** Observes the attempts of a call. `begun` is called when an upstream begins to answer. */
export type CallObserver = { failed(failure: Failure): void; begun?(name: string): void };

export type Failure = { name: string; attempt: number; error: ModelError; waitMs: number | undefined };

/** Milliseconds until the next try of the same upstream; undefined: it is not tried again. */
export function decideWait(error: ModelError, attempt: number, policy: RetryPolicy): number | undefined {
  if (!error.retryable || attempt >= policy.attempts) return undefined;
  const asked = error.retryAfterMs ?? 0;
  if (asked > policy.maxMs) return undefined;
  // Full jitter, added to what the upstream asked for.
  const backOff = policy.random() * policy.baseMs * 2 ** (attempt - 1);
  return Math.min(policy.maxMs, asked + backOff);
}

/** Whether a delta shows nothing of the reply yet. */
function isStart(delta: unknown): boolean {
  return (delta as ModelDelta).type === 'start';
}

/** One call and how it is retried. */
export type RetriedCall<T = ModelDelta> = {
  /** the upstreams to try, in order; called when the stream is first read */
  choose: () => readonly Candidate<T>[];
  policy: RetryPolicy;
  signal: AbortSignal;
  watch: CallObserver;
  /** whether an item shows nothing of the reply yet, so that another upstream may still be asked; absent: `start` deltas */
  isSilent?: (item: T) => boolean;
};

/** Waits before the next try of the same upstream. False: it gets no other try. Throws what no try can help. */
async function waitForRetry<T>(
  { policy, signal, watch }: RetriedCall<T>,
  { name, group = name }: Candidate<T>,
  attempt: number,
  error: ModelError,
): Promise<boolean> {
  const wait = decideWait(error, attempt, policy);
  const waitMs = wait !== undefined && policy.budget?.take(group) === false ? undefined : wait;
  watch.failed({ name, attempt, error, waitMs });
  if (!error.retryable) throw error;
  if (waitMs === undefined) return false;
  await policy.sleep(waitMs, signal).catch((cause: unknown) => {
    signal.throwIfAborted();
    throw cause;
  });
  return true;
}

/**
 * Tries the candidates in order, each several times as far as its retry budget allows, until one begins to answer. After
 * that, its failure is the caller's. Silent items are held back until the first one that is not.
 * Throws the last error, at once when another try would not help, and the signal's reason when it aborts.
 */
export async function* streamWithRetries<T = ModelDelta>(call: RetriedCall<T>): AsyncGenerator<T> {
  const { policy, signal, watch, isSilent = isStart } = call;
  let last: ModelError | undefined;
  for (const candidate of call.choose()) {
    const { name, group = name } = candidate;
    policy.budget?.add(group);
    for (let attempt = 1; ; attempt += 1) {
      let begun = false;
      const held: T[] = [];
      try {
        for await (const item of candidate.stream(signal)) {
          if (!begun && isSilent(item)) {
            held.push(item);
            continue;
          }
          if (!begun) {
            watch.begun?.(name);
            for (const early of held) yield early;
            begun = true;
          }
          yield item;
        }
        return;
      } catch (error) {
        signal.throwIfAborted();
        if (begun || !(error instanceof ModelError)) throw error;
        last = error;
        if (!(await waitForRetry(call, candidate, attempt, error))) break;
      }
    }
  }
  throw last ?? new ModelError('unknown_model', 'No provider serves this model.');
}
