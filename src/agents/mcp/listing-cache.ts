import type { ServerListing } from './tools.ts';

/** What servers said about themselves, kept for a while. */
export type ListingCache = {
  /**
   * What is known at once, or what becomes known within `patienceMs`; undefined otherwise. Old knowledge is used while
   * it is renewed, and a server that has just failed is not waited for again. Never throws.
   */
  find(key: string, load: () => Promise<ServerListing>, patienceMs: number): Promise<ServerListing | undefined>;
};

type Entry = {
  listing?: ServerListing;
  /** after which it is renewed */
  freshUntil: number;
  /** before which a server that failed is left alone */
  failedUntil: number;
  loading?: Promise<ServerListing | undefined>;
};

const FRESH_MS = 5 * 60_000;
const FAILED_MS = 30_000;
const MAX_ENTRIES = 1000;

export function openListingCache(): ListingCache {
  const entries = new Map<string, Entry>();

  const renew = (entry: Entry, load: () => Promise<ServerListing>): Promise<ServerListing | undefined> => {
    entry.loading ??= load().then(
      (listing) => {
        delete entry.loading;
        entry.freshUntil = performance.now() + FRESH_MS;
        return (entry.listing = listing);
      },
      () => {
        delete entry.loading;
        entry.failedUntil = performance.now() + FAILED_MS;
        return undefined;
      },
    );
    return entry.loading;
  };

  return {
    async find(key, load, patienceMs) {
      const entry = entries.get(key) ?? { freshUntil: 0, failedUntil: 0 };
      entries.delete(key);
      entries.set(key, entry);
      const [oldest] = entries.keys();
      if (entries.size > MAX_ENTRIES && oldest !== undefined) entries.delete(oldest);
      const now = performance.now();
      if (entry.freshUntil > now) return entry.listing;
      if (entry.failedUntil > now) return entry.listing;
      const loading = renew(entry, load);
      if (entry.listing !== undefined) return entry.listing;
      let timer: NodeJS.Timeout | undefined;
      const patience = new Promise<undefined>((resolve) => {
        timer = setTimeout(() => resolve(undefined), patienceMs);
      });
      return await Promise.race([loading, patience]).finally(() => clearTimeout(timer));
    },
  };
}
