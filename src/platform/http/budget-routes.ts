// Tests: test/flow/budgets.test.ts
import type { FastifyInstance } from 'fastify';
import { writePendingCosts } from '../budgets/leases.ts';
import { sendBudgetsChanged } from '../bus/budget-changes.ts';
import { budgetRoutes } from '../contract/budgets.ts';
import type { Budget } from '../contract/budgets.ts';
import { buildCursorList } from '../contract/common.ts';
import type { Queryable } from '../db/db.ts';
import { errors } from '../errors.ts';
import { deleteBudget, findBudget, hasBudgetTarget, listBudgets, putBudget } from '../store/budgets.ts';
import type { BudgetTarget } from '../store/budgets.ts';
import type { Caller, HttpDeps, HttpPorts } from './deps.ts';
import { registerRoute } from './route.ts';

/** Sessions that a budget had stopped and that may go on. `spentBelowUsd`: only those that had spent less; null: all. */
export type RaisedBudget = BudgetTarget & { spentBelowUsd: number | null };

type BudgetDeps = Pick<HttpPorts, 'db' | 'bus'> &
  HttpDeps & {
    /** Lets paused sessions go on, in the transaction of the change. Resolves with their ids. */
    resumeSessions(tx: Queryable, organizationId: string, raised: RaisedBudget): Promise<string[]>;
    /** called after the commit */
    wake(sessionIds: readonly string[]): void;
  };

/** The organization may be named. */
function readTarget({ organizationId, organization }: Caller, { scope, id }: BudgetTarget): BudgetTarget {
  return scope === 'organization' && id === organization ? { scope, id: organizationId } : { scope, id };
}

/** Which of the sessions that it has stopped a budget lets go on; undefined: none. */
function decideResume(budget: Budget): Pick<RaisedBudget, 'spentBelowUsd'> | undefined {
  if (budget.onReached === 'notify') return { spentBelowUsd: null };
  if (budget.period === 'session') return { spentBelowUsd: budget.limitUsd };
  return budget.reached ? undefined : { spentBelowUsd: null };
}

export function registerBudgetRoutes(app: FastifyInstance, deps: BudgetDeps): void {
  const { db, bus } = deps;

  registerRoute(app, deps, budgetRoutes.listBudgets, async ({ query, caller }) => {
    await writePendingCosts(bus);
    const { rows, nextCursor } = await listBudgets(db, caller.organizationId, query);
    return { status: 200, body: buildCursorList(rows, query, nextCursor) };
  });

  registerRoute(app, deps, budgetRoutes.getBudget, async ({ params, caller }) => {
    await writePendingCosts(bus);
    const budget = await findBudget(db, caller.organizationId, readTarget(caller, params));
    if (budget === undefined) throw errors.notFound('budget');
    return { status: 200, body: budget };
  });

  registerRoute(app, deps, budgetRoutes.putBudget, async ({ params, body, caller }) => {
    const { organizationId } = caller;
    const target = readTarget(caller, params);
    if (target.scope === 'key' && body.period === 'session') {
      throw errors.validation('period: a key has no sessions; use day, week, month or total');
    }
    if (!(await hasBudgetTarget(db, organizationId, target))) throw errors.notFound(target.scope);
    await writePendingCosts(bus);
    const { budget, resumed } = await db.transaction(async (tx) => {
      await putBudget(tx, organizationId, target, body);
      const stored = await findBudget(tx, organizationId, target);
      if (stored === undefined) throw errors.notFound('budget');
      const resume = decideResume(stored);
      const ids = resume && (await deps.resumeSessions(tx, organizationId, { ...target, ...resume }));
      return { budget: stored, resumed: ids ?? [] };
    });
    sendBudgetsChanged(bus, organizationId);
    deps.wake(resumed);
    return { status: 200, body: budget };
  });

  registerRoute(app, deps, budgetRoutes.deleteBudget, async ({ params, caller }) => {
    const { organizationId } = caller;
    const target = readTarget(caller, params);
    const resumed = await db.transaction(async (tx) => {
      if (!(await deleteBudget(tx, organizationId, target))) return undefined;
      return deps.resumeSessions(tx, organizationId, { ...target, spentBelowUsd: null });
    });
    if (resumed === undefined) throw errors.notFound('budget');
    sendBudgetsChanged(bus, organizationId);
    deps.wake(resumed);
    return { status: 200, body: { object: 'budget.deleted', id: `${target.scope}/${target.id}`, deleted: true } };
  });
}
