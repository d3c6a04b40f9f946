import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { openPglite } from '../../src/backends/db/pglite.ts';
import { findFaults } from '../support/crash/check.ts';
import { keepServer } from '../support/crash/keep.ts';
import { findUnrest } from '../support/crash/rest.ts';
import { readSeeds } from '../support/crash/seeds.ts';
import { runTrial } from '../support/crash/trial.ts';
import { buildWorkload } from '../support/crash/workload.ts';

// Each trial runs a server, a database and sandboxes of its own.
vi.setConfig({ maxConcurrency: 2 });

const seeds = readSeeds({ first: 0, trials: 140 });
const LOOKED_INTO_EVERY = 5;

async function prepare(folder: string, seed: number) {
  const dataDir = join(folder, 'database');
  const check = async () => {
    if (seed % LOOKED_INTO_EVERY !== 0) return [];
    const db = await openPglite({ dataDir });
    return findUnrest(db).finally(() => db.close());
  };
  return { env: {}, check, close: async () => {} };
}

describe('a server with embedded backends, killed and started again', { timeout: 120_000 }, () => {
  let kills = 0;

  it.concurrent.each(seeds)('keeps its word with seed %i', async (seed) => {
    const result = await runTrial(buildWorkload(seed), keepServer, (folder) => prepare(folder, seed));
    kills += result.kills;
    expect(findFaults(result), `CAPSTAN_CRASH_SEED=${seed}`).toEqual([]);
  });

  it.runIf(seeds.length > 1)('was killed in nearly every trial', () => {
    expect(kills).toBeGreaterThan(seeds.length * 0.9);
  });
});
