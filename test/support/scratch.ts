import { mkdtempSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const ENOUGH_BYTES = 2 * 1024 ** 3;

/** Memory where there is plenty, since a test's files need not outlive it and disks of build machines are slow. */
function findBase(): string {
  try {
    const { bavail, bsize } = statfsSync('/dev/shm');
    return bavail * bsize > ENOUGH_BYTES ? '/dev/shm' : tmpdir();
  } catch {
    return tmpdir();
  }
}

/** A new folder for a test's files; whoever makes it deletes it. */
export function makeScratch(name: string): string {
  return mkdtempSync(join(findBase(), `capstan-${name}-`));
}
