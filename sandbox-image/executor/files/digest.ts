import { createHash } from 'node:crypto';
import { fstatSync } from 'node:fs';
import type { BigIntStats } from 'node:fs';
import { open } from 'node:fs/promises';
import { openTextCheck } from './text-check.ts';

/** Larger files are never served, and hashing them would take too long. */
export const MAX_DIGEST_BYTES = 41_943_040;
const MAX_KNOWN = 20_000;
const PIECE = 1024 * 1024;
/** A change within one tick of the file system's clock cannot be detected. */
const SETTLED_MS = 100;

export type Digest = { sha256: string; text: boolean };

export type Digests = {
  /** Digest of an open file, by descriptor; undefined if it is too large or unreadable. */
  compute(fd: number): Promise<Digest | undefined>;
  /** Stores the digest that a writer has computed. */
  note(fd: number, digest: Digest): void;
};

function keyOf(stats: BigIntStats): string {
  return [stats.dev, stats.ino, stats.size, stats.mtimeNs, stats.ctimeNs].join(':');
}

/** Computes the digest of a stream. */
export function openDigest(): { push(chunk: Uint8Array): void; end(): Digest } {
  const hash = createHash('sha256');
  const check = openTextCheck();
  return {
    push(chunk) {
      hash.update(chunk);
      check.push(chunk);
    },
    end: () => ({ sha256: hash.digest('hex'), text: check.end() }),
  };
}

/** Cache of the 20,000 most recent digests, by inode, size and times, so that a changed file gets a new entry. */
export function openDigests(): Digests {
  const known = new Map<string, Digest>();
  const remember = (key: string, digest: Digest): void => {
    known.delete(key);
    known.set(key, digest);
    const [oldest] = known.keys();
    if (known.size > MAX_KNOWN && oldest !== undefined) known.delete(oldest);
  };
  return {
    async compute(fd) {
      const stats = fstatSync(fd, { bigint: true });
      if (stats.size > MAX_DIGEST_BYTES) return undefined;
      const key = keyOf(stats);
      const found = known.get(key);
      if (found !== undefined) {
        remember(key, found);
        return found;
      }
      const digest = await readDigest(fd);
      const settled = Date.now() - Number(stats.mtimeMs) > SETTLED_MS;
      if (digest !== undefined && settled && keyOf(fstatSync(fd, { bigint: true })) === key) remember(key, digest);
      return digest;
    },
    note: (fd, digest) => remember(keyOf(fstatSync(fd, { bigint: true })), digest),
  };
}

/** Reads an open file and computes its digest; undefined if it is too large or unreadable. */
export async function readDigest(fd: number): Promise<Digest | undefined> {
  const digest = openDigest();
  let file;
  try {
    file = await open(`/proc/self/fd/${fd}`, 'r');
  } catch {
    return undefined;
  }
  try {
    const piece = Buffer.allocUnsafe(PIECE);
    for (let size = 0; size <= MAX_DIGEST_BYTES;) {
      const { bytesRead } = await file.read(piece, 0, PIECE, size);
      if (bytesRead === 0) return digest.end();
      digest.push(piece.subarray(0, bytesRead));
      size += bytesRead;
    }
    return undefined;
  } finally {
    await file.close();
  }
}
