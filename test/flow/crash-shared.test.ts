import { describe, expect, it, vi } from 'vitest';
import { findShared, prepareShared } from '../support/crash/backends.ts';
import { findFaults } from '../support/crash/check.ts';
import { keepServer } from '../support/crash/keep.ts';
import { readSeeds } from '../support/crash/seeds.ts';
import { runTrial } from '../support/crash/trial.ts';
import { buildWorkload } from '../support/crash/workload.ts';

// Each trial runs a server, a database and sandboxes of its own.
vi.setConfig({ maxConcurrency: 2 });

const seeds = readSeeds({ first: 1000, trials: 60 });
const services = await findShared();

describe.runIf(services)('a server with shared backends, killed and started again', { timeout: 120_000 }, () => {
  let kills = 0;

  it.concurrent.each(seeds)('keeps its word with seed %i', async (seed) => {
    const result = await runTrial(buildWorkload(seed), keepServer, () => prepareShared(services));
    kills += result.kills;
    expect(findFaults(result), `CAPSTAN_CRASH_SEED=${seed}`).toEqual([]);
  });

  it.runIf(seeds.length > 1)('was killed in nearly every trial', () => {
    expect(kills).toBeGreaterThan(seeds.length * 0.9);
  });
});
