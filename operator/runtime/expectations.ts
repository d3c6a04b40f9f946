import type { ResourceMeta } from '../../src/platform/kubernetes/resource.ts';

/** A watch that is silent for 35 s is begun again, so what has not come by then was overtaken by something else. */
const FORGET_MS = 60_000;

/** Whoever waits for the cache looks by himself after this time: nothing then hangs on being told. */
export const RECHECK_MS = 5000;

/**
 * What was written and is not in the cache yet. While anything is expected of an object, the cache is older than our
 * own last write, and a decision on it would repeat that write.
 */
export type Expectations = {
  /** After a write that answered with this version; its event may have come before the answer. */
  expect(key: string, resourceVersion: string): void;
  /** When the cache has learned something of the object; `isGone`: that it is no more. */
  observe(key: string, isGone: boolean): void;
  /** False while any of them is expected to change; `waiter` is then told as soon as the first such has. */
  areMet(keys: readonly string[], waiter: string): boolean;
};

type Lookup = (key: string) => { metadata: ResourceMeta } | undefined;
type Expected = { version: bigint; sinceMs: number; waiters: Set<string> };

/** `lookup` finds what the cache holds; `onMet` is told of each that waited, once. */
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
  /** Of an object that is gone nobody may ask again. */
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

/** Versions of one kind are numbers that grow: so etcd makes them, and so Kubernetes promises since 1.35. */
function readVersion(text: string): bigint | undefined {
  return /^\d+$/.test(text) ? BigInt(text) : undefined;
}
