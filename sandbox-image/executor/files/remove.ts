import { closeSync, fstatSync, readdirSync, renameSync, rmdirSync, unlinkSync } from 'node:fs';
import { setImmediate } from 'node:timers/promises';
import { fileError } from '../executor-error.ts';
import { locate } from './resolve.ts';
import { temporaryBeside } from './temporary.ts';
import { openDirectory } from './walk.ts';

/** Entries removed before others get their turn. */
const BATCH = 500;

/**
 * A link is removed itself, never what it points at. A folder goes from sight at once, then entry by entry; when that
 * fails, the rest comes back. Throws ENOENT, ENOTEMPTY (a full folder without `recursive`), EINVAL (the workspace).
 */
export async function removeFile(
  root: string,
  path: string,
  options: { recursive: boolean; protect?: readonly string[] | undefined },
): Promise<void> {
  const place = locate(root, path, { followLast: false, protect: options.protect });
  try {
    if (place.fd === undefined) throw fileError('ENOENT', path);
    if (place.relative === '.') throw fileError('EINVAL', path);
    if (!fstatSync(place.fd).isDirectory()) {
      unlinkSync(place.at);
      return;
    }
    if (readdirSync(`/proc/self/fd/${place.fd}`).length === 0 || !options.recursive) {
      rmdirSync(place.at);
      return;
    }
    await discardTree(place.at);
  } finally {
    place.close();
  }
}

/** Takes a folder out of sight, then removes it. */
export async function discardTree(at: string): Promise<void> {
  const trash = temporaryBeside(at);
  renameSync(at, trash);
  try {
    await removeTree(trash);
  } catch (error) {
    try {
      renameSync(trash, at);
    } catch {
      // something else has the name by now: the trash is swept later
    }
    throw error;
  }
}

/** Removes what is at `at`, whatever it is, through descriptors. */
export async function removeTree(at: string): Promise<void> {
  const first = openDirectory(at);
  if (first === undefined) {
    unlinkSync(at);
    return;
  }
  const stack = [{ at, fd: first, names: listNames(first) }];
  let count = 0;
  try {
    for (let top = stack.at(-1); top !== undefined; top = stack.at(-1)) {
      if (++count % BATCH === 0) await setImmediate();
      const name = top.names.pop();
      if (name === undefined) {
        rmdirSync(top.at);
        stack.pop();
        closeSync(top.fd);
        continue;
      }
      const entry = `/proc/self/fd/${top.fd}/${name}`;
      const fd = openDirectory(entry);
      if (fd === undefined) unlinkQuietly(entry);
      else stack.push({ at: entry, fd, names: listNames(fd) });
    }
  } finally {
    for (const level of stack) closeSync(level.fd);
  }
}

function listNames(fd: number): string[] {
  try {
    return readdirSync(`/proc/self/fd/${fd}`);
  } catch (error) {
    closeSync(fd);
    throw error;
  }
}

function unlinkQuietly(at: string): void {
  try {
    unlinkSync(at);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
}
