import type { FastifyRequest } from 'fastify';
import { ApiError } from '../errors.ts';
import type { Limits } from '../limits/limits.ts';
import { PERIOD_MS } from './allowance.ts';
import { clientNetwork } from './client-address.ts';

const FAILURES_PER_MINUTE = 10;

/**
 * Counts a sign-in as failed until it is known that it was not: then the caller takes it back. Throws `rate_limited` after
 * too many from one address.
 */
export async function countFailure(limits: Limits, request: FastifyRequest): Promise<() => Promise<void>> {
  const name = `sign-in-failures:${clientNetwork(request.ip)}`;
  const { allowed, resetMs } = await limits.take(name, 1, FAILURES_PER_MINUTE, PERIOD_MS);
  if (!allowed) {
    throw new ApiError('rate_limited', 'Too many sign-ins from this address have failed.', {
      retryAfterSeconds: Math.max(1, Math.ceil(resetMs / 1000)),
    });
  }
  return () => limits.refund(name, 1);
}
