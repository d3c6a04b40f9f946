/** Numbers from 0 to 1 that depend only on the seed, on every machine. */
export type Random = () => number;

/** mulberry32. Not for secrets: who sees a few numbers can compute the next. */
export function buildRandom(seed: number): Random {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d_2b_79_f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

export function pickBetween(random: Random, low: number, high: number): number {
  return low + random() * (high - low);
}
