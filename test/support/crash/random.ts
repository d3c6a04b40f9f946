import { buildRandom } from '../../../src/platform/random.ts';

export type Random = {
  /** 0 to 1 */
  next(): number;
  /** both ends included */
  between(low: number, high: number): number;
  pick<T>(items: readonly T[]): T;
};

/** The same numbers for the same seed. */
export function openRandom(seed: number): Random {
  const next = buildRandom(seed);
  const between = (low: number, high: number) => low + Math.floor(next() * (high - low + 1));
  return { next, between, pick: (items) => items[between(0, items.length - 1)] as (typeof items)[number] };
}
