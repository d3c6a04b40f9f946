// Tests: test/operator/runtime/own-writes.test.ts, test/cluster/operator-repair.test.ts
import { readVersion } from './expectations.ts';

/** Separates the operator's own status writes from those of others, which must be repaired. */
export class OwnWrites {
  readonly #cachedVersion: (key: string) => string | undefined;
  readonly #onForeign: (key: string) => void;
  readonly #writing = new Set<string>();
  readonly #versions = new Map<string, string>();

  /** `onForeign` is called if somebody else has written during our own write. */
  constructor(cachedVersion: (key: string) => string | undefined, onForeign: (key: string) => void) {
    this.#cachedVersion = cachedVersion;
    this.#onForeign = onForeign;
  }

  /** Wraps one write of a key's status. `write` returns the new version from the API server. */
  async track(key: string, write: () => Promise<string | undefined>): Promise<void> {
    this.#writing.add(key);
    try {
      const version = await write();
      if (version !== undefined) this.#versions.set(key, version);
      const cached = this.#cachedVersion(key);
      if (isNewer(cached, version)) this.#onForeign(key);
    } finally {
      this.#writing.delete(key);
    }
  }

  /** Of a watch event. During our own write it counts as ours; `track` compares the versions afterwards. */
  isOwn(key: string, version: string): boolean {
    return this.#writing.has(key) || this.#versions.get(key) === version;
  }

  forget(key: string): void {
    this.#versions.delete(key);
  }
}

function isNewer(left: string | undefined, right: string | undefined): boolean {
  const [a, b] = [readVersion(left ?? ''), readVersion(right ?? '')];
  return a !== undefined && b !== undefined && a > b;
}
