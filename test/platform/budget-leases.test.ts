import { pino } from 'pino';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { openBudgets } from '../../src/platform/budgets/budgets.ts';
import type { Budgets, Reservation } from '../../src/platform/budgets/budgets.ts';
import { writePendingCosts } from '../../src/platform/budgets/leases.ts';
import { sendBudgetsChanged } from '../../src/platform/bus/budget-changes.ts';
import { openMemoryBus } from '../../src/platform/bus/memory.ts';
import { onNotice } from '../../src/platform/bus/notices.ts';
import type { BudgetPut } from '../../src/platform/contract/budgets.ts';
import { BudgetReachedError } from '../../src/platform/errors.ts';
import { deleteBudget, findBudget, putBudget } from '../../src/platform/store/budgets.ts';
import type { BudgetTarget } from '../../src/platform/store/budgets.ts';
import { ensureOrganization } from '../../src/platform/store/keys.ts';
import { listDatabases } from '../support/database.ts';
import type { TestDatabase } from '../support/database.ts';

const WORST = 0.02;
const COST = 0.01;
const SMALL = 0.005;
const ROUNDING = 1e-9;

describe.each(await listDatabases())('leases of budgets on %s', (_name, openDatabase) => {
  const bus = openMemoryBus();
  const log = pino({ level: 'silent' });
  let database: TestDatabase;
  let processes: Budgets[] = [];
  let organizationId: string;
  let target: BudgetTarget;
  let count = 0;
  beforeAll(async () => {
    database = await openDatabase();
  });
  beforeEach(async () => {
    count += 1;
    organizationId = await ensureOrganization(database.db, `leases-${count}`);
    target = { scope: 'organization', id: organizationId };
    processes = Array.from({ length: 4 }, () => openBudgets({ db: database.db, bus, log }));
    return () => Promise.all(processes.map((each) => each.close()));
  });
  afterAll(async () => {
    await bus.close();
    await database.close();
  });

  const set = async (limitUsd: number, rule: Partial<BudgetPut> = {}) => {
    const whole = { period: 'total', onReached: 'refuse', ...rule, limitUsd } as const;
    await database.db.transaction((tx) => putBudget(tx, organizationId, target, whole));
    sendBudgetsChanged(bus, organizationId);
  };
  const read = async () => {
    await writePendingCosts(bus);
    return (await findBudget(database.db, organizationId, target))!;
  };
  const reserve = (process = 0, worst = WORST, spender: object = {}) =>
    processes[process]!.reserve({ organizationId, ...spender }, () => worst);
  const call = async (process = 0) => (await reserve(process))?.settle(COST);
  const listLeases = async () => {
    const { rows } = await database.db.query<{ amount: number; idle: number }>(
      `SELECT r.amount_usd::float8 AS amount, r.idle_usd::float8 AS idle FROM budget_reservations r
       JOIN budgets b ON b.id = r.budget_id WHERE b.organization_id = $1`,
      [organizationId],
    );
    return rows;
  };
  /** A call in progress that took from a lease, which is kept for as long. The first call is reserved by itself. */
  const holdLease = async (
    process: number,
    spender: object = {},
  ): Promise<{ held: Reservation | undefined; idle: number }> => {
    for (;;) {
      const held = await reserve(process, WORST, spender);
      await writePendingCosts(bus);
      const lease = (await listLeases()).find(({ amount, idle }) => idle > 0 && amount > idle);
      if (lease !== undefined) return { held, idle: lease.idle };
      await held?.settle(0);
    }
  };
  /** Spends `COST` through a lease. */
  const openLease = async () => {
    const { held } = await holdLease(0);
    await held?.settle(COST);
  };

  it('charges calls that took from a lease, and shows only what calls in progress hold', async () => {
    await set(100);
    const { held: first } = await holdLease(0);
    const held = [first];
    for (let number = 1; number < 50; number += 1) held.push(await reserve());
    expect(await read()).toMatchObject({ spentUsd: 0, reservedUsd: 50 * WORST });
    expect((await listLeases()).length).toBeLessThan(50);
    for (const reservation of held) await reservation?.settle(COST);
    await first?.settle(COST);
    expect(await read()).toMatchObject({ spentUsd: 50 * COST, reservedUsd: 0, remainingUsd: 100 - 50 * COST });
  });

  it('refuses a budget that several processes use exactly where it is spent', async () => {
    await set(2);
    let calls = 0;
    const work = async (process: number): Promise<void> => {
      for (;;) {
        const reservation = await reserve(process, SMALL).catch((error: unknown) => {
          if (!(error instanceof BudgetReachedError)) throw error;
          return undefined;
        });
        if (reservation === undefined) return;
        calls += 1;
        await reservation.settle(SMALL);
      }
    };
    await Promise.all([0, 1, 2, 3, 0, 1, 2, 3].map(work));
    await Promise.all(processes.map((each) => each.close()));
    processes.push(openBudgets({ db: database.db, bus, log }));
    await work(processes.length - 1);
    const budget = await read();
    expect(budget.spentUsd).toBeCloseTo(calls * SMALL, 9);
    expect(budget.spentUsd).toBeGreaterThanOrEqual(2 - ROUNDING);
    expect(budget.spentUsd).toBeLessThanOrEqual(2 + SMALL + ROUNDING);
    expect(String(budget.spentUsd)).toMatch(/^2(\.0\d{0,2})?$/);
    expect(budget).toMatchObject({ reservedUsd: 0, reached: true });
  });

  it('recalls what leases of other processes do not use before it refuses a call', async () => {
    await set(10);
    const { held, idle } = await holdLease(1);
    const large = await reserve(0, 10 - WORST - idle);
    const next = await reserve(0, 0.1);
    expect(next).toBeDefined();
    expect((await read()).reservedUsd).toBeCloseTo(10.1 - idle, 9);
    await held?.settle(COST);
    await large?.settle(9 - idle);
    await next?.settle(0);
    expect((await read()).spentUsd).toBeCloseTo(9 - idle + COST, 9);
  });

  it('applies a changed limit to the next call, while a lease is out', async () => {
    await set(100);
    await openLease();
    await call();
    await set(0.02);
    await expect(call()).rejects.toMatchObject({ budget: { limitUsd: 0.02, spentUsd: 0.02 } });
    await set(100);
    await call();
    await set(0.02, { onReached: 'notify' });
    await call();
    expect(await read()).toMatchObject({ spentUsd: 0.04, reservedUsd: 0, reached: true });
  });

  it('has no lease of a deleted budget', async () => {
    await set(100);
    await openLease();
    const held = await reserve();
    await database.db.transaction((tx) => deleteBudget(tx, organizationId, target));
    sendBudgetsChanged(bus, organizationId);
    expect(await reserve()).toBeUndefined();
    await held?.settle(COST);
    await set(100);
    await openLease();
    expect(await read()).toMatchObject({ spentUsd: COST, reservedUsd: 0 });
  });

  it('writes everything and releases its leases when it closes', async () => {
    await set(100);
    await openLease();
    const held = await reserve();
    await call();
    await processes[0]!.close();
    expect(await listLeases()).toEqual([{ amount: WORST, idle: 0 }]);
    expect(await findBudget(database.db, organizationId, target)).toMatchObject({ spentUsd: 0.02, reservedUsd: WORST });
    await held?.settle(COST);
    expect(await listLeases()).toEqual([]);
    expect(await findBudget(database.db, organizationId, target)).toMatchObject({ spentUsd: 0.03, reservedUsd: 0 });
  });

  it('writes the cost of a call that exceeds its lease before it goes on', async () => {
    await set(10);
    await openLease();
    await (await reserve())?.settle(20);
    expect(await findBudget(database.db, organizationId, target)).toMatchObject({ spentUsd: 20.01, reservedUsd: 0 });
    await expect(reserve()).rejects.toThrow(BudgetReachedError);
    expect(await listLeases()).toEqual([]);
  });

  it('charges all budgets of a call and reports each threshold once', async () => {
    const told: unknown[] = [];
    const subscription = await onNotice(bus, organizationId, (notice) => told.push([notice.threshold, notice.budget]));
    await set(4);
    const key: BudgetTarget = { scope: 'key', id: 'key_1' };
    const rule = { limitUsd: 1000, period: 'month', onReached: 'refuse' } as const;
    await database.db.transaction((tx) => putBudget(tx, organizationId, key, rule));
    sendBudgetsChanged(bus, organizationId);
    const spend = async (worst: number, cost: number) => (await reserve(0, worst, { keyId: 'key_1' }))?.settle(cost);
    const { held } = await holdLease(0, { keyId: 'key_1' });
    await held?.settle(COST);
    for (let number = 0; number < 20; number += 1) await spend(COST, 0.1);
    expect((await read()).spentUsd).toBeCloseTo(2.01, 9);
    expect((await findBudget(database.db, organizationId, key))?.spentUsd).toBeCloseTo(2.01, 9);
    await expect.poll(() => told).toHaveLength(1);
    expect(told[0]).toMatchObject([50, { scope: 'organization', limitUsd: 4 }]);
    subscription.close();
  });

  it('does not extend a lease that has expired, and opens another', async () => {
    await set(10);
    await openLease();
    await database.db.query(`UPDATE budget_reservations SET expires_at = now() - interval '1 second'`);
    const other = await reserve(1, 9.98);
    await call();
    await writePendingCosts(bus);
    const budget = await read();
    expect(budget.spentUsd + budget.reservedUsd).toBeLessThanOrEqual(10 + WORST + ROUNDING);
    await other?.settle(0);
    expect((await read()).reservedUsd).toBe(0);
  });
});
