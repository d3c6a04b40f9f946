import { closeSync, constants, createReadStream, fstatSync, openSync, readSync } from 'node:fs';
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
/** What is read at once costs less than a stream of it. */
const SMALL_BYTES = 64 * 1024;

/**
 * The file's bytes from `offset`, at most `length`: a small part as it is, else a stream that closes the descriptor. Throws ENOENT, EISDIR, EINVAL (no
 * regular file), ETOOBIG.
 */
export async function openForReading(
  root: string,
  request: ReadRequest,
  digests: Digests,
): Promise<{ stat: FileStat | FileEntry; length: number; body: Uint8Array | Readable }> {
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
    const length = Math.max(0, end - offset + 1);
    const fd = openSync(`/proc/self/fd/${located.fd}`, constants.O_RDONLY);
    if (length <= SMALL_BYTES) {
      const body = readPart(fd, offset, length);
      return { stat, length: body.length, body };
    }
    try {
      return {
        stat,
        length,
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

/** Closes the descriptor. Shorter than `length` where the file has become so meanwhile. */
function readPart(fd: number, offset: number, length: number): Uint8Array {
  try {
    const part = Buffer.allocUnsafe(length);
    let size = 0;
    for (let read = -1; size < length && read !== 0; size += read)
      read = readSync(fd, part, size, length - size, offset + size);
    return part.subarray(0, size);
  } finally {
    closeSync(fd);
  }
}
