import type { ModelErrorCode } from './model.ts';

export type BreakerPolicy = {
  /** age limit of the calls that count, in milliseconds */
  windowMs: number;
  /** minimum number of calls in the window before the circuit can open */
  minCalls: number;
  /** share of failures at which the circuit opens, 0 to 1 */
  failureRate: number;
  /** how long the circuit stays open, and the interval of trial calls, in milliseconds */
  openMs: number;
  now: () => number;
};

export const DEFAULT_BREAKER: BreakerPolicy = {
  windowMs: 30_000,
  minCalls: 5,
  failureRate: 0.5,
  openMs: 10_000,
  now: () => performance.now(),
};

/** `open`: no call passes. `half_open`: the next one is a trial. */
export type BreakerState = 'closed' | 'open' | 'half_open';

/**
 * A circuit breaker per upstream. While a circuit is open, one trial call per period passes. `key` names an upstream
 * and the organization that calls it.
 */
export type Breaker = {
  allows(key: string): boolean;
  succeed(key: string): void;
  fail(key: string, fault: ModelErrorCode): void;
  /** milliseconds until the next trial call of any of these keys */
  retryAfterMs(keys: readonly string[]): number;
  getState(key: string): BreakerState;
};

/** A client error shows that the upstream is alive. */
const COUNTS: ReadonlySet<ModelErrorCode> = new Set(['upstream', 'unavailable', 'timeout']);

/** Keys come from callers, so their number is bounded. */
const MAX_KEYS = 20_000;

type Counts = { calls: number; failures: number };
type State = { current: Counts; previous: Counts; since: number; openUntil: number };

export function buildBreaker({ windowMs, minCalls, failureRate, openMs, now }: BreakerPolicy): Breaker {
  const states = new Map<string, State>();
  const half = windowMs / 2;

  /** The state with its window advanced. The window has two halves; the older half is dropped as a whole. */
  function advance(key: string): State {
    const at = now();
    let state = states.get(key);
    if (state === undefined) {
      state = {
        current: { calls: 0, failures: 0 },
        previous: { calls: 0, failures: 0 },
        since: at,
        openUntil: -Infinity,
      };
      const [oldest] = states.keys();
      if (states.size >= MAX_KEYS && oldest !== undefined) states.delete(oldest);
      states.set(key, state);
    }
    const age = at - state.since;
    if (age < half) return state;
    state.previous = age < windowMs ? state.current : { calls: 0, failures: 0 };
    state.current = { calls: 0, failures: 0 };
    state.since = at;
    return state;
  }

  return {
    allows(key) {
      const state = states.get(key);
      if (state === undefined || state.openUntil === -Infinity) return true;
      if (now() < state.openUntil) return false;
      state.openUntil = now() + openMs;
      return true;
    },
    succeed(key) {
      const state = states.get(key);
      // Upstreams that never failed need no state.
      if (state === undefined) return;
      if (state.openUntil !== -Infinity) {
        states.delete(key);
        return;
      }
      const moved = advance(key);
      moved.current.calls += 1;
      if (moved.current.failures + moved.previous.failures === 0) states.delete(key);
    },
    fail(key, fault) {
      if (!COUNTS.has(fault)) return;
      const state = advance(key);
      state.current.calls += 1;
      state.current.failures += 1;
      const calls = state.current.calls + state.previous.calls;
      const failures = state.current.failures + state.previous.failures;
      const failing = calls >= minCalls && failures / calls >= failureRate;
      if (failing || state.openUntil !== -Infinity) state.openUntil = now() + openMs;
    },
    retryAfterMs(keys) {
      const waits = keys.map((key) => (states.get(key)?.openUntil ?? -Infinity) - now());
      return Math.max(0, Math.min(...waits));
    },
    getState(key) {
      const openUntil = states.get(key)?.openUntil ?? -Infinity;
      if (openUntil === -Infinity) return 'closed';
      return now() < openUntil ? 'open' : 'half_open';
    },
  };
}
