/**
 * The seeds of a suite: `trials` from `first` on. `CAPSTAN_CRASH_SEED` names a single one to be run again,
 * `CAPSTAN_CRASH_TRIALS` cuts the number while developing.
 */
export function readSeeds(suite: { first: number; trials: number }): number[] {
  const { CAPSTAN_CRASH_SEED: seed, CAPSTAN_CRASH_TRIALS: trials } = process.env;
  if (seed !== undefined) return [Number(seed)];
  const count = trials === undefined ? suite.trials : Math.min(Number(trials), suite.trials);
  return Array.from({ length: count }, (_, index) => suite.first + index);
}
