import { open, readdir } from 'node:fs/promises';
import { join } from 'node:path';

/** Files that are synced at once: the disk serves many in one go, and descriptors are limited. */
const CONCURRENCY = 64;

/** Writes a file, or the names in a folder, to the disk. */
export async function syncPath(path: string): Promise<void> {
  const file = await open(path, 'r');
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}

/** Writes a folder and everything below it to the disk. Links, pipes and sockets are left to their folder. */
export async function syncTree(folder: string): Promise<void> {
  const entries = await readdir(folder, { withFileTypes: true, recursive: true });
  const paths = entries
    .filter((entry) => entry.isFile() || entry.isDirectory())
    .map((entry) => join(entry.parentPath, entry.name));
  const left = [...paths, folder].values();
  const syncNext = async () => {
    for (const path of left) await syncPath(path);
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, syncNext));
}
