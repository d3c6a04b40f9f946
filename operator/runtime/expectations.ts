import type { ResourceMeta } from '../../src/contract/resources/common.ts';

/** A watch that is silent for 35 s is begun again, so what has not come by then was overtaken by something else. */
const FORGET_MS = 60_000;

/**
 * What was written and is not in the cache yet. While anything is expected of an object, the cache is older than our
 * own last write, and a decision on it would repeat that write.
 */
export type Expectations = {
  /** After a write that answered with this version; its event may have come before the answer. */
  expect(key: string, resourceVersion: string): void;
  /** When the cache learns that the object is gone. */
  observeGone(key: string): void;
  isMet(key: string): boolean;
};

type Lookup = (key: string) => { metadata: ResourceMeta } | undefined;

/** `lookup` finds what the cache holds. */
export function buildExpectations(lookup: Lookup, now: () => number = Date.now): Expectations {
  const expected = new Map<string, { version: bigint; sinceMs: number }>();
  let sweptMs = now();
  /** Of an object that is gone nobody may ask again. */
  const sweep = (): void => {
    sweptMs = now();
    for (const [key, { sinceMs }] of expected) if (sweptMs - sinceMs >= FORGET_MS) expected.delete(key);
  };
  return {
    expect(key, resourceVersion) {
      if (now() - sweptMs >= FORGET_MS) sweep();
      const version = readVersion(resourceVersion);
      const known = expected.get(key);
      if (version !== undefined && (known === undefined || known.version < version)) {
        expected.set(key, { version, sinceMs: now() });
      }
    },
    observeGone: (key) => void expected.delete(key),
    isMet(key) {
      const known = expected.get(key);
      if (known === undefined) return true;
      const cached = readVersion(lookup(key)?.metadata.resourceVersion ?? '');
      if ((cached === undefined || cached < known.version) && now() - known.sinceMs < FORGET_MS) return false;
      expected.delete(key);
      return true;
    },
  };
}

/** Versions of one kind are numbers that grow: so etcd makes them, and so Kubernetes promises since 1.35. */
function readVersion(text: string): bigint | undefined {
  return /^\d+$/.test(text) ? BigInt(text) : undefined;
}
