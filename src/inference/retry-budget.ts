export type RetryBudgetPolicy = {
  /** retries that each call adds */
  share: number;
  /** retries that a second adds, so that an upstream with few calls has some too */
  perSecond: number;
  /** retries that are kept at most, and what there is at first */
  reserve: number;
  now: () => number;
};

export const DEFAULT_RETRY_BUDGET: RetryBudgetPolicy = {
  share: 0.2,
  perSecond: 1,
  reserve: 10,
  now: () => performance.now(),
};

/** How many retries an upstream bears: an overload that every caller answers with two more calls would never end. */
export type RetryBudget = {
  /** A call begins. */
  add(group: string): void;
  /** Takes one retry; false: there is none left. */
  take(group: string): boolean;
};

export function buildRetryBudget({ share, perSecond, reserve, now }: RetryBudgetPolicy): RetryBudget {
  const accounts = new Map<string, { left: number; at: number }>();

  function grow(group: string, more: number): { left: number; at: number } {
    const at = now();
    const account = accounts.get(group) ?? { left: reserve, at };
    account.left = Math.min(reserve, account.left + ((at - account.at) / 1000) * perSecond + more);
    account.at = at;
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
