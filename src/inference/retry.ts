import { setTimeout as delay } from 'node:timers/promises';
import { ModelError } from './model.ts';
import type { ModelDelta } from './model.ts';
import type { RetryBudget } from './retry-budget.ts';

export type RetryPolicy = {
  /** tries of one upstream, the first included */
  attempts: number;
  /** the first wait is random below this; each further wait below twice as much */
  baseMs: number;
  /** no wait is longer; an upstream that asks for more is not tried again */
  maxMs: number;
  /** absent: every call may be tried again, however many are */
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
  /** whose budget of retries it shares; absent: its own */
  group?: string;
  stream(signal: AbortSignal): AsyncIterable<T>;
};

/** What is told of a call on its way. */
export type Watch = { failed(failure: Failure): void; begun?(name: string): void };

export type Failure = { name: string; attempt: number; error: ModelError; waitMs: number | undefined };

/** Milliseconds until the next try of the same upstream, or undefined when it has had its chances. */
export function decideWait(error: ModelError, attempt: number, policy: RetryPolicy): number | undefined {
  if (!error.retryable || attempt >= policy.attempts) return undefined;
  const asked = error.retryAfterMs ?? 0;
  if (asked > policy.maxMs) return undefined;
  // Full jitter, on top of what the upstream asked for.
  const backOff = policy.random() * policy.baseMs * 2 ** (attempt - 1);
  return Math.min(policy.maxMs, asked + backOff);
}

/** Says nothing yet. */
function isStart(delta: unknown): boolean {
  return (delta as ModelDelta).type === 'start';
}

/**
 * Tries the candidates chosen, in order, each several times as far as its budget goes, until one begins to answer; from then on its failure is the
 * caller's. What says nothing yet is held back until something follows.
 * Throws the last error, at once when another try would not help, and the signal's reason when it aborts.
 */
export async function* streamWithRetries<T = ModelDelta>(
  choose: () => readonly Candidate<T>[],
  policy: RetryPolicy,
  signal: AbortSignal,
  watch: Watch,
  isSilent: (item: T) => boolean = isStart,
): AsyncGenerator<T> {
  let last: ModelError | undefined;
  for (const candidate of choose()) {
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
        const wait = decideWait(error, attempt, policy);
        const waitMs = wait !== undefined && policy.budget?.take(group) === false ? undefined : wait;
        watch.failed({ name, attempt, error, waitMs });
        if (!error.retryable) throw error;
        if (waitMs === undefined) break;
        await policy.sleep(waitMs, signal).catch((cause: unknown) => {
          signal.throwIfAborted();
          throw cause;
        });
      }
    }
  }
  throw last ?? new ModelError('unknown_model', 'No provider serves this model.');
}
