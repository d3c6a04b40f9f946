import type { Limits } from '../../platform/limits/limits.ts';
import { errorText } from '../../platform/errors.ts';
import type { Logger } from '../../platform/log.ts';
import { GatewayError } from '../gateway-error.ts';

const DAY_MS = 86_400_000;

/** Tokens that a key may use per day; the day begins with its first call. */
export type TokenBudget = {
  /** Throws `rate_limit_exceeded` when nothing is left, and `LimitsUnavailableError`. */
  check(keyId: string): Promise<void>;
  /** Called after a call, when its tokens are known: the call that exceeds the budget is the last one. */
  spend(keyId: string, tokens: number): void;
};

export function buildTokenBudget({ limits, log }: { limits: Limits; log: Logger }, tokensPerDay: number): TokenBudget {
  const nameOf = (keyId: string) => `tokens:${keyId}`;

  async function take(keyId: string, tokens: number): Promise<void> {
    const { remaining } = await limits.take(nameOf(keyId), 0, tokensPerDay, DAY_MS);
    await limits.take(nameOf(keyId), Math.min(tokens, remaining), tokensPerDay, DAY_MS);
  }

  return {
    async check(keyId) {
      const { remaining, resetMs } = await limits.take(nameOf(keyId), 0, tokensPerDay, DAY_MS);
      if (remaining > 0) return;
      throw new GatewayError('rate_limit_exceeded', 'The key has used its tokens for the day.', {
        retryAfterMs: resetMs,
      });
    },
    spend(keyId, tokens) {
      take(keyId, tokens).catch((error: unknown) => {
        log.warn({ error: errorText(error) }, 'could not deduct tokens from the budget');
      });
    },
  };
}
