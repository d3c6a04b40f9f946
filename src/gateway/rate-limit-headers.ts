import type { FastifyReply } from 'fastify';

/** The names under which SDKs of both families look for `ratelimit-*`. `now` is in milliseconds. */
export function buildSdkRateLimitHeaders(
  { limit, remaining, resetSeconds }: { limit: string; remaining: string; resetSeconds: number },
  now: number,
): Record<string, string> {
  return {
    'x-ratelimit-limit-requests': limit,
    'x-ratelimit-remaining-requests': remaining,
    'x-ratelimit-reset-requests': `${resetSeconds}s`,
    'anthropic-ratelimit-requests-limit': limit,
    'anthropic-ratelimit-requests-remaining': remaining,
    'anthropic-ratelimit-requests-reset': new Date(now + resetSeconds * 1000).toISOString(),
  };
}

/** Repeats the reply's `ratelimit-*` headers under the names of the SDKs. */
export function addSdkRateLimitHeaders(reply: FastifyReply): void {
  const limit = reply.getHeader('ratelimit-limit');
  const remaining = reply.getHeader('ratelimit-remaining');
  if (limit === undefined || remaining === undefined) return;
  const resetSeconds = Number(reply.getHeader('ratelimit-reset') ?? 0);
  void reply.headers(
    buildSdkRateLimitHeaders({ limit: String(limit), remaining: String(remaining), resetSeconds }, Date.now()),
  );
}
