// A disk that fills up at random moments: CAPSTAN_DISK_FULLS sets how many (default 6), CAPSTAN_CRASH_SEED names the
// seeds.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openPglite } from '../../src/platform/db/pglite.ts';
import { findFaults } from '../support/crash/check.ts';
import { keepOnDisk } from '../support/crash/keep.ts';
import { findUnrest } from '../support/crash/rest.ts';
import { readSeeds } from '../support/crash/seeds.ts';
import { runTrial } from '../support/crash/trial.ts';
import { buildBlows } from '../support/crash/workload.ts';
import { canMount, mountSmallDisk } from '../support/small-disk.ts';
import type { SmallDisk } from '../support/small-disk.ts';

/** Number of moments in one workload. */
const MOMENTS = 2;
const fills = Number(process.env['CAPSTAN_DISK_FULLS'] ?? 6);
const chains = readSeeds({ first: 7000, trials: Math.ceil(fills / MOMENTS) });

/**
 * The database has its own disk, without the free-space floor: this tests the case in which the floor was not enough.
 */
function prepareDisk() {
  let disk: SmallDisk | undefined;
  return {
    find: () => disk,
    prepare: async (folder: string) => {
      const dataDir = join(folder, 'database');
      mkdirSync(dataDir);
      disk = mountSmallDisk(300, dataDir);
      const check = async () => {
        const db = await openPglite({ dataDir });
        return findUnrest(db).finally(() => db.close());
      };
      const env = { CAPSTAN_STORAGE_FLOOR_MIB: '0', CAPSTAN_STORAGE_FLOOR_PERCENT: '0' };
      return { env, check, close: async () => disk?.close() };
    },
  };
}

describe.runIf(canMount)('a server whose database has no space left', { timeout: 1_500_000 }, () => {
  it.for(chains)('loses nothing accepted and doubles nothing, seeds $seeds', async ({ seeds }) => {
    const { find, prepare } = prepareDisk();
    const workloads = seeds.map((seed) => buildBlows(seed, 'fill', MOMENTS));
    const result = await runTrial(workloads, keepOnDisk(find), prepare);
    expect(result.kills).toBeGreaterThan(0);
    expect(findFaults(result), `CAPSTAN_CRASH_SEED=${seeds.join()}`).toEqual([]);
  });
});
