import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { statfsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeScratch } from './scratch.ts';

export type SmallDisk = {
  folder: string;
  freeBytes(): number;
  /** Fills the disk until this much is left; a later call with a larger value frees space. */
  leave(bytes: number): void;
  close(): void;
};

/** A file system of its own of so many MiB, mounted on `folder`. Undefined where this process may not mount one. */
export function mountSmallDisk(sizeMiB: number, folder = makeScratch('disk')): SmallDisk | undefined {
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${sizeMiB}m`, 'tmpfs', folder], { stdio: 'ignore' });
  } catch {
    return undefined;
  }
  const freeBytes = () => {
    const { bavail, bsize } = statfsSync(folder);
    return bavail * bsize;
  };
  const filler = join(folder, `filler-${randomBytes(4).toString('hex')}`);
  return {
    folder,
    freeBytes,
    leave(bytes) {
      writeFileSync(filler, '');
      try {
        writeFileSync(filler, Buffer.alloc(Math.max(0, freeBytes() - bytes)));
      } catch (error) {
        // Others write meanwhile: the disk is full.
        if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
      }
    },
    close: () => void execFileSync('umount', ['--lazy', folder]),
  };
}

/** Whether tests that need a small disk can run here. */
export const canMount = (() => {
  const disk = mountSmallDisk(1);
  disk?.close();
  return disk !== undefined;
})();
