// Tests: test/operator/clock.test.ts

/** Clocks of nodes may differ by this much. */
export const MAX_AHEAD_MS = 5 * 60_000;

/**
 * Milliseconds since a recorded time. A time further ahead than clocks may differ was recorded by a wrong clock, and
 * would otherwise delay what depends on it until then: it counts as long past (`Infinity`).
 */
export function measureElapsed(at: string, now: Date): number {
  const elapsedMs = now.getTime() - Date.parse(at);
  return elapsedMs < -MAX_AHEAD_MS ? Infinity : Math.max(0, elapsedMs);
}
