import { setTimeout as delay } from 'node:timers/promises';
import { ModelError } from './model.ts';
import type { ModelDelta } from './model.ts';
import type { RetryBudget } from './retry-budget.ts';

export type RetryPolicy = {
  /** tries of one upstream, the first included */
  attempts: number;
  /** the first wait is random between 0 and this; each further wait has twice the maximum */
  baseMs: number;
  /** maximum wait; an upstream that demands a longer wait is not retried */
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
  /** tries of this upstream; absent: the policy's */
  attempts?: number | undefined;
  /** context window, tokens; absent: unknown */
  contextWindow?: number;
  stream(signal: AbortSignal): AsyncIterable<T>;
};

/** Observes the attempts of a call. `begun` is called when an upstream begins to answer, `ms` after the request. */
export type CallObserver = { failed(failure: Failure): void; begun?(name: string, ms: number): void };

export type Failure = { name: string; attempt: number; error: ModelError; waitMs: number | undefined };

/** Milliseconds until the next try of the same upstream; undefined: no further try. */
export function decideWait(error: ModelError, attempt: number, policy: RetryPolicy): number | undefined {
  if (!error.retryable || attempt >= policy.attempts) return undefined;
  const asked = error.retryAfterMs ?? 0;
  if (asked > policy.maxMs) return undefined;
  // Full jitter, added to the wait that the upstream demands.
  const backOff = policy.random() * policy.baseMs * 2 ** (attempt - 1);
  return Math.min(policy.maxMs, asked + backOff);
}

/** Whether a delta contains nothing of the reply yet. */
function isStart(delta: unknown): boolean {
  return (delta as ModelDelta).type === 'start';
}

/** One call and its retry rules. */
export type RetriedCall<T = ModelDelta> = {
  /** the upstreams to try, in order; called when the stream is first read */
  choose: () => readonly Candidate<T>[];
  policy: RetryPolicy;
  signal: AbortSignal;
  watch: CallObserver;
  /**
   * whether an item contains nothing of the reply yet, so that another upstream may still be tried; absent: `start`
   * deltas
   */
  isSilent?: (item: T) => boolean;
  /**
   * whether an item ends a reply that a content filter blocked; absent: a blocked reply does not lead to the next
   * upstream
   */
  isBlocked?: ((item: T) => boolean) | undefined;
};

/** Waits before the next try of the same upstream. False: no further try. */
async function waitForRetry<T>(
  { policy, signal, watch }: RetriedCall<T>,
  { name, group = name, attempts = policy.attempts }: Candidate<T>,
  attempt: number,
  error: ModelError,
): Promise<boolean> {
  const wait = decideWait(error, attempt, { ...policy, attempts });
  const waitMs = wait !== undefined && policy.budget?.take(group) === false ? undefined : wait;
  watch.failed({ name, attempt, error, waitMs });
  if (waitMs === undefined) return false;
  await policy.sleep(waitMs, signal).catch((cause: unknown) => {
    signal.throwIfAborted();
    throw cause;
  });
  return true;
}

/** Whether the error concerns the provider's key, billing or model: another provider may accept the call. */
function isProvidersFault({ code, status = 0 }: ModelError): boolean {
  return code === 'authentication' || code === 'unknown_model' || (status >= 401 && status <= 404);
}

/** The following upstreams that may succeed after this error. */
function listFollowers<T>(
  error: ModelError,
  { contextWindow = 0 }: Candidate<T>,
  others: readonly Candidate<T>[],
  call: RetriedCall<T>,
): readonly Candidate<T>[] {
  if (error.retryable || isProvidersFault(error)) return others;
  if (error.code === 'context_overflow') return others.filter((other) => (other.contextWindow ?? 0) > contextWindow);
  return call.isBlocked !== undefined && error.isContentPolicy ? others : [];
}

function blocked(): ModelError {
  const code = 'content_filter';
  return new ModelError('invalid_request', 'The provider blocked the reply.', { upstream: { code } });
}

/**
 * Tries the candidates in order, each several times as far as its retry budget allows, until one begins to answer.
 * After that, its failure is the caller's. Silent items are held back until the first item that is not silent. Throws
 * the last error, at once if another try would not help, and the signal's reason when it aborts.
 */
export async function* streamWithRetries<T = ModelDelta>(call: RetriedCall<T>): AsyncGenerator<T> {
  const { policy, signal, watch, isSilent = isStart, isBlocked } = call;
  let last: ModelError | undefined;
  let [candidate, ...others] = call.choose();
  while (candidate !== undefined) {
    const { name, group = name } = candidate;
    policy.budget?.add(group);
    for (let attempt = 1; ; attempt += 1) {
      const asked = performance.now();
      let begun = false;
      const held: T[] = [];
      try {
        for await (const item of candidate.stream(signal)) {
          if (!begun && isSilent(item)) {
            held.push(item);
            continue;
          }
          if (!begun) {
            if (others.length > 0 && isBlocked?.(item) === true) throw blocked();
            watch.begun?.(name, performance.now() - asked);
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
        if (await waitForRetry(call, candidate, attempt, error)) continue;
        [candidate, ...others] = listFollowers(error, candidate, others, call);
        break;
      }
    }
  }
  throw last ?? new ModelError('unknown_model', 'No provider serves this model.');
}
