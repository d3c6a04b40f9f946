import { z } from 'zod';
import { CursorPage, Id, Timestamp, cursorListOf, deletedBody } from './common.ts';
import { defineRoute } from './route.ts';

export const BUDGET_SCOPES = ['organization', 'key', 'agent', 'subject', 'automation', 'session'] as const;
export const BudgetScope = z.enum(BUDGET_SCOPES);
export type BudgetScope = z.infer<typeof BudgetScope>;

const BudgetPeriod = z
  .enum(['session', 'day', 'week', 'month', 'total'])
  .describe('`session`: for each session by itself. Days, weeks (from Monday) and months are those of UTC');
const OnReached = z
  .enum(['pause', 'refuse', 'notify'])
  .describe(
    '`pause`: turns end, and go on by themselves once the budget is raised; `refuse`: turns end; `notify`: nothing is refused',
  );

/** An id, or `<agent>:<subject>`. */
const BudgetTarget = z
  .string()
  .min(1)
  .max(600)
  .describe('the id of what it limits; of a subject `<agentId>:<subjectId>`; of the organization also its name');

const limitUsd = z.number().min(0).max(1_000_000_000).describe('US dollars');

/** A budget as events and stopped turns name it. */
export const BudgetRef = z
  .object({
    scope: BudgetScope,
    id: z.string(),
    limitUsd: z.number(),
    period: BudgetPeriod,
    onReached: OnReached,
    spentUsd: z.number().describe('in this period, at that moment'),
  })
  .meta({ id: 'BudgetRef' });
export type BudgetRef = z.infer<typeof BudgetRef>;

export const Budget = z
  .object({
    object: z.literal('budget'),
    scope: BudgetScope,
    id: z.string().describe('the id of what it limits; of a subject `<agentId>:<subjectId>`'),
    agentId: Id.nullable().describe('of the scopes agent and subject'),
    subjectId: z.string().nullable().describe('of the scope subject'),
    limitUsd: z.number(),
    period: BudgetPeriod,
    onReached: OnReached,
    spentUsd: z.number().describe('in this period; where each session has its own, of the one that has spent the most'),
    reservedUsd: z.number().describe('the worst case of the model calls under way'),
    remainingUsd: z.number().describe('neither spent nor reserved; never below 0'),
    reached: z.boolean().describe('whether the limit is spent'),
    periodStart: Timestamp.nullable().describe('null for `session` and `total`'),
    periodEnd: Timestamp.nullable(),
    createdAt: Timestamp,
    updatedAt: Timestamp,
  })
  .meta({ id: 'Budget' });
export type Budget = z.infer<typeof Budget>;

export const BudgetPut = z
  .object({ limitUsd, period: BudgetPeriod.default('total'), onReached: OnReached.default('pause') })
  .meta({ id: 'BudgetPut' });
export type BudgetPut = z.infer<typeof BudgetPut>;

const tag = 'Budgets';
const readers = { tag, scope: 'services:read', orScope: 'admin' } as const;
const ONE = '/v1/budgets/{scope}/{id}';
const BudgetParams = z.object({ scope: BudgetScope, id: BudgetTarget });

export const budgetRoutes = {
  listBudgets: defineRoute({
    ...readers,
    id: 'listBudgets',
    method: 'GET',
    path: '/v1/budgets',
    summary: 'The budgets of the organization with what is spent, newest first',
    query: CursorPage.extend({ scope: BudgetScope.optional() }),
    responses: { 200: cursorListOf(Budget) },
    errors: [],
  }),
  getBudget: defineRoute({
    ...readers,
    id: 'getBudget',
    method: 'GET',
    path: ONE,
    summary: 'One budget with what is spent',
    params: BudgetParams,
    responses: { 200: Budget },
    errors: ['not_found'],
  }),
  putBudget: defineRoute({
    tag,
    scope: 'owner',
    id: 'putBudget',
    method: 'PUT',
    path: ONE,
    summary: 'Set a budget. What was spent in the period before counts; sessions that it has paused go on',
    params: BudgetParams,
    body: BudgetPut,
    responses: { 200: Budget },
    errors: ['not_found'],
  }),
  deleteBudget: defineRoute({
    tag,
    scope: 'owner',
    id: 'deleteBudget',
    method: 'DELETE',
    path: ONE,
    summary: 'Delete a budget; sessions that it has paused go on',
    params: BudgetParams,
    responses: { 200: deletedBody('budget.deleted') },
    errors: ['not_found'],
  }),
};
