import { mkdtempSync, rmSync, statfsSync } from 'node:fs';
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

const made: string[] = [];
process.once('exit', () => {
  for (const folder of made) rmSync(folder, { recursive: true, force: true });
});

/** A new folder for a test's files. What is left of it goes with the process. */
export function makeScratch(name: string): string {
  const folder = mkdtempSync(join(findBase(), `capstan-${name}-`));
  made.push(folder);
  return folder;
}
