import { ModelError } from './model.ts';
import type { UpstreamTarget } from './upstream/dialect.ts';

/** A rejected key is paused for this time. */
const REJECTED_MS = 300_000;
/** Bounds for the pause of a key over its rate limit, which the provider names. */
const LIMITED_MS = { min: 1000, default: 10_000, max: 120_000 };

/** The keys of one provider, used in rotation. A rejected key is paused. */
export class KeyRing {
  readonly #keys: readonly string[];
  readonly #restsUntil = new Map<string, number>();
  readonly #now: () => number;
  #next = 0;

  constructor(keys: readonly string[], now: () => number = () => performance.now()) {
    this.#keys = keys;
    this.#now = now;
  }

  /** The keys to try for one call. If all are paused: the one whose pause ends first. */
  order(): string[] {
    const start = this.#next;
    this.#next = (start + 1) % this.#keys.length;
    const turned = [...this.#keys.slice(start), ...this.#keys.slice(0, start)];
    const until = (key: string) => this.#restsUntil.get(key) ?? 0;
    const usable = turned.filter((key) => until(key) <= this.#now());
    if (usable.length > 0) return usable;
    return turned.sort((a, b) => until(a) - until(b)).slice(0, 1);
  }

  /** Pauses the key if the error is about the key. False: another key would fail as well. */
  refuse(key: string, error: ModelError): boolean {
    const { min, max, default: usual } = LIMITED_MS;
    if (error.code === 'authentication') this.#restsUntil.set(key, this.#now() + REJECTED_MS);
    else if (error.code === 'rate_limited') {
      const ms = Math.min(max, Math.max(min, error.retryAfterMs ?? usual));
      this.#restsUntil.set(key, this.#now() + ms);
    } else return false;
    return true;
  }
}

/** Streams with the next key, and with the one after it if the provider rejects the key before the first item. */
export async function* streamWithKeys<T>(ring: KeyRing, stream: (key: string) => AsyncIterable<T>): AsyncGenerator<T> {
  let last: ModelError | undefined;
  for (const key of ring.order()) {
    let begun = false;
    try {
      for await (const item of stream(key)) {
        begun = true;
        yield item;
      }
      return;
    } catch (error) {
      if (begun || !(error instanceof ModelError) || !ring.refuse(key, error)) throw error;
      last = error;
    }
  }
  throw last ?? new ModelError('authentication', 'The provider has no API key.');
}

export type KeyedStream = <T>(
  target: UpstreamTarget,
  stream: (target: UpstreamTarget) => AsyncIterable<T>,
) => AsyncIterable<T>;

/** Streams over the target with its keys in rotation, if it has several. */
export function buildKeyedStream(): KeyedStream {
  const rings = new WeakMap<readonly string[], KeyRing>();
  return (target, stream) => {
    const { apiKeys } = target;
    if (apiKeys === undefined) return stream(target);
    const ring = rings.get(apiKeys) ?? new KeyRing(apiKeys);
    rings.set(apiKeys, ring);
    return streamWithKeys(ring, (apiKey) => stream({ ...target, apiKey }));
  };
}
