import { createHash } from 'node:crypto';

function weigh(key: string, name: string): string {
  return createHash('sha256')
    .update(JSON.stringify([key, name]))
    .digest('hex');
}

/**
 * The order in which a conversation tries its upstreams, by rendezvous hashing. The order is stable for a key; when an
 * upstream is removed, only its own conversations move.
 */
export function orderByKey<T extends { name: string }>(key: string, upstreams: readonly T[]): T[] {
  return upstreams
    .map((upstream) => ({ upstream, weight: weigh(key, upstream.name) }))
    .sort((a, b) => (a.weight < b.weight ? -1 : a.weight > b.weight ? 1 : 0))
    .map(({ upstream }) => upstream);
}
