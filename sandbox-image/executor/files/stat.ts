import { fstatSync, readdirSync } from 'node:fs';
import type { Stats } from 'node:fs';
import type { FileStat } from '../../../src/sandbox/protocol/executor.ts';
import { ExecutorError, fileError } from '../executor-error.ts';
import { withLocated } from './resolve.ts';

export function toFileStat(stats: Stats, path: string): FileStat {
  const type = stats.isFile() ? 'file' : stats.isDirectory() ? 'directory' : 'other';
  return { path, type, sizeBytes: stats.size, modifiedMs: stats.mtimeMs, mode: stats.mode & 0o7777 };
}

/** Null if nothing exists. */
export function statFile(root: string, path: string): FileStat | null {
  try {
    return withLocated(root, path, ({ fd, relative }) =>
      fd === undefined ? null : toFileStat(fstatSync(fd), relative),
    );
  } catch (error) {
    if (error instanceof ExecutorError && (error.code === 'ENOENT' || error.code === 'ENOTDIR')) return null;
    throw error;
  }
}

/** Sorted by name. A broken link, or one that leads outside, is listed as `other`. */
export function listDirectory(root: string, path: string): FileStat[] {
  return withLocated(root, path, ({ fd, relative }) => {
    if (fd === undefined) throw fileError('ENOENT', path);
    if (!fstatSync(fd).isDirectory()) throw fileError('ENOTDIR', path);
    const names = readdirSync(`/proc/self/fd/${fd}`).sort();
    return names.flatMap((name) => {
      const entry = relative === '.' ? name : `${relative}/${name}`;
      const stat = statEntry(root, entry);
      return stat === null ? [] : [{ ...stat, path: entry }];
    });
  });
}

/** Names are literal: `~` is an ordinary file name. */
function statEntry(root: string, entry: string): FileStat | null {
  const path = `${root}/${entry}`;
  try {
    const stat = statFile(root, path);
    if (stat !== null) return stat;
  } catch (error) {
    if (!(error instanceof ExecutorError)) throw error;
  }
  return withLocated(
    root,
    path,
    ({ fd }) => (fd === undefined ? null : { ...toFileStat(fstatSync(fd), entry), type: 'other' as const }),
    false,
  );
}
