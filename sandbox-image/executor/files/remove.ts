import { closeSync, fstatSync, readdirSync, renameSync, rmdirSync, unlinkSync } from 'node:fs';
import { setImmediate } from 'node:timers/promises';
import { fileError } from '../executor-error.ts';
import { locate } from './resolve.ts';
import { temporaryBeside } from './temporary.ts';
import { openDirectory } from './walk.ts';

/** Entries removed before yielding to other work. */
const BATCH = 500;

/**
 * Removes a link itself, never its target. A folder is hidden atomically, then removed entry by entry; if that fails,
 * the rest is restored. Throws ENOENT, ENOTEMPTY (a non-empty folder without `recursive`), EINVAL (the workspace).
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

/** Renames a folder to a hidden name, then removes it. */
export async function discardTree(at: string): Promise<void> {
  const trash = temporaryBeside(at);
  renameSync(at, trash);
  try {
    await removeTree(trash);
  } catch (error) {
    try {
      renameSync(trash, at);
    } catch {
      // the name is taken again: the hidden folder is swept later
    }
    throw error;
  }
}

/** Removes the entry at `at`, of any kind, through descriptors. */
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
