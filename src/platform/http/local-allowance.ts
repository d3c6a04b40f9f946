import type { Allowance } from '../limits/limits.ts';

const MAX_KEYS = 10_000;

type Window = { used: number; endsAt: number };

/**
 * Allowances of this process alone, for the time in which the shared counters cannot be reached. Fixed windows as there;
 * a replica knows nothing of the others, so callers may get the limit once from each. `now` is in milliseconds.
 */
export function openLocalAllowance(periodMs: number, now: () => number = () => performance.now()) {
  const windows = new Map<string, Window>();
  return {
    take(key: string, limit: number): Allowance {
      const known = windows.get(key);
      const window = known !== undefined && known.endsAt > now() ? known : { used: 0, endsAt: now() + periodMs };
      const allowed = window.used < limit;
      if (allowed) window.used += 1;
      windows.delete(key);
      windows.set(key, window);
      const [oldest] = windows.keys();
      if (windows.size > MAX_KEYS && oldest !== undefined) windows.delete(oldest);
      return { allowed, limit, remaining: Math.max(0, limit - window.used), resetMs: window.endsAt - now() };
    },
  };
}
