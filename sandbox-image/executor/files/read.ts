import { closeSync, constants, createReadStream, fstatSync, openSync, readSync } from 'node:fs';
import type { Readable } from 'node:stream';
import type { FileEntry, FileStat } from '../../../src/sandbox/protocol/executor.ts';
import { fileError } from '../executor-error.ts';
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

/** What is to be read, open, and where it ends. */
type Opened = { stat: FileStat | FileEntry; length: number; fd: number };

/** The file's bytes from `offset`, at most `length`: a small part as it is, else a stream that closes the descriptor. */
export async function openForReading(
  root: string,
  request: ReadRequest,
  digests: Digests,
): Promise<{ stat: FileStat | FileEntry; length: number; body: Uint8Array | Readable }> {
  const { stat, length, fd } = await openPart(root, request, digests);
  if (length <= SMALL_BYTES) {
    const body = readPart(fd, request.offset, length);
    return { stat, length: body.length, body };
  }
  const { offset } = request;
  try {
    const body = createReadStream('', { fd, start: offset, end: offset + length - 1, highWaterMark: PIECE });
    return { stat, length, body };
  } catch (error) {
    closeSync(fd);
    throw error;
  }
}

/** As `openForReading`, for a reader who opens by itself what is more than `maxBytes`. */
export async function readForLink(
  root: string,
  request: ReadRequest,
  digests: Digests,
  maxBytes: number,
): Promise<{ stat: FileStat | FileEntry; bytes: Uint8Array | undefined }> {
  const { stat, length, fd } = await openPart(root, request, digests);
  if (length <= maxBytes) return { stat, bytes: readPart(fd, request.offset, length) };
  closeSync(fd);
  return { stat, bytes: undefined };
}

/** Throws ENOENT, EISDIR, EINVAL (no regular file), ETOOBIG. */
async function openPart(root: string, request: ReadRequest, digests: Digests): Promise<Opened> {
  const { path, offset } = request;
  const located = locate(root, path);
  try {
    if (located.fd === undefined) throw fileError('ENOENT', path);
    const held = fstatSync(located.fd);
    if (held.isDirectory()) throw fileError('EISDIR', path);
    // a pipe would block the open, a device could be anything
    if (!held.isFile()) throw fileError('EINVAL', path);
    if (held.size > request.maxFileBytes) throw fileError('ETOOBIG', path);
    const stat = request.describe
      ? await describeOpen(located.fd, located.relative, digests)
      : toFileStat(held, located.relative);
    const length = Math.max(0, Math.min(stat.sizeBytes, offset + request.length) - offset);
    return { stat, length, fd: openSync(`/proc/self/fd/${located.fd}`, constants.O_RDONLY) };
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
