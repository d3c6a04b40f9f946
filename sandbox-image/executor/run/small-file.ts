// Tests: test/sandbox/process/suspended.test.ts
import { closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs';

/** Neither follows a link nor waits for the writer of a pipe. */
const FLAGS = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/**
 * Reads a file that a command may have replaced by anything. Null when there is none; throws for what is no regular file
 * or longer than `maxBytes`.
 */
export function readSmallFile(path: string, maxBytes: number): string | null {
  let file: number;
  try {
    file = openSync(path, FLAGS);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
  try {
    const stat = fstatSync(file);
    if (!stat.isFile() || stat.size > maxBytes) throw new Error('not a file of this program');
    return readFileSync(file, 'utf8');
  } finally {
    closeSync(file);
  }
}
