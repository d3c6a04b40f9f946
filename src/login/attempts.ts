import type { Limits } from '../platform/limits/limits.ts';
import type { MasterKeys } from '../platform/master-key.ts';
import { LoginError } from './login-error.ts';

const MAX_FAILED = 5;
const PERIOD_MS = 15 * 60_000;

/** Outcomes that count as a failed attempt. */
const COUNTS: ReadonlySet<string> = new Set(['invalid_credentials', 'invalid_code', 'account_locked']);

/** Attempts in progress in this process, by account. */
const inProgress = new Map<string, Set<Promise<void>>>();

/**
 * Runs an attempt. Throws `rate_limited` once 5 have failed within 15 minutes for this origin and user name. A point
 * is taken before the attempt and refunded unless it failed, so concurrent attempts cannot exceed the limit. If
 * attempts in progress hold all remaining points, the next attempt waits for them.
 */
export async function limitAttempts<T>(
  { limits, masterKeys }: { limits: Limits; masterKeys: MasterKeys },
  account: { organizationId: string; origin: string; username: string | undefined },
  attempt: () => Promise<T>,
): Promise<T> {
  const { organizationId, origin, username = '' } = account;
  const name = masterKeys.fingerprint('login-attempts', JSON.stringify([organizationId, origin, username]));
  const key = `login-failures:${name}`;
  for (;;) {
    const allowance = await limits.take(key, 1, MAX_FAILED, PERIOD_MS);
    if (allowance.allowed) break;
    const others = inProgress.get(key);
    if (others !== undefined && others.size > 0) {
      // Attempts in progress may refund their points.
      await Promise.race(others);
      continue;
    }
    throw new LoginError('rate_limited', 'Too many failed attempts for this account; wait before the next one.', {
      details: { reason: 'failed_attempts' },
      retryAfterSeconds: Math.max(1, Math.ceil(allowance.resetMs / 1000)),
    });
  }
  let end = () => {};
  const ended = new Promise<void>((resolve) => (end = resolve));
  const others = inProgress.get(key) ?? new Set();
  inProgress.set(key, others.add(ended));
  try {
    const result = await attempt();
    await limits.refund(key, 1);
    return result;
  } catch (error) {
    if (!(error instanceof LoginError && COUNTS.has(error.code))) await limits.refund(key, 1);
    throw error;
  } finally {
    others.delete(ended);
    if (others.size === 0) inProgress.delete(key);
    end();
  }
}
