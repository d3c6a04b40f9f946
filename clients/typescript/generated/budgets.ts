// Generated from the contract by "npm run generate". Changes are lost.
import type { CallOptions } from '../options.ts';
import type { Timestamp } from './common.ts';

export type Budget = {
  object: "budget";
  scope: "organization" | "key" | "agent" | "subject" | "automation" | "session";
  /** the id of what it limits; of a subject `<agentId>:<subjectId>` */
  id: string;
  /** of the scopes agent and subject */
  agentId: string | null;
  /** of the scope subject */
  subjectId: string | null;
  limitUsd: number;
  /** `session`: for each session by itself. Days, weeks (from Monday) and months are those of UTC */
  period: "session" | "day" | "week" | "month" | "total";
  /** `pause`: turns end, and go on by themselves once the budget is raised; `refuse`: turns end; `notify`: nothing is refused */
  onReached: "pause" | "refuse" | "notify";
  /** in this period; where each session has its own, of the one that has spent the most */
  spentUsd: number;
  /** the worst case of the model calls under way */
  reservedUsd: number;
  /** neither spent nor reserved; never below 0 */
  remainingUsd: number;
  /** whether the limit is spent */
  reached: boolean;
  /** null for `session` and `total` */
  periodStart: Timestamp | null;
  periodEnd: Timestamp | null;
  createdAt: Timestamp;
  updatedAt: Timestamp;
};

export type BudgetPut = {
  /** US dollars */
  limitUsd: number;
  /** `session`: for each session by itself. Days, weeks (from Monday) and months are those of UTC */
  period?: "session" | "day" | "week" | "month" | "total" | undefined;
  /** `pause`: turns end, and go on by themselves once the budget is raised; `refuse`: turns end; `notify`: nothing is refused */
  onReached?: "pause" | "refuse" | "notify" | undefined;
};

export type BudgetsOperations = {
  /**
   * The budgets of the organization with what is spent, newest first. `GET /v1/budgets`
   *
   * Needs a key with the scope `services:read` or `admin`. Errors: validation_error, unauthorized, forbidden, rate_limited, server_error, storage_full.
   */
  listBudgets(query?: { limit?: number | undefined; cursor?: string | undefined; scope?: "organization" | "key" | "agent" | "subject" | "automation" | "session" | undefined }, options?: CallOptions): Promise<{
    object: "list";
    data: Budget[];
    pagination: {
      limit: number;
      hasMore: boolean;
      /** null on the last page */
      nextCursor: string | null;
    };
  }>;

  /**
   * One budget with what is spent. `GET /v1/budgets/{scope}/{id}`
   *
   * Needs a key with the scope `services:read` or `admin`. Errors: validation_error, unauthorized, forbidden, not_found, rate_limited, server_error, storage_full.
   */
  getBudget(scope: string, id: string, options?: CallOptions): Promise<Budget>;

  /**
   * Set a budget. What was spent in the period before counts; sessions that it has paused go on. `PUT /v1/budgets/{scope}/{id}`
   *
   * Needs a key with the scope `owner`. Errors: validation_error, unauthorized, forbidden, not_found, payload_too_large, rate_limited, server_error, storage_full.
   */
  putBudget(scope: string, id: string, body: BudgetPut, options?: CallOptions): Promise<Budget>;

  /**
   * Delete a budget; sessions that it has paused go on. `DELETE /v1/budgets/{scope}/{id}`
   *
   * Needs a key with the scope `owner`. Errors: validation_error, unauthorized, forbidden, not_found, rate_limited, server_error, storage_full.
   */
  deleteBudget(scope: string, id: string, options?: CallOptions): Promise<{
    object: "budget.deleted";
    id: string;
    deleted: true;
  }>;
};
