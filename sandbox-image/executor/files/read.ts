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
  /** larger files are rejected */
  maxFileBytes: number;
  /** include facts about the content */
  describe: boolean;
};

const PIECE = 256 * 1024;
/** Reading small content in one call is cheaper than streaming it. */
const SMALL_BYTES = 64 * 1024;

/** An open file and the range to read. */
type Opened = { stat: FileStat | FileEntry; length: number; fd: number };

/** Up to `length` bytes from `offset`: a buffer if small, otherwise a stream that closes the descriptor. */
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

/** Like `openForReading`, for a reader that opens content over `maxBytes` itself. */
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

/** Throws ENOENT, EISDIR, EINVAL (not a regular file), ETOOBIG. */
async function openPart(root: string, request: ReadRequest, digests: Digests): Promise<Opened> {
  const { path, offset } = request;
  const located = locate(root, path);
  try {
    if (located.fd === undefined) throw fileError('ENOENT', path);
    const held = fstatSync(located.fd);
    if (held.isDirectory()) throw fileError('EISDIR', path);
    // opening a pipe would block; a device may have side effects
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

/** Closes the descriptor. Returns fewer than `length` bytes if the file was truncated meanwhile. */
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
