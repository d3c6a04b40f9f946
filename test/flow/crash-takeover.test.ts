import { describe, expect, it } from 'vitest';
import { findShared, prepareShared } from '../support/crash/backends.ts';
import { findFaults, hasUnknownOutcome } from '../support/crash/check.ts';
import { keepCluster, keepServer } from '../support/crash/keep.ts';
import type { Keep } from '../support/crash/keep.ts';
import { readSeeds } from '../support/crash/seeds.ts';
import { runTrial } from '../support/crash/trial.ts';
import { buildBlows } from '../support/crash/workload.ts';
import type { Blow } from '../support/crash/workload.ts';

const BLOWS = 2;
const services = await findShared();

describe.runIf(services)('two workers beside an API', { timeout: 1_500_000 }, () => {
  let blows = 0;

  async function suffer(seeds: readonly number[], blow: Blow, keep: Keep) {
    const workloads = seeds.map((seed) => buildBlows(seed, blow, BLOWS));
    const result = await runTrial(workloads, keep, () => prepareShared(services));
    blows += result.kills;
    return { faults: findFaults(result), isUnknown: hasUnknownOutcome(result) };
  }

  it.for(readSeeds({ first: 2000, trials: 8 }))(
    'one takes over when the other is killed, seeds $seeds',
    async ({ seeds }) => {
      const { faults } = await suffer(seeds, 'kill', keepCluster);
      expect(faults).toEqual([]);
    },
  );

  it.for(readSeeds({ first: 3000, trials: 8 }))(
    'one that wakes up too late changes nothing, seeds $seeds',
    async ({ seeds }) => {
      const { faults } = await suffer(seeds, 'freeze', keepCluster);
      expect(faults).toEqual([]);
    },
  );

  it.for(readSeeds({ first: 4000, trials: 6 }))(
    'one that is ended ends what it began, seeds $seeds',
    async ({ seeds }) => {
      expect(await suffer(seeds, 'drain', keepCluster)).toEqual({ faults: [], isUnknown: false });
    },
  );

  it.for(readSeeds({ first: 5000, trials: 6 }))(
    'a lone server that is ended loses nothing, seeds $seeds',
    async ({ seeds }) => {
      expect(await suffer(seeds, 'drain', keepServer)).toEqual({ faults: [], isUnknown: false });
    },
  );

  it('was struck at work', () => {
    expect(blows).toBeGreaterThan(0);
  });
});
