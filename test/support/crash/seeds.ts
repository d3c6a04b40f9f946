/** Workloads of one server: each spares a start, which costs more processor time than a workload does. */
const CHAIN = 4;

export type Chain = { seeds: number[] };

/**
 * The seeds of a suite, `trials` from `first` on, in chains whose workloads run one after the other on one server.
 * `CAPSTAN_CRASH_SEED` names those of a single chain to be run again, such as `2,3,0,1`; `CAPSTAN_CRASH_TRIALS` cuts the
 * number while developing.
 */
export function readSeeds(suite: { first: number; trials: number }): Chain[] {
  const { CAPSTAN_CRASH_SEED: seeds, CAPSTAN_CRASH_TRIALS: trials } = process.env;
  if (seeds !== undefined) return [{ seeds: seeds.split(',').map(Number) }];
  const count = trials === undefined ? suite.trials : Math.min(Number(trials), suite.trials);
  return Array.from({ length: Math.ceil(count / CHAIN) }, (_, index) => {
    const from = index * CHAIN;
    const chain = Array.from({ length: Math.min(CHAIN, count - from) }, (_each, place) => suite.first + from + place);
    // Those whose first kill counts the writes of a start too come first: see `buildFirstKill`.
    return { seeds: [...chain.slice(2), ...chain.slice(0, 2)] };
  });
}
