import { closeSync, constants, createReadStream, fstatSync, openSync } from 'node:fs';
import type { Readable } from 'node:stream';
import type { FileEntry, FileStat } from '../../../src/contract/executor.ts';
import { fileFault } from '../fault.ts';
import type { Digests } from './digest.ts';
import { describeOpen } from './entry.ts';
import { locate } from './resolve.ts';
import { toFileStat } from './stat.ts';

export type ReadRequest = {
  path: string;
  offset: number;
  length: number;
  /** larger files are refused */
  maxFileBytes: number;
  /** tell what the content is, too */
  describe: boolean;
};

const PIECE = 256 * 1024;

/**
 * The file's bytes from `offset`, at most `length`; the stream closes the descriptor. Throws ENOENT, EISDIR, EINVAL (no
 * regular file), ETOOBIG.
 */
export async function openForReading(
  root: string,
  request: ReadRequest,
  digests: Digests,
): Promise<{ stat: FileStat | FileEntry; length: number; body: Readable | undefined }> {
  const { path, offset } = request;
  const located = locate(root, path);
  try {
    if (located.fd === undefined) throw fileFault('ENOENT', path);
    const held = fstatSync(located.fd);
    if (held.isDirectory()) throw fileFault('EISDIR', path);
    // a pipe would block the open, a device could be anything
    if (!held.isFile()) throw fileFault('EINVAL', path);
    if (held.size > request.maxFileBytes) throw fileFault('ETOOBIG', path);
    const stat = request.describe
      ? await describeOpen(located.fd, located.relative, digests)
      : toFileStat(held, located.relative);
    const end = Math.min(stat.sizeBytes, offset + request.length) - 1;
    if (end < offset) return { stat, length: 0, body: undefined };
    const fd = openSync(`/proc/self/fd/${located.fd}`, constants.O_RDONLY);
    try {
      return {
        stat,
        length: end - offset + 1,
        body: createReadStream('', { fd, start: offset, end, highWaterMark: PIECE }),
      };
    } catch (error) {
      closeSync(fd);
      throw error;
    }
  } finally {
    located.close();
  }
}
