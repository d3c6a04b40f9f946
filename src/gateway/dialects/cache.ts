/** How long the upstream should cache the prompt. A hint: upstreams support fewer values. */
export const CACHE_TTL = ['5m', '30m', '1h', '6h', '24h'] as const;
