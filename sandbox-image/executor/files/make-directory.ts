import { fstatSync, lstatSync, mkdirSync } from 'node:fs';
import type { FileStat } from '../../../src/sandbox/protocol/executor.ts';
import { fileError } from '../executor-error.ts';
import { locate } from './resolve.ts';
import { toFileStat } from './stat.ts';

/**
 * Returns an existing directory unchanged. Throws EEXIST (a file has the name), ENOENT (no parent, without
 * `createParents`).
 */
export function makeDirectory(
  root: string,
  path: string,
  options: { createParents: boolean; protect?: readonly string[] | undefined } = { createParents: true },
): FileStat {
  const located = locate(root, path, options);
  try {
    if (located.fd !== undefined) {
      const stats = fstatSync(located.fd);
      if (!stats.isDirectory()) throw fileError('EEXIST', path);
      return toFileStat(stats, located.relative);
    }
    try {
      mkdirSync(located.at);
    } catch (error) {
      // concurrently created by another executor of the volume
      const there = lstatSync(located.at, { throwIfNoEntry: false });
      if (there?.isDirectory() !== true) throw error;
    }
    return toFileStat(lstatSync(located.at), located.relative);
  } finally {
    located.close();
  }
}
