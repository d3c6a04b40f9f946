import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';

/** What is kept of a volume beside its files. */
export type VolumeRecord = { sizeBytes: number; usedBytes: number; createdAt: string; updatedAt: string };

export type VolumeSizes = { initialBytes: number; maxBytes: number };

/** Past this part of its size a volume is doubled. */
const FULL = 0.8;

function recordPath(folder: string): string {
  return `${folder}.json`;
}

export function findRecord(folder: string): VolumeRecord | undefined {
  try {
    return JSON.parse(readFileSync(recordPath(folder), 'utf8')) as VolumeRecord;
  } catch {
    return undefined;
  }
}

/** The folder with its record; one that is there stays as it is. */
export function createVolume(folder: string, sizes: VolumeSizes): VolumeRecord {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const found = findRecord(folder);
  if (found !== undefined) return found;
  const now = new Date().toISOString();
  const record = { sizeBytes: sizes.initialBytes, usedBytes: 0, createdAt: now, updatedAt: now };
  writeRecord(folder, record);
  return record;
}

/** Doubles the size until what is used fits well, or the largest size is reached; it never shrinks. */
export function decideSize(sizeBytes: number, usedBytes: number, maxBytes: number): number {
  let size = sizeBytes;
  while (usedBytes > size * FULL && size < maxBytes) size = Math.min(size * 2, maxBytes);
  return size;
}

/** Keeps what is used by now, and grows the volume with it. Undefined when the volume is gone. */
export function noteUsage(folder: string, usedBytes: number, sizes: VolumeSizes): VolumeRecord | undefined {
  const record = findRecord(folder);
  if (record === undefined) return undefined;
  const sizeBytes = decideSize(record.sizeBytes, usedBytes, sizes.maxBytes);
  if (sizeBytes === record.sizeBytes && usedBytes === record.usedBytes) return record;
  const updatedAt = sizeBytes === record.sizeBytes ? record.updatedAt : new Date().toISOString();
  const next = { ...record, usedBytes, sizeBytes, updatedAt };
  writeRecord(folder, next);
  return next;
}

function writeRecord(folder: string, record: VolumeRecord): void {
  const path = recordPath(folder);
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  writeFileSync(`${path}.tmp`, JSON.stringify(record), { mode: 0o600 });
  renameSync(`${path}.tmp`, path);
}
