import type { Allowance, Limits } from './limits.ts';

type Window = { used: number; endsAt: number };

const SWEEP_MS = 30_000;

/** Counters of this process. Windows that ended are forgotten within half a minute. `now` is in milliseconds. */
export function openMemoryLimits(now: () => number = Date.now): Limits & { readonly size: number } {
  const windows = new Map<string, Window>();
  const sweep = setInterval(() => {
    for (const [key, { endsAt }] of windows) if (endsAt <= now()) windows.delete(key);
  }, SWEEP_MS).unref();

  function findOpen(key: string): Window | undefined {
    const window = windows.get(key);
    return window && window.endsAt > now() ? window : undefined;
  }

  function take(key: string, points: number, limit: number, periodMs: number): Allowance {
    let window = findOpen(key);
    const allowed = (window?.used ?? 0) + points <= limit;
    if (allowed && points > 0) {
      window ??= { used: 0, endsAt: now() + periodMs };
      window.used += points;
      windows.set(key, window);
    }
    return {
      allowed,
      limit,
      remaining: Math.max(0, limit - (window?.used ?? 0)),
      resetMs: window ? window.endsAt - now() : periodMs,
    };
  }

  return {
    get size() {
      return windows.size;
    },
    take: (...args) => Promise.resolve(take(...args)),
    refund: (key, points) => {
      const window = findOpen(key);
      if (window) window.used = Math.max(0, window.used - points);
      return Promise.resolve();
    },
    ping: () => Promise.resolve(),
    close: () => {
      clearInterval(sweep);
      windows.clear();
      return Promise.resolve();
    },
  };
}
