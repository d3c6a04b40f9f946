import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';

/** A volume's metadata, stored beside its folder. */
export type VolumeRecord = {
  sizeBytes: number;
  usedBytes: number;
  createdAt: string;
  updatedAt: string;
  /** the user that its files belong to, where the server runs as root */
  uid?: number;
};

export type VolumeSizes = { initialBytes: number; maxBytes: number };

/** A volume is doubled when it is fuller than this. */
const GROW_AT = 0.8;

export function recordPath(folder: string): string {
  return `${folder}.json`;
}

export function findRecord(folder: string): VolumeRecord | undefined {
  try {
    return JSON.parse(readFileSync(recordPath(folder), 'utf8')) as VolumeRecord;
  } catch {
    return undefined;
  }
}

/** Creates the folder and its record; an existing record stays unchanged. */
export function createVolume(folder: string, sizes: VolumeSizes): VolumeRecord {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const found = findRecord(folder);
  if (found !== undefined) return found;
  const now = new Date().toISOString();
  const record = { sizeBytes: sizes.initialBytes, usedBytes: 0, createdAt: now, updatedAt: now };
  writeRecord(folder, record);
  return record;
}

/** Doubles the size until the usage is below 80 % of it, or the maximum is reached. It never shrinks. */
export function decideSize(sizeBytes: number, usedBytes: number, maxBytes: number): number {
  let size = sizeBytes;
  while (usedBytes > size * GROW_AT && size < maxBytes) size = Math.min(size * 2, maxBytes);
  return size;
}

/** Stores the usage and grows the volume accordingly. Undefined when the volume was deleted. */
export function recordUsage(folder: string, usedBytes: number, sizes: VolumeSizes): VolumeRecord | undefined {
  const record = findRecord(folder);
  if (record === undefined) return undefined;
  const sizeBytes = decideSize(record.sizeBytes, usedBytes, sizes.maxBytes);
  if (sizeBytes === record.sizeBytes && usedBytes === record.usedBytes) return record;
  const updatedAt = sizeBytes === record.sizeBytes ? record.updatedAt : new Date().toISOString();
  const next = { ...record, usedBytes, sizeBytes, updatedAt };
  writeRecord(folder, next);
  return next;
}

export function writeRecord(folder: string, record: VolumeRecord): void {
  const path = recordPath(folder);
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  writeFileSync(`${path}.tmp`, JSON.stringify(record), { mode: 0o600 });
  renameSync(`${path}.tmp`, path);
}
