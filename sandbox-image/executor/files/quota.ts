import { closeSync, constants, lstatSync, openSync, statfsSync } from 'node:fs';
import type { Stats } from 'node:fs';
import { fileError } from '../executor-error.ts';
import { removeTree } from './remove.ts';
import { isTemporary } from './temporary.ts';
import { walkTree } from './walk.ts';

/** Commands write without reservations, so usage is recounted after this time. */
const STALE_MS = 60_000;
/** Temporary files of this age were left behind by a killed executor. */
const ABANDONED_MS = 10 * 60_000;

type Reservation = { take: (bytes: number) => void; settle: (added: number) => void; cancel: () => void };

export type QuotaLedger = {
  /** Counts again; concurrent callers share one count. */
  count(): Promise<number>;
  /** Reserves space for a write. `take` throws EDQUOT if the bytes do not fit; `settle` reports the final size. */
  reserve(path: string): Promise<Reservation>;
  /** computed from the last count and the writes since then */
  known(): number;
  /**
   * The current usage of the disk if the volume has its own, independent of who wrote. Otherwise as `known`, recounted
   * from time to time, and undefined before the first count.
   */
  recent(): number | undefined;
};

export function sizeOf(stats: Pick<Stats, 'blocks'> | undefined): number {
  return (stats?.blocks ?? 0) * 512;
}

/** Counts the volume's usage in blocks on disk. */
export function openQuotaLedger(root: string, limit: number): QuotaLedger {
  let used = 0;
  let reserved = 0;
  let countedMs = -Infinity;
  let costMs = 0;
  let counting: Promise<number> | undefined;

  const count = (): Promise<number> => {
    const begunMs = Date.now();
    return (counting ??= countTree(root)
      .then((bytes) => {
        countedMs = Date.now();
        costMs = countedMs - begunMs;
        return (used = bytes);
      })
      .finally(() => {
        counting = undefined;
      }));
  };

  return {
    count,
    known: () => used,
    recent() {
      const onDisk = askDisk(root, limit);
      if (onDisk !== undefined) return onDisk;
      // Counting a large tree is slow: spend at most 1 % of the time on it.
      if (Date.now() - countedMs > Math.max(STALE_MS, costMs * 100)) count().catch(() => undefined);
      return countedMs === -Infinity ? undefined : used;
    },
    async reserve(path) {
      const near = used + reserved > limit * 0.8;
      if (countedMs === -Infinity || near) await count();
      else if (Date.now() - countedMs > STALE_MS) count().catch(() => undefined);
      let mine = 0;
      const release = (): void => {
        reserved -= mine;
        mine = 0;
      };
      return {
        take(bytes) {
          if (used + reserved + bytes > limit) throw fileError('EDQUOT', path);
          reserved += bytes;
          mine += bytes;
        },
        settle(added) {
          release();
          used = Math.max(0, used + added);
        },
        cancel: release,
      };
    },
  };
}

/** A disk no larger than the volume's maximum size belongs to the volume alone. */
function askDisk(root: string, limit: number): number | undefined {
  if (!Number.isFinite(limit)) return undefined;
  const { bsize, blocks, bfree } = statfsSync(root);
  return blocks > 0 && blocks * bsize <= limit ? (blocks - bfree) * bsize : undefined;
}

async function countTree(root: string): Promise<number> {
  const fd = openSync(root, constants.O_RDONLY | constants.O_DIRECTORY);
  const linked = new Set<number>();
  const abandoned: string[] = [];
  let bytes = 0;
  try {
    await walkTree(fd, (path, entry, at) => {
      const stats = lstatSync(at, { throwIfNoEntry: false });
      if (stats === undefined) return false;
      if (isTemporary(entry.name) && Date.now() - stats.ctimeMs > ABANDONED_MS) abandoned.push(path);
      if (stats.nlink > 1 && !stats.isDirectory()) {
        if (linked.has(stats.ino)) return false;
        linked.add(stats.ino);
      }
      bytes += sizeOf(stats);
      return true;
    });
  } finally {
    closeSync(fd);
  }
  for (const path of abandoned) await removeTree(`${root}/${path}`).catch(() => undefined);
  return bytes;
}
