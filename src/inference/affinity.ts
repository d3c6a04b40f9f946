import { createHash } from 'node:crypto';

/** A number above 0 and at most 1 that depends on the texts alone. */
function hashToUnit(key: string, name: string): number {
  const digest = createHash('sha256')
    .update(JSON.stringify([key, name]))
    .digest();
  return (digest.readUIntBE(0, 6) + 1) / 2 ** 48;
}

/** Sorts by random draws from 0 to 1: the first of a weight of 3 is first three times as often as one of 1. */
export function orderByDraw<T extends { weight?: number | undefined }>(
  items: readonly T[],
  draw: (item: T) => number,
): T[] {
  return items
    .map((item) => ({ item, rank: -Math.log(draw(item)) / (item.weight ?? 1) }))
    .sort((a, b) => a.rank - b.rank)
    .map(({ item }) => item);
}

/**
 * The order in which a conversation tries its upstreams, by weighted rendezvous hashing. The order is stable for a key;
 * when an upstream is removed, only its own conversations move.
 */
export function orderByKey<T extends { name: string; weight?: number | undefined }>(
  key: string,
  upstreams: readonly T[],
): T[] {
  return orderByDraw(upstreams, ({ name }) => hashToUnit(key, name));
}
