export type RetryBudgetPolicy = {
  /** retries added by each call */
  share: number;
  /** retries added per second, for upstreams with few calls */
  perSecond: number;
  /** maximum number of saved retries, and the initial number */
  reserve: number;
  now: () => number;
};

export const DEFAULT_RETRY_BUDGET: RetryBudgetPolicy = {
  share: 0.2,
  perSecond: 1,
  reserve: 10,
  now: () => performance.now(),
};

/** Groups come from callers, so their number is bounded. */
const MAX_GROUPS = 20_000;

/** Bounds the retries of an upstream: if every caller retried twice, an overload would never end. */
export type RetryBudget = {
  /** Counts a new call. */
  add(group: string): void;
  /** Takes one retry; false: none is left. */
  take(group: string): boolean;
};

export function buildRetryBudget({ share, perSecond, reserve, now }: RetryBudgetPolicy): RetryBudget {
  const accounts = new Map<string, { left: number; at: number }>();

  function grow(group: string, more: number): { left: number; at: number } {
    const at = now();
    const account = accounts.get(group) ?? { left: reserve, at };
    account.left = Math.min(reserve, account.left + ((at - account.at) / 1000) * perSecond + more);
    account.at = at;
    const [oldest] = accounts.keys();
    if (accounts.size >= MAX_GROUPS && !accounts.has(group) && oldest !== undefined) accounts.delete(oldest);
    accounts.set(group, account);
    return account;
  }

  return {
    add: (group) => void grow(group, share),
    take(group) {
      const account = grow(group, 0);
      if (account.left < 1) return false;
      account.left -= 1;
      return true;
    },
  };
}
