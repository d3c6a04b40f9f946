import { linkSync, lstatSync, mkdirSync, renameSync, rmdirSync, unlinkSync } from 'node:fs';
import { discardTree } from './remove.ts';
import { temporaryBeside } from './temporary.ts';

/**
 * Puts a file in its place in one step. Without `overwrite` the kernel itself refuses a taken name (EEXIST): of any
 * number of writers, in any number of executors, one succeeds.
 */
export function publishFile(from: string, at: string, overwrite: boolean): void {
  if (overwrite) {
    renameSync(from, at);
    return;
  }
  linkSync(from, at);
  try {
    unlinkSync(from);
  } catch (error) {
    // moved away by another at the same moment: the file is theirs
    unlinkSync(at);
    throw error;
  }
}

/** As `publishFile`: an empty folder takes the name first, and only an empty one is replaced. */
export async function publishFolder(from: string, at: string, overwrite: boolean): Promise<void> {
  if (overwrite && exists(at)) {
    const old = temporaryBeside(at);
    renameSync(at, old);
    try {
      renameSync(from, at);
    } catch (error) {
      renameSync(old, at);
      throw error;
    }
    await discardTree(old);
    return;
  }
  mkdirSync(at);
  try {
    renameSync(from, at);
  } catch (error) {
    rmdirSync(at);
    throw error;
  }
}

function exists(at: string): boolean {
  return lstatSync(at, { throwIfNoEntry: false }) !== undefined;
}
