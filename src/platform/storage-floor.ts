import { statfsSync } from 'node:fs';

/** Free space below which writes are refused: the larger of the two. Zero in both switches it off. */
export type StorageFloor = {
  minBytes: number;
  /** of the whole file system */
  minPercent: number;
};

export type StorageState = { freeBytes: number; floorBytes: number; isFull: boolean };

/** The space on the file system of `folder`, which must exist. Takes microseconds. */
export function readStorage(folder: string, floor: StorageFloor): StorageState {
  const { bavail, blocks, bsize } = statfsSync(folder);
  const freeBytes = bavail * bsize;
  const floorBytes = Math.max(floor.minBytes, Math.floor((blocks * bsize * floor.minPercent) / 100));
  return { freeBytes, floorBytes, isFull: freeBytes < floorBytes };
}
