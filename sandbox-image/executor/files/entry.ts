import { closeSync, constants, fstatSync, lstatSync, openSync, readSync } from 'node:fs';
import type { Stats } from 'node:fs';
import type { FileEntry } from '../../../src/sandbox/protocol/executor.ts';
import { ExecutorError } from '../executor-error.ts';
import type { Digests } from './digest.ts';
import { locate } from './resolve.ts';
import { toFileStat } from './stat.ts';

/** Enough bytes for every known file signature. */
const HEAD_BYTES = 4100;

function nameSpecial(stats: Stats): FileEntry['special'] {
  if (stats.isFile() || stats.isDirectory()) return null;
  if (stats.isSymbolicLink()) return 'symlink';
  if (stats.isFIFO()) return 'fifo';
  return stats.isSocket() ? 'socket' : 'device';
}

function toEntry(stats: Stats, path: string): FileEntry {
  const createdMs = stats.birthtimeMs > 0 ? stats.birthtimeMs : Math.min(stats.ctimeMs, stats.mtimeMs);
  return {
    ...toFileStat(stats, path),
    createdMs,
    sha256: null,
    text: null,
    head: null,
    special: nameSpecial(stats),
  };
}

function readHead(fd: number): string | null {
  let open: number | undefined;
  try {
    open = openSync(`/proc/self/fd/${fd}`, constants.O_RDONLY);
    const head = Buffer.allocUnsafe(HEAD_BYTES);
    return head.subarray(0, readSync(open, head, 0, HEAD_BYTES, 0)).toString('base64');
  } catch {
    return null;
  } finally {
    if (open !== undefined) closeSync(open);
  }
}

/** Describes the entry of a descriptor, which must stay open meanwhile. */
export async function describeOpen(fd: number, path: string, digests: Digests): Promise<FileEntry> {
  const stats = fstatSync(fd);
  const entry = toEntry(stats, path);
  if (!stats.isFile()) return entry;
  const digest = await digests.compute(fd);
  return { ...entry, head: readHead(fd), sha256: digest?.sha256 ?? null, text: digest?.text ?? null };
}

/** Null if nothing exists. Follows links inside the workspace; returns the requested path. */
export async function describeFile(root: string, path: string, digests: Digests): Promise<FileEntry | null> {
  let located;
  try {
    located = locate(root, path);
  } catch (error) {
    if (error instanceof ExecutorError && (error.code === 'ENOENT' || error.code === 'ENOTDIR')) return null;
    throw error;
  }
  try {
    return located.fd === undefined ? null : await describeOpen(located.fd, located.relative, digests);
  } finally {
    located.close();
  }
}

/** Like `describeFile`, but describes a link itself if it is broken, circular or leads outside. */
export async function describeListed(root: string, path: string, digests: Digests): Promise<FileEntry | null> {
  const found = await describeFile(root, path, digests).catch((error: unknown) => {
    if (isUnreachable(error)) return null;
    throw error;
  });
  if (found !== null) return { ...found, path: path.slice(root.length + 1) };
  return describeLink(root, path);
}

function isUnreachable(error: unknown): boolean {
  return error instanceof ExecutorError || (error as NodeJS.ErrnoException).code === 'EACCES';
}

function describeLink(root: string, path: string): FileEntry | null {
  let located;
  try {
    located = locate(root, path, { followLast: false });
  } catch (error) {
    if (isUnreachable(error)) return null;
    throw error;
  }
  try {
    if (located.fd === undefined) return null;
    return toEntry(lstatSync(located.at), located.relative);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  } finally {
    located.close();
  }
}
