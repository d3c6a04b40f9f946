import { closeSync, constants, openSync } from 'node:fs';
import type { Dirent } from 'node:fs';
import { readdir } from 'node:fs/promises';

const O_PATH = 0x200000;
/** Nothing with a longer path can be named by a caller. */
const MAX_PATH = 4096;

/** `false` keeps the walk out of a folder. */
export type Visit = (path: string, entry: Dirent, at: string) => boolean;

type Level = { fd: number; prefix: string; folders: string[] };

export function openDirectory(at: string): number | undefined {
  try {
    return openSync(at, O_PATH | constants.O_DIRECTORY | constants.O_NOFOLLOW);
  } catch {
    // gone, or a link by now
    return undefined;
  }
}

/**
 * Visits everything below an open directory, through descriptors, so that no link swapped in leads elsewhere; links are
 * visited, not followed. `at` is valid during the visit only. One directory is read at a time, others get their turn
 * in between.
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
    // a folder that nobody may read, or that is gone, holds nothing
    if (code === 'EACCES' || code === 'ENOENT') return [];
    throw error;
  }
}
