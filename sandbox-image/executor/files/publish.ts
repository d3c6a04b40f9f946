import { linkSync, lstatSync, mkdirSync, renameSync, rmdirSync, unlinkSync } from 'node:fs';
import { discardTree } from './remove.ts';
import { temporaryBeside } from './temporary.ts';

/**
 * Publishes a file atomically. Without `overwrite` the kernel rejects an existing name (EEXIST): exactly one of several
 * concurrent writers succeeds, also across executors.
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
    // concurrently moved away by another caller, who now owns the file
    unlinkSync(at);
    throw error;
  }
}

/** Like `publishFile`: an empty folder reserves the name first, and only an empty folder is replaced. */
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
