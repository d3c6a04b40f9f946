import type { ResourceMeta } from '../../src/platform/kubernetes/resource.ts';

/** A watch that is silent for 35 s is restarted, so an event that has not come by then was superseded. */
const FORGET_MS = 60_000;

/** A resource that waits for the cache is reconciled after this time even if no event comes. */
export const RECHECK_MS = 5000;

/**
 * Writes that the cache does not contain yet. Until it does, a decision on the cached object would repeat our own last
 * write.
 */
export type Expectations = {
  /** Call after a write, with the version in its response. The watch event may have come before the response. */
  expect(key: string, resourceVersion: string): void;
  /** Call when the cached object changed; `isGone`: it was deleted. */
  observe(key: string, isGone: boolean): void;
  /** False while a write to any of these keys is missing from the cache; `waiter` is then passed to `onMet` later. */
  areMet(keys: readonly string[], waiter: string): boolean;
};

type Lookup = (key: string) => { metadata: ResourceMeta } | undefined;
type Expected = { version: bigint; sinceMs: number; waiters: Set<string> };

/** `lookup` reads the cache. `onMet` is called once for each waiter whose expected write has arrived. */
export function buildExpectations(
  lookup: Lookup,
  onMet: (waiter: string) => void,
  now: () => number = Date.now,
): Expectations {
  const expected = new Map<string, Expected>();
  let sweptMs = now();
  const settle = (key: string): void => {
    const waiters = expected.get(key)?.waiters ?? [];
    expected.delete(key);
    for (const waiter of waiters) onMet(waiter);
  };
  const isMet = (key: string): boolean => {
    const known = expected.get(key);
    if (known === undefined) return true;
    const cached = readVersion(lookup(key)?.metadata.resourceVersion ?? '');
    return (cached !== undefined && cached >= known.version) || now() - known.sinceMs >= FORGET_MS;
  };
  /** Nobody may ask about a deleted object again, so expired entries are removed here. */
  const sweep = (): void => {
    sweptMs = now();
    for (const [key, { sinceMs }] of expected) if (sweptMs - sinceMs >= FORGET_MS) settle(key);
  };
  return {
    expect(key, resourceVersion) {
      if (now() - sweptMs >= FORGET_MS) sweep();
      const version = readVersion(resourceVersion);
      const known = expected.get(key);
      if (version === undefined || (known !== undefined && known.version >= version)) return;
      expected.set(key, { version, sinceMs: now(), waiters: known?.waiters ?? new Set() });
      if (isMet(key)) settle(key);
    },
    observe(key, isGone) {
      if (expected.has(key) && (isGone || isMet(key))) settle(key);
    },
    areMet(keys, waiter) {
      for (const key of keys) {
        if (!isMet(key)) {
          expected.get(key)?.waiters.add(waiter);
          return false;
        }
        settle(key);
      }
      return true;
    },
  };
}

/** Resource versions of one kind are increasing numbers: etcd makes them so, and Kubernetes guarantees it since 1.35. */
export function readVersion(text: string): bigint | undefined {
  return /^\d+$/.test(text) ? BigInt(text) : undefined;
}
