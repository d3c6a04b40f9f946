import { McpServerError } from './mcp-error.ts';
import type { ServerListing } from './tools.ts';

/** What a server offers, or why that is not known: a sentence that quotes no credential. */
export type ListingResult = { listing: ServerListing } | { unavailable: string };

/** The listings of servers, in memory. */
export type ListingCache = {
  /**
   * The listing under `key`: at once when it is known, else as soon as `load` resolves, within the cache's time limit.
   * A stale listing is returned while it is renewed. After a failure the server is asked again each time, but waited
   * for only briefly, so that a server that hangs does not hold up every turn. Never rejects. `server` names what
   * `clearFailures` clears.
   */
  find(entry: { key: string; server: string }, load: () => Promise<ServerListing>): Promise<ListingResult>;
  /** Forgets that listing this server failed, so that the next turn waits for it as for a new one. */
  clearFailures(server: string): void;
};

type Entry = {
  server: string;
  listing?: ServerListing;
  /** on the clock of `performance.now()` */
  freshUntil: number;
  failure?: string;
  loading?: Promise<ListingResult>;
};

const FRESH_MS = 5 * 60_000;
const RETRY_WAIT_MS = 1000;
const MAX_ENTRIES = 1000;

/** `timeoutMs`: how long a turn waits for a server that has not been listed yet. */
export function openListingCache(timeoutMs: number): ListingCache {
  const entries = new Map<string, Entry>();

  return {
    async find({ key, server }, load) {
      const entry = entries.get(key) ?? { server, freshUntil: 0 };
      entries.delete(key);
      entries.set(key, entry);
      const [oldest] = entries.keys();
      if (entries.size > MAX_ENTRIES && oldest !== undefined) entries.delete(oldest);
      const now = performance.now();
      const loading = entry.freshUntil <= now ? renew(entry, load) : undefined;
      if (entry.listing !== undefined) return { listing: entry.listing };
      if (loading === undefined) return { unavailable: describeTimeout(timeoutMs) };
      const { failure } = entry;
      if (failure === undefined) {
        const result = await waitAtMost(loading, timeoutMs, describeTimeout(timeoutMs));
        if ('unavailable' in result && entry.listing === undefined) entry.failure ??= result.unavailable;
        return result;
      }
      return await waitAtMost(loading, Math.min(RETRY_WAIT_MS, timeoutMs), failure);
    },
    clearFailures(server) {
      for (const entry of entries.values()) if (entry.server === server) delete entry.failure;
    },
  };
}

/** At most one request per entry runs at a time. */
function renew(entry: Entry, load: () => Promise<ServerListing>): Promise<ListingResult> {
  entry.loading ??= load()
    .then(
      (listing): ListingResult => {
        entry.listing = listing;
        entry.freshUntil = performance.now() + FRESH_MS;
        delete entry.failure;
        return { listing };
      },
      (error: unknown): ListingResult => {
        const reason = error instanceof McpServerError ? error.message : 'It could not be asked for its tools.';
        entry.failure = reason;
        return { unavailable: reason };
      },
    )
    .finally(() => delete entry.loading);
  return entry.loading;
}

async function waitAtMost(
  loading: Promise<ListingResult>,
  timeoutMs: number,
  otherwise: string,
): Promise<ListingResult> {
  const { promise, resolve } = Promise.withResolvers<ListingResult>();
  const timer = setTimeout(() => resolve({ unavailable: otherwise }), timeoutMs);
  return await Promise.race([loading, promise]).finally(() => clearTimeout(timer));
}

function describeTimeout(timeoutMs: number): string {
  return `It did not list its tools within ${timeoutMs / 1000} s.`;
}
