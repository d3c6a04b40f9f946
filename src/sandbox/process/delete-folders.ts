// Tests: test/sandbox/deleted-volume.test.ts
import { rm } from 'node:fs/promises';
import type { ExecutorPool } from './executor-pool.ts';

/** Stops the executors that match, forgets their state, and deletes these folders and files. */
export async function deleteFolders(
  pool: ExecutorPool,
  matches: (found: { volume: string }) => boolean,
  paths: readonly string[],
): Promise<void> {
  pool.forgetState(matches);
  // Twice: another executor may start after the first ones have stopped and before the files are removed.
  for (let round = 0; round < 2; round += 1) {
    await pool.stopAll(matches);
    for (const path of paths) await rm(path, { recursive: true, force: true, maxRetries: 3 });
  }
}
