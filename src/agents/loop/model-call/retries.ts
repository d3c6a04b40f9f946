import { setTimeout as sleep } from 'node:timers/promises';
import type { StopErrorCode, StopReason } from '../../contract/events.ts';
import { ModelError } from '../../../inference/model.ts';
import type { ModelErrorCode } from '../../../inference/model.ts';
import type { ModelCallDeps, Turn } from '../turn/types.ts';

/** The longest random wait after the first failure; each further failure doubles it, up to the maximum. */
const BASE_MS = 500;
const MAX_MS = 30_000;

const CODES: Record<ModelErrorCode, StopErrorCode> = {
  rate_limited: 'upstream_rate_limited',
  unavailable: 'upstream_overloaded',
  timeout: 'upstream_unavailable',
  upstream: 'upstream_unavailable',
  invalid_request: 'upstream_rejected',
  authentication: 'upstream_authentication',
  unknown_model: 'unknown_model',
  context_overflow: 'context_overflow',
};

/** Whether the same call may succeed later: 408, 409, 425, 429, 5xx, and connections that fail, break or fall silent. */
export function isTransient(error: unknown): error is ModelError {
  if (!(error instanceof ModelError) || error.code === 'context_overflow') return false;
  const { status = 0 } = error;
  return error.retryable || status === 409 || status === 425 || status >= 500;
}

/** How a turn ends that a failed model call ends. */
export function buildModelStop(error: ModelError): Extract<StopReason, { type: 'error' }> {
  const retryable = isTransient(error);
  const code = retryable && !error.retryable ? 'upstream_unavailable' : CODES[error.code];
  return { type: 'error', code, message: error.message, retryable };
}

/**
 * How long to wait before the next try; undefined: the time for retries is over. Full jitter. Never earlier than the
 * provider asked for; a provider that asks for more than the time left is not called again.
 */
export function decidePause(
  { retryAfterMs }: ModelError,
  { attempt, leftMs, random }: { attempt: number; leftMs: number; random: number },
): number | undefined {
  if (leftMs <= 0) return undefined;
  const backOff = random * Math.min(MAX_MS, BASE_MS * 2 ** (attempt - 1));
  if (retryAfterMs === undefined) return Math.min(backOff, leftMs);
  return retryAfterMs > leftMs ? undefined : Math.min(retryAfterMs + backOff, leftMs);
}

/** Waits between the tries of one model call. */
export class ModelRetries {
  readonly #turn: Turn;
  readonly #deps: ModelCallDeps;
  #attempt = 0;
  /** set by the first failure */
  #deadline: number | undefined;

  constructor(turn: Turn, deps: ModelCallDeps) {
    this.#turn = turn;
    this.#deps = deps;
  }

  /** Failed tries so far. */
  get attempts(): number {
    return this.#attempt;
  }

  /** Waits before the next try. Throws `error` when no further try is due, or the reason of a signal at once. */
  async wait(error: unknown): Promise<void> {
    if (!isTransient(error)) throw error;
    const { signal, drain, limits } = this.#deps;
    this.#attempt += 1;
    this.#deadline ??= Date.now() + limits.retryForMs;
    const left = { attempt: this.#attempt, leftMs: this.#deadline - Date.now(), random: Math.random() };
    const pause = decidePause(error, left);
    if (pause === undefined) throw error;
    this.#deps.logError(error, 'model call failed, retrying');
    const { code, message: reason } = buildModelStop(error);
    const retryAt = new Date(Date.now() + pause).toISOString();
    const waiting = { reason, code, attempt: this.#attempt, retryAt };
    await this.#deps.reportWaiting(waiting, this.#turn.id);
    try {
      // Another worker takes the turn over if this one shuts down meanwhile: nothing is under way.
      const stop = drain === undefined ? signal : AbortSignal.any([signal, drain]);
      await sleep(pause, undefined, { signal: stop });
    } catch (cause) {
      if (signal.aborted) throw signal.reason;
      drain?.throwIfAborted();
      throw cause;
    } finally {
      await this.#deps.reportWaiting(null, this.#turn.id);
    }
  }
}
