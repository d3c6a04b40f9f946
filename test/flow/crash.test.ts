import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { openPglite } from '../../src/platform/db/pglite.ts';
import { findFaults } from '../support/crash/check.ts';
import { keepServer } from '../support/crash/keep.ts';
import { findUnrest } from '../support/crash/rest.ts';
import { readSeeds } from '../support/crash/seeds.ts';
import { runTrial } from '../support/crash/trial.ts';
import { buildWorkload } from '../support/crash/workload.ts';

// Each trial runs its own server, database and sandboxes.
vi.setConfig({ maxConcurrency: 2 });

const chains = readSeeds({ first: 0, trials: 140 });

async function prepare(folder: string) {
  const dataDir = join(folder, 'database');
  const check = async () => {
    const db = await openPglite({ dataDir });
    return findUnrest(db).finally(() => db.close());
  };
  return { env: {}, check, close: async () => {} };
}

describe('a server with embedded backends, killed and started again', { timeout: 1_500_000 }, () => {
  let struck = 0;

  it.concurrent.for(chains)('keeps its word with seeds $seeds', async ({ seeds }) => {
    const result = await runTrial(seeds.map(buildWorkload), keepServer, prepare);
    struck += result.struck;
    expect(findFaults(result), `CAPSTAN_CRASH_SEED=${seeds.join()}`).toEqual([]);
  });

  it.runIf(chains.length > 1)('was killed at work', () => {
    expect(struck).toBeGreaterThan(0);
  });
});
