import type { Connection } from './connection.ts';

/** Connections that stay open between calls, by key; one that is idle for long is closed. */
export type ConnectionPool = {
  /** Opens at most one connection per key. */
  take(key: string, open: () => Promise<Connection>): Promise<Connection>;
  /** Forgets a connection that is of no use any longer. */
  drop(key: string, connection: Connection): void;
  close(): Promise<void>;
};

type Entry = { connection: Promise<Connection>; opened?: Connection; usedAt: number };

const IDLE_MS = 5 * 60_000;
const SWEEP_MS = 30_000;
const MAX_OPEN = 500;

export function openConnectionPool(): ConnectionPool {
  const entries = new Map<string, Entry>();

  const remove = (key: string, entry: Entry): void => {
    if (entries.get(key) === entry) entries.delete(key);
    entry.connection.then((connection) => connection.close()).catch(() => undefined);
  };

  const add = (connection: Promise<Connection>): Entry => {
    const entry: Entry = { connection, usedAt: 0 };
    connection.then(
      (opened) => (entry.opened = opened),
      () => undefined,
    );
    return entry;
  };

  const sweep = setInterval(() => {
    const oldest = performance.now() - IDLE_MS;
    for (const [key, entry] of entries) if (entry.usedAt < oldest) remove(key, entry);
  }, SWEEP_MS);
  sweep.unref();

  return {
    take(key, open) {
      const entry = entries.get(key) ?? add(open());
      entry.usedAt = performance.now();
      // Put at the end: the first entry is the one unused for longest.
      entries.delete(key);
      entries.set(key, entry);
      entry.connection.catch(() => {
        if (entries.get(key) === entry) entries.delete(key);
      });
      const [first] = entries;
      if (entries.size > MAX_OPEN && first !== undefined) remove(...first);
      return entry.connection;
    },
    drop(key, connection) {
      const entry = entries.get(key);
      if (entry?.opened === connection) remove(key, entry);
    },
    async close() {
      clearInterval(sweep);
      const all = [...entries.values()];
      entries.clear();
      await Promise.allSettled(all.map(async ({ connection }) => (await connection).close()));
    },
  };
}
