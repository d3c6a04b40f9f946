import { sha256 } from '../crypto.ts';
import { ApiError } from '../errors.ts';
import { openAttempts } from './attempts.ts';

/** A revoked key has to stop within 5 s even where the news of it is lost. */
const CACHE_MS = 3000;
const CACHE_ENTRIES = 10_000;

/** A map that forgets its oldest entry beyond `CACHE_ENTRIES`. */
function setBounded<V>(map: Map<string, V>, id: string, value: V): void {
  map.delete(id);
  map.set(id, value);
  const [oldest] = map.keys();
  if (map.size > CACHE_ENTRIES && oldest !== undefined) map.delete(oldest);
}

/**
 * Keys, or what else names a caller, looked up lately. Unknown ones have a cache of their own, so that they push no known
 * key out. A key that was known once is looked up again however many unknown ones its address has sent: behind a proxy all
 * callers have one address.
 */
export function openKeyCache<T>(find: (text: string) => Promise<T | undefined>, unknownKeysPerMinute: number) {
  type Entry = { key: Promise<T | undefined>; expires: number };
  const known = new Map<string, Entry>();
  const unknown = new Map<string, Entry>();
  const everKnown = new Map<string, true>();
  const attempts = openAttempts(unknownKeysPerMinute);
  return {
    clear() {
      known.clear();
      unknown.clear();
    },
    /** Throws `rate_limited` where `address` has sent too many unknown keys. */
    async find(text: string, address: string | undefined): Promise<T | undefined> {
      const id = sha256(text);
      const now = performance.now();
      const entry = known.get(id) ?? unknown.get(id);
      if (entry !== undefined && entry.expires > now) return entry.key;
      const waitSeconds = everKnown.has(id) ? undefined : attempts.findWaitSeconds(address);
      if (waitSeconds !== undefined) {
        throw new ApiError('rate_limited', 'Too many unknown API keys came from this address.', {
          retryAfterSeconds: waitSeconds,
        });
      }
      const lookup = find(text);
      const fresh = { key: lookup, expires: now + CACHE_MS };
      // Counted from the start, so that many at once do not pass together.
      if (everKnown.has(id)) {
        setBounded(known, id, fresh);
      } else {
        attempts.add(address);
        setBounded(unknown, id, fresh);
      }
      try {
        const key = await lookup;
        if (key !== undefined && !everKnown.has(id)) {
          attempts.remove(address);
          setBounded(everKnown, id, true);
          if (unknown.get(id) === fresh) {
            unknown.delete(id);
            setBounded(known, id, fresh);
          }
        }
        if (key === undefined) everKnown.delete(id);
        return key;
      } catch (error) {
        for (const entries of [known, unknown]) if (entries.get(id) === fresh) entries.delete(id);
        throw error;
      }
    },
  };
}
