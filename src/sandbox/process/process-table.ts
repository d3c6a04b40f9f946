import { readFileSync, readdirSync, readlinkSync, statSync, statfsSync } from 'node:fs';

/** One process of the machine; `memoryBytes` is what it holds in memory, shared pages included. */
export type ProcessRow = { pid: number; parent: number; memoryBytes: number };

const PAGE_BYTES = 4096;
const PARENT_FIELD = 1;
const RESIDENT_FIELD = 21;

/** Every process that this one can see. The name in `stat` may hold anything, so fields count from its last `)`. */
export function listProcesses(): ProcessRow[] {
  return readdirSync('/proc').flatMap((name) => {
    if (!/^\d+$/.test(name)) return [];
    try {
      const text = readFileSync(`/proc/${name}/stat`, 'latin1');
      const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
      const memoryBytes = Number(fields[RESIDENT_FIELD]) * PAGE_BYTES;
      return [{ pid: Number(name), parent: Number(fields[PARENT_FIELD]), memoryBytes }];
    } catch {
      return [];
    }
  });
}

/** `root` and everything below it. The first process of a pid namespace adopts whatever loses its parent. */
export function findDescendants(rows: readonly ProcessRow[], root: number): ProcessRow[] {
  const children = Map.groupBy(rows, ({ parent }) => parent);
  const found = rows.filter(({ pid }) => pid === root);
  for (const row of found) found.push(...(children.get(row.pid) ?? []));
  return found;
}

/** What a file system in memory holds, as the process `pid` sees it. */
export function measureMemoryFiles(pid: number, path: string): number {
  try {
    const { bsize, blocks, bfree } = statfsSync(`/proc/${pid}/root${path}`);
    return (blocks - bfree) * bsize;
  } catch {
    return 0;
  }
}

/** Bytes on disk of files on device `dev` that are deleted and still open in one of the processes. */
export function measureDeletedFiles(pids: readonly number[], dev: number): number {
  const seen = new Map<number, number>();
  for (const pid of pids) {
    for (const fd of listDescriptors(pid)) {
      try {
        if (!readlinkSync(fd).endsWith(' (deleted)')) continue;
        const stats = statSync(fd);
        if (stats.dev === dev && stats.nlink === 0) seen.set(stats.ino, stats.blocks * 512);
      } catch {
        // closed meanwhile
      }
    }
  }
  return [...seen.values()].reduce((sum, bytes) => sum + bytes, 0);
}

function listDescriptors(pid: number): string[] {
  try {
    return readdirSync(`/proc/${pid}/fd`).map((fd) => `/proc/${pid}/fd/${fd}`);
  } catch {
    return [];
  }
}
