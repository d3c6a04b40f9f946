import { closeSync, constants, fchmodSync, fstatSync, futimesSync, lstatSync, openSync, unlinkSync } from 'node:fs';
import { open } from 'node:fs/promises';
import type { WriteResult } from '../../../src/contract/executor.ts';
import { fileFault } from '../fault.ts';
import type { Account } from './account.ts';
import { sizeOf } from './account.ts';
import { openDigest } from './digest.ts';
import type { Digest, Digests } from './digest.ts';
import { describeOpen } from './entry.ts';
import { publishFile } from './publish.ts';
import { locate } from './resolve.ts';
import type { Located } from './resolve.ts';
import { toFileStat } from './stat.ts';
import { temporaryBeside } from './temporary.ts';

export type WriteOptions = {
  ifModifiedMs?: number;
  mode?: number;
  maxBytes: number;
  overwrite: boolean;
  createParents: boolean;
  protect?: readonly string[] | undefined;
  /** what the source will come to, where that is known: its room is kept from the start */
  sizeBytes?: number | undefined;
  /** the result is to hold what the content is */
  describe?: boolean;
};

export type WriteParts = { root: string; account: Account; digests: Digests };

/**
 * Streams into a temporary file beside the target and puts it in place in one step, so a reader sees the old file or
 * the new one. Keeps the old file's mode. Throws ECHANGED, EEXIST, ETOOBIG (as soon as the limit is passed), EDQUOT,
 * EISDIR, ESCAPE, ENOENT, ERESERVED.
 */
export async function writeFile(
  { root, account, digests }: WriteParts,
  path: string,
  source: AsyncIterable<Uint8Array>,
  options: WriteOptions,
): Promise<WriteResult> {
  const target = locate(root, path, { createParents: options.createParents, protect: options.protect });
  try {
    if (target.relative === '.') throw fileFault('EISDIR', path);
    const old = target.fd === undefined ? undefined : fstatSync(target.fd);
    if (old?.isDirectory() === true) throw fileFault('EISDIR', path);
    if (old !== undefined && !old.isFile()) throw fileFault('EINVAL', path);
    checkUnchanged(target, path, options);
    const room = await account.reserve(path);
    const temporary = temporaryBeside(target.at);
    const mode = options.mode ?? (old === undefined ? 0o644 : old.mode & 0o7777);
    try {
      const expected = Math.min(options.sizeBytes ?? 0, options.maxBytes);
      room.take(expected);
      const digest = await fill(temporary, source, options.maxBytes, path, (bytes, size) =>
        room.take(Math.max(0, Math.min(bytes, size - expected))),
      );
      // no await from here on: no other write of this executor can come between check and effect
      checkUnchanged(target, path, options);
      const fd = openSync(temporary, constants.O_RDONLY | constants.O_NOFOLLOW);
      try {
        const stat = publish(fd, temporary, target.at, { mode, oldMs: old?.mtimeMs, overwrite: options.overwrite });
        room.settle(sizeOf(stat) - sizeOf(old));
        // after the last change of the inode's own times, so that the next look finds the same key
        digests.note(fd, digest);
        return {
          stat: toFileStat(stat, target.relative),
          created: old === undefined,
          dirsCreated: target.dirsCreated,
          usedBytes: account.known(),
          ...(options.describe === true ? { entry: await describeOpen(fd, target.relative, digests) } : {}),
        };
      } finally {
        closeSync(fd);
      }
    } catch (error) {
      room.cancel();
      removeQuietly(temporary);
      throw error;
    }
  } finally {
    target.close();
  }
}

async function fill(
  temporary: string,
  source: AsyncIterable<Uint8Array>,
  maxBytes: number,
  path: string,
  take: (bytes: number, size: number) => void,
): Promise<Digest> {
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
  const file = await open(temporary, flags, 0o600);
  const digest = openDigest();
  try {
    let size = 0;
    for await (const chunk of source) {
      size += chunk.length;
      if (size > maxBytes) throw fileFault('ETOOBIG', path);
      take(chunk.length, size);
      digest.push(chunk);
      await file.writeFile(chunk);
    }
    return digest.end();
  } finally {
    await file.close();
  }
}

/** Two writes within one tick of the file system's clock must not look like the same file. */
function publish(
  fd: number,
  temporary: string,
  at: string,
  { mode, oldMs, overwrite }: { mode: number; oldMs: number | undefined; overwrite: boolean },
) {
  fchmodSync(fd, mode);
  if (oldMs !== undefined && fstatSync(fd).mtimeMs === oldMs) futimesSync(fd, oldMs / 1000, oldMs / 1000 + 0.001);
  const stat = fstatSync(fd);
  publishFile(temporary, at, overwrite);
  return stat;
}

function checkUnchanged(target: Located, path: string, options: WriteOptions): void {
  const now = lstatSync(target.at, { throwIfNoEntry: false });
  if (!options.overwrite && now !== undefined) throw fileFault('EEXIST', path);
  if (options.ifModifiedMs === undefined) return;
  if (now === undefined || now.mtimeMs !== options.ifModifiedMs) throw fileFault('ECHANGED', path);
}

function removeQuietly(at: string): void {
  try {
    unlinkSync(at);
  } catch {
    // it was never made, or put in place already
  }
}
