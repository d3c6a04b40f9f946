import type { Limits } from '../../platform/limits/limits.ts';
import type { Caller } from '../../platform/http/deps.ts';
import { errorText } from '../../platform/errors.ts';
import type { Logger } from '../../platform/log.ts';
import { GatewayError } from '../gateway-error.ts';

const DAY_MS = 86_400_000;

/** The key whose tokens are counted, and its daily limit if that differs from the server's. */
type Spender = Pick<Caller, 'keyId' | 'tokensPerDay'>;

/** Tokens that a key may use per day. The day begins with its first call. */
export type TokenBudget = {
  /** Throws `rate_limit_exceeded` when nothing is left, and `LimitsUnavailableError`. */
  check(spender: Spender): Promise<void>;
  /** Call it after a call, when its tokens are known. The call that exceeds the budget is the last one. */
  spend(spender: Spender, tokens: number): void;
};

/** `tokensPerDay`: the server's limit; undefined: only keys with their own limit are limited. */
export function buildTokenBudget(
  { limits, log }: { limits: Limits; log: Logger },
  tokensPerDay: number | undefined,
): TokenBudget {
  const nameOf = (keyId: string) => `tokens:${keyId}`;

  async function take(keyId: string, tokens: number, limit: number): Promise<void> {
    const { remaining } = await limits.take(nameOf(keyId), 0, limit, DAY_MS);
    await limits.take(nameOf(keyId), Math.min(tokens, remaining), limit, DAY_MS);
  }

  return {
    async check({ keyId, tokensPerDay: own }) {
      const limit = own ?? tokensPerDay;
      if (limit === undefined) return;
      const { remaining, resetMs } = await limits.take(nameOf(keyId), 0, limit, DAY_MS);
      if (remaining > 0) return;
      throw new GatewayError('rate_limit_exceeded', 'The key has used its tokens for the day.', {
        retryAfterMs: resetMs,
      });
    },
    spend({ keyId, tokensPerDay: own }, tokens) {
      const limit = own ?? tokensPerDay;
      if (limit === undefined) return;
      take(keyId, tokens, limit).catch((error: unknown) => {
        log.warn({ error: errorText(error) }, 'could not deduct tokens from the budget');
      });
    },
  };
}
