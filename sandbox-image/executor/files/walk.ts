import { closeSync, constants, openSync } from 'node:fs';
import type { Dirent } from 'node:fs';
import { readdir } from 'node:fs/promises';

const O_PATH = 0x200000;
/** Callers cannot name longer paths. */
const MAX_PATH = 4096;

/** `false` keeps the walk out of a folder. */
export type Visit = (path: string, entry: Dirent, at: string) => boolean;

type Level = { fd: number; prefix: string; folders: string[] };

export function openDirectory(at: string): number | undefined {
  try {
    return openSync(at, O_PATH | constants.O_DIRECTORY | constants.O_NOFOLLOW);
  } catch {
    // removed, or replaced by a link
    return undefined;
  }
}

/**
 * Visits every entry below an open directory through descriptors, so that a link swapped in cannot redirect the walk;
 * links are visited, not followed. `at` is valid only during the visit. Reads one directory at a time and yields to
 * other work in between.
 */
export async function walkTree(fd: number, visit: Visit, recursive = true): Promise<void> {
  const first = await readLevel(fd, '', visit);
  if (!recursive) return;
  const stack: Level[] = [first];
  try {
    for (let top = stack.at(-1); top !== undefined; top = stack.at(-1)) {
      const name = top.folders.pop();
      if (name === undefined) {
        stack.pop();
        if (top.fd !== fd) closeSync(top.fd);
        continue;
      }
      const prefix = `${top.prefix}${name}/`;
      const child = prefix.length > MAX_PATH ? undefined : openDirectory(`/proc/self/fd/${top.fd}/${name}`);
      if (child === undefined) continue;
      const level: Level = { fd: child, prefix, folders: [] };
      stack.push(level);
      level.folders = (await readLevel(child, prefix, visit)).folders;
    }
  } finally {
    for (const level of stack) if (level.fd !== fd) closeSync(level.fd);
  }
}

async function readLevel(fd: number, prefix: string, visit: Visit): Promise<Level> {
  const at = `/proc/self/fd/${fd}`;
  const folders: string[] = [];
  for (const entry of await readEntries(at)) {
    const deeper = visit(`${prefix}${entry.name}`, entry, `${at}/${entry.name}`);
    if (deeper && entry.isDirectory()) folders.push(entry.name);
  }
  return { fd, prefix, folders };
}

async function readEntries(at: string): Promise<Dirent[]> {
  try {
    return await readdir(at, { withFileTypes: true });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    // an unreadable or removed folder counts as empty
    if (code === 'EACCES' || code === 'ENOENT') return [];
    throw error;
  }
}
