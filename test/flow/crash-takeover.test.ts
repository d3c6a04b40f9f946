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

describe.runIf(services)('two workers beside an API', { timeout: 120_000 }, () => {
  let blows = 0;
  let trials = 0;

  async function suffer(seed: number, blow: Blow, keep: Keep) {
    const result = await runTrial(buildBlows(seed, blow, BLOWS), keep, () => prepareShared(services));
    blows += result.kills;
    trials += 1;
    return { faults: findFaults(result), isUnknown: hasUnknownOutcome(result) };
  }

  it.each(readSeeds({ first: 2000, trials: 8 }))('one takes over when the other is killed, seed %i', async (seed) => {
    const { faults } = await suffer(seed, 'kill', keepCluster);
    expect(faults).toEqual([]);
  });

  it.each(readSeeds({ first: 3000, trials: 8 }))(
    'one that wakes up too late changes nothing, seed %i',
    async (seed) => {
      const { faults } = await suffer(seed, 'freeze', keepCluster);
      expect(faults).toEqual([]);
    },
  );

  it.each(readSeeds({ first: 4000, trials: 6 }))('one that is ended ends what it began, seed %i', async (seed) => {
    expect(await suffer(seed, 'drain', keepCluster)).toEqual({ faults: [], isUnknown: false });
  });

  it.each(readSeeds({ first: 5000, trials: 6 }))('a lone server that is ended loses nothing, seed %i', async (seed) => {
    expect(await suffer(seed, 'drain', keepServer)).toEqual({ faults: [], isUnknown: false });
  });

  it('suffered nearly every time', () => {
    expect(blows).toBeGreaterThan(trials * 0.9);
  });
});
