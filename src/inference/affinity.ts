import { createHash } from 'node:crypto';

function weigh(key: string, name: string): string {
  return createHash('sha256')
    .update(JSON.stringify([key, name]))
    .digest('hex');
}

/**
 * The order in which a conversation tries its upstreams, by rendezvous hashing: always the same for the same key, and
 * when one is gone only its own conversations go elsewhere.
 */
export function orderByKey<T extends { name: string }>(key: string, upstreams: readonly T[]): T[] {
  return upstreams
    .map((upstream) => ({ upstream, weight: weigh(key, upstream.name) }))
    .sort((a, b) => (a.weight < b.weight ? -1 : a.weight > b.weight ? 1 : 0))
    .map(({ upstream }) => upstream);
}
