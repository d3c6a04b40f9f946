import { execFile } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { SandboxError } from '../sandbox.ts';

/** Unprivileged user ids that sandboxes may have, both ends included. */
export type UidRange = { first: number; last: number };

export const DEFAULT_UIDS: UidRange = { first: 200_000, last: 265_535 };

const COUNTER = 'next-uid';

/** The ids that the records of volumes below `dir` (`<organization>/<agent>/<subject>.json`) name. */
function listTaken(dir: string): Set<number> {
  const taken = new Set<number>();
  for (const name of readdirSync(dir, { recursive: true, encoding: 'utf8' })) {
    if (!name.endsWith('.json') || name.split('/').length !== 3) continue;
    try {
      const { uid } = JSON.parse(readFileSync(join(dir, name), 'utf8')) as { uid?: number };
      if (uid !== undefined) taken.add(uid);
    } catch {
      // removed meanwhile
    }
  }
  return taken;
}

function readCounter(dir: string, range: UidRange): number {
  const path = join(dir, COUNTER);
  const next = existsSync(path) ? Number(readFileSync(path, 'utf8')) : range.first;
  return next >= range.first && next <= range.last + 1 ? next : range.first;
}

function writeCounter(dir: string, next: number): void {
  const path = join(dir, COUNTER);
  writeFileSync(`${path}.tmp`, String(next), { mode: 0o600 });
  renameSync(`${path}.tmp`, path);
}

/**
 * An id that no other volume has. Ids are given out in order; after the last one, those of deleted volumes are used
 * again. Throws `SandboxError` when every id belongs to a volume. Synchronous, so two callers never get the same one.
 */
export function allocateUid(dir: string, range: UidRange): number {
  const next = readCounter(dir, range);
  if (next <= range.last) {
    writeCounter(dir, next + 1);
    return next;
  }
  const taken = listTaken(dir);
  for (let uid = range.first; uid <= range.last; uid += 1) if (!taken.has(uid)) return uid;
  throw new SandboxError(
    `every user id of CAPSTAN_SANDBOX_UIDS (${range.first}-${range.last}) belongs to a volume; widen the range`,
  );
}

/** Gives a volume with all its files to `uid`. Nothing of the volume may run meanwhile; links are not followed. */
export async function chownTree(folder: string, uid: number): Promise<void> {
  await promisify(execFile)('chown', ['-R', '-P', '--no-dereference', `${uid}:${uid}`, '--', folder]);
}
