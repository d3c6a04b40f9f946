import type { ModelErrorCode } from './model.ts';

export type BreakerPolicy = {
  /** calls in a row that fail before an upstream is left alone */
  failures: number;
  /** how long, and how long between the calls that try whether it is back */
  openMs: number;
  now: () => number;
};

export const DEFAULT_BREAKER: BreakerPolicy = { failures: 5, openMs: 10_000, now: () => performance.now() };

/** Leaves upstreams alone that fail again and again. Of one that is left alone, one call a period tries it. */
export type Breaker = {
  allows(name: string): boolean;
  succeed(name: string): void;
  fail(name: string, fault: ModelErrorCode): void;
  /** milliseconds until one of these is tried again */
  retryAfterMs(names: readonly string[]): number;
};

/** A refusal says that the upstream is alive. */
const COUNTS: ReadonlySet<ModelErrorCode> = new Set(['upstream', 'unavailable', 'timeout']);

export function buildBreaker({ failures, openMs, now }: BreakerPolicy): Breaker {
  const states = new Map<string, { failures: number; openUntil: number }>();
  return {
    allows(name) {
      const state = states.get(name);
      if (state === undefined || state.failures < failures) return true;
      if (now() < state.openUntil) return false;
      state.openUntil = now() + openMs;
      return true;
    },
    succeed: (name) => void states.delete(name),
    fail(name, fault) {
      if (!COUNTS.has(fault)) return;
      const state = states.get(name) ?? { failures: 0, openUntil: 0 };
      state.failures += 1;
      if (state.failures >= failures) state.openUntil = now() + openMs;
      states.set(name, state);
    },
    retryAfterMs(names) {
      const waits = names.map((name) => (states.get(name)?.openUntil ?? 0) - now());
      return Math.max(0, Math.min(...waits));
    },
  };
}
