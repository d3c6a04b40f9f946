import { LimitsUnavailableError } from '../limits/limits.ts';
import type { Allowance, Limits } from '../limits/limits.ts';
import type { ErrorBody } from '../contract/errors.ts';
import { ApiError, errors } from '../errors.ts';
import { openLocalAllowance } from './local-allowance.ts';

type RateLimit = NonNullable<ErrorBody['rateLimit']>;

/** Every allowance counts in fixed windows of this length. */
export const PERIOD_MS = 60_000;

/** The key of one subject's window under one agent. */
export function subjectKey(
  resource: 'conversations' | 'messages',
  subject: { organizationId: string; agentId: string; subjectId: string },
): string {
  return `${resource}:${subject.organizationId}:${subject.agentId}:${subject.subjectId}`;
}

function describe(resource: RateLimit['resource'], allowance: Allowance): RateLimit {
  return {
    resource,
    limit: allowance.limit,
    remaining: allowance.remaining,
    periodSeconds: PERIOD_MS / 1000,
    resetAfterSeconds: Math.max(1, Math.ceil(allowance.resetMs / 1000)),
  };
}

export function rateLimitHeaders(rateLimit: RateLimit): Record<string, string> {
  return {
    'ratelimit-limit': String(rateLimit.limit),
    'ratelimit-remaining': String(rateLimit.remaining),
    'ratelimit-reset': String(rateLimit.resetAfterSeconds),
  };
}

/** Throws `rate_limited` for an allowance that is used up. */
function accept(resource: RateLimit['resource'], allowance: Allowance): RateLimit {
  const rateLimit = describe(resource, allowance);
  if (!allowance.allowed) throw errors.rateLimited(rateLimit);
  return rateLimit;
}

/**
 * Takes points of the allowance `key`, of which there are `limit` per minute, and returns what is left for the headers
 * of the response. Throws `rate_limited` when there are too few, and `unavailable` when they cannot be counted.
 */
export async function takeAllowance(
  limits: Limits,
  resource: RateLimit['resource'],
  { key, points, limit }: { key: string; points: number; limit: number },
): Promise<RateLimit> {
  const allowance = await limits.take(key, points, limit, PERIOD_MS).catch((error: unknown) => {
    if (error instanceof LimitsUnavailableError) throw errors.unavailable('The allowance cannot be verified.', error);
    throw error;
  });
  return accept(resource, allowance);
}

/** How long reads are counted here after a failure, before the shared counter is asked again. */
const LOCAL_MS = 1000;

/**
 * Counts requests of keys. While the shared counters cannot be reached, reads go on with an allowance of this process;
 * everything else is `unavailable`.
 */
export function openRequestAllowance(limits: Limits) {
  const local = openLocalAllowance(PERIOD_MS);
  let localUntil = -Infinity;
  return {
    async take(keyId: string, limit: number, isRead: boolean): Promise<RateLimit> {
      const key = `requests:${keyId}`;
      if (isRead && performance.now() < localUntil) return accept('requests', local.take(key, limit));
      try {
        return await takeAllowance(limits, 'requests', { key, points: 1, limit });
      } catch (error) {
        if (!isRead || !(error instanceof ApiError && error.code === 'unavailable')) throw error;
        localUntil = performance.now() + LOCAL_MS;
        return accept('requests', local.take(key, limit));
      }
    },
  };
}
