import { closeSync, constants, fchmodSync, fstatSync, futimesSync, lstatSync, openSync, unlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { WriteResult } from '../../../src/sandbox/protocol/executor.ts';
import { fileError } from '../executor-error.ts';
import type { QuotaLedger } from './quota.ts';
import { sizeOf } from './quota.ts';
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
  /** size of the content if known: this space is reserved at the start */
  sizeBytes?: number | undefined;
  /** include facts about the content in the result */
  describe?: boolean;
};

export type WriteParts = { root: string; quota: QuotaLedger; digests: Digests };

/** A temporary file beside its target, until the write is finished or cancelled. */
export type OpenWrite = {
  /** path of the temporary file; valid until the end */
  at: string;
  /** the same, relative to the root */
  relative: string;
  /** Reserves space for the next `bytes`, after which the file has `size`. Throws ETOOBIG, EDQUOT. */
  take(bytes: number, size: number): void;
  /** Publishes the file atomically. After an error the write must be cancelled. */
  finish(digest: Digest): Promise<WriteResult>;
  cancel(): void;
};

/**
 * Creates an empty temporary file beside the target, so that readers see either the old file or the new one. Keeps the
 * old file's mode. Throws ECHANGED, EEXIST, ETOOBIG, EDQUOT, EISDIR, ESCAPE, ENOENT, ERESERVED, and so does `finish`.
 */
export async function openWrite(
  { root, quota, digests }: WriteParts,
  path: string,
  options: WriteOptions,
): Promise<OpenWrite> {
  const target = locate(root, path, { createParents: options.createParents, protect: options.protect });
  try {
    if (target.relative === '.') throw fileError('EISDIR', path);
    const old = target.fd === undefined ? undefined : fstatSync(target.fd);
    if (old?.isDirectory() === true) throw fileError('EISDIR', path);
    if (old !== undefined && !old.isFile()) throw fileError('EINVAL', path);
    checkUnchanged(target, path, options);
    const expected = Math.min(options.sizeBytes ?? 0, options.maxBytes);
    if ((options.sizeBytes ?? 0) > options.maxBytes) throw fileError('ETOOBIG', path);
    const reservation = await quota.reserve(path);
    const at = temporaryBeside(target.at);
    const mode = options.mode ?? (old === undefined ? 0o644 : old.mode & 0o7777);
    let done = false;
    const end = (): void => {
      done = true;
      target.close();
    };
    try {
      reservation.take(expected);
      const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
      closeSync(openSync(at, flags, 0o600));
    } catch (error) {
      reservation.cancel();
      throw error;
    }
    return {
      at,
      relative: join(dirname(target.relative), at.slice(at.lastIndexOf('/') + 1)),
      take(bytes, size) {
        if (size > options.maxBytes) throw fileError('ETOOBIG', path);
        reservation.take(Math.max(0, Math.min(bytes, size - expected)));
      },
      async finish(digest) {
        // no await from here on, so that no other write of this executor can interleave
        checkUnchanged(target, path, options);
        const fd = openSync(at, constants.O_RDONLY | constants.O_NOFOLLOW);
        try {
          const stat = publish(fd, at, target.at, { mode, oldMs: old?.mtimeMs, overwrite: options.overwrite });
          reservation.settle(sizeOf(stat) - sizeOf(old));
          // after the last change of the inode's times, so that the next lookup computes the same key
          digests.note(fd, digest);
          const result = {
            stat: toFileStat(stat, target.relative),
            created: old === undefined,
            dirsCreated: target.dirsCreated,
            usedBytes: quota.known(),
            ...(options.describe === true ? { entry: await describeOpen(fd, target.relative, digests) } : {}),
          };
          end();
          return result;
        } finally {
          closeSync(fd);
        }
      },
      cancel() {
        if (done) return;
        reservation.cancel();
        removeQuietly(at);
        end();
      },
    };
  } catch (error) {
    target.close();
    throw error;
  }
}

/** Distinguishes two writes within one tick of the file system's clock. */
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
  if (!options.overwrite && now !== undefined) throw fileError('EEXIST', path);
  if (options.ifModifiedMs === undefined) return;
  if (now === undefined || now.mtimeMs !== options.ifModifiedMs) throw fileError('ECHANGED', path);
}

function removeQuietly(at: string): void {
  try {
    unlinkSync(at);
  } catch {
    // never created, or already published
  }
}
