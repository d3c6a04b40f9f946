import { clientNetwork } from './client-address.ts';

const PERIOD_MS = 60_000;
const MAX_NETWORKS = 10_000;

type Window = { count: number; endsAt: number };

/** Counts failed attempts by network in fixed windows of a minute. `now` is in milliseconds. */
export function openAttempts(limit: number, now: () => number = () => performance.now()) {
  const windows = new Map<string, Window>();

  function findOpen(network: string): Window | undefined {
    const window = windows.get(network);
    return window !== undefined && window.endsAt > now() ? window : undefined;
  }

  return {
    /** Seconds until the address may try again; undefined while it may. */
    findWaitSeconds(address: string | undefined): number | undefined {
      const window = findOpen(clientNetwork(address));
      if (window === undefined || window.count < limit) return undefined;
      return Math.max(1, Math.ceil((window.endsAt - now()) / 1000));
    },
    add(address: string | undefined): void {
      const network = clientNetwork(address);
      const window = findOpen(network) ?? { count: 0, endsAt: now() + PERIOD_MS };
      window.count += 1;
      // The network that attempted last is forgotten last.
      windows.delete(network);
      windows.set(network, window);
      const [oldest] = windows.keys();
      if (windows.size > MAX_NETWORKS && oldest !== undefined) windows.delete(oldest);
    },
    /** Takes one attempt back that did not fail. */
    remove(address: string | undefined): void {
      const window = findOpen(clientNetwork(address));
      if (window !== undefined && window.count > 0) window.count -= 1;
    },
  };
}
