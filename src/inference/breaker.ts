import type { ModelErrorCode } from './model.ts';

export type BreakerPolicy = {
  /** calls that are considered, by their age, milliseconds */
  windowMs: number;
  /** calls within the window below which an upstream stays in use */
  minCalls: number;
  /** share of failures from which on an upstream is left alone, 0 to 1 */
  failureRate: number;
  /** how long, and how long between the calls that try whether it is back, milliseconds */
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

/**
 * Leaves upstreams alone of which most calls fail. While one is left alone, one call per period tries it. `key` names an
 * upstream and the organization that calls it.
 */
export type Breaker = {
  allows(key: string): boolean;
  succeed(key: string): void;
  fail(key: string, fault: ModelErrorCode): void;
  /** milliseconds until one of these is tried again */
  retryAfterMs(keys: readonly string[]): number;
};

/** A refusal says that the upstream is alive. */
const COUNTS: ReadonlySet<ModelErrorCode> = new Set(['upstream', 'unavailable', 'timeout']);

/** Keys come from callers, so their number is bounded. */
const MAX_KEYS = 20_000;

type Counts = { calls: number; failures: number };
type State = { current: Counts; previous: Counts; since: number; openUntil: number };

export function buildBreaker({ windowMs, minCalls, failureRate, openMs, now }: BreakerPolicy): Breaker {
  const states = new Map<string, State>();
  const half = windowMs / 2;

  /** The state with its window moved on: two halves, of which the older one is forgotten as a whole. */
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
      // Healthy upstreams that never failed need no state.
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
  };
}
