/** How long a caller wants its prompt kept at the upstream; a hint, and upstreams know fewer steps. */
export const CACHE_TTL = ['5m', '30m', '1h', '6h', '24h'] as const;
