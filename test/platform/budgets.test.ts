import { pino } from 'pino';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { openBudgets } from '../../src/platform/budgets/budgets.ts';
import type { Budgets } from '../../src/platform/budgets/budgets.ts';
import { openMemoryBus } from '../../src/platform/bus/memory.ts';
import { onNotice } from '../../src/platform/bus/notices.ts';
import type { Notice } from '../../src/platform/bus/notices.ts';
import { sendBudgetsChanged } from '../../src/platform/bus/budget-changes.ts';
import type { BudgetPut } from '../../src/platform/contract/budgets.ts';
import { BudgetReachedError } from '../../src/platform/errors.ts';
import { findBudget, putBudget } from '../../src/platform/store/budgets.ts';
import type { BudgetTarget } from '../../src/platform/store/budgets.ts';
import { ensureOrganization } from '../../src/platform/store/keys.ts';
import { listDatabases } from '../support/database.ts';
import type { TestDatabase } from '../support/database.ts';

const WORKERS = 32;
const WORST = 0.2;
const COST = 0.1;

describe.each(await listDatabases())('budgets on %s', (_name, openDatabase) => {
  const bus = openMemoryBus();
  const log = pino({ level: 'silent' });
  let database: TestDatabase;
  let workers: Budgets[] = [];
  let organizationId: string;
  let count = 0;
  beforeAll(async () => {
    database = await openDatabase();
    workers = [1, 2, 3, 4].map(() => openBudgets({ db: database.db, bus, log }));
  });
  beforeEach(async () => {
    count += 1;
    organizationId = await ensureOrganization(database.db, `org-${count}`);
  });
  afterAll(async () => {
    await Promise.all(workers.map((worker) => worker.close()));
    await bus.close();
    await database.close();
  });

  const set = async (target: BudgetTarget, body: Partial<BudgetPut> & { limitUsd: number }) => {
    const whole = { period: 'total', onReached: 'refuse', ...body } as const;
    await database.db.transaction((tx) => putBudget(tx, organizationId, target, whole));
    sendBudgetsChanged(bus, organizationId);
  };
  const read = async (target: BudgetTarget) => (await findBudget(database.db, organizationId, target))!;
  const reserve = (spender: object = {}, worker = 0) =>
    workers[worker]!.reserve({ organizationId, ...spender }, () => WORST);

  it('admits calls of many workers up to the limit and one call beyond it', async () => {
    const target: BudgetTarget = { scope: 'organization', id: organizationId };
    await set(target, { limitUsd: 3 });
    let calls = 0;
    const work = async (worker: number): Promise<void> => {
      for (;;) {
        const reservation = await reserve({}, worker % workers.length).catch((error: unknown) => {
          if (!(error instanceof BudgetReachedError)) throw error;
          return undefined;
        });
        if (reservation === undefined) return;
        calls += 1;
        await reservation.settle(COST);
      }
    };
    await Promise.all(Array.from({ length: WORKERS }, (_, number) => work(number)));
    const budget = await read(target);
    expect(budget.reservedUsd).toBe(0);
    expect(budget.spentUsd).toBeCloseTo(calls * COST, 9);
    expect(budget.spentUsd).toBeLessThanOrEqual(3 + WORST);
    expect(calls).toBeGreaterThan(0);
  });

  it('admits a call while settled and reserved amounts are below the limit', async () => {
    const target: BudgetTarget = { scope: 'key', id: 'key_1' };
    await set(target, { limitUsd: 0.4 });
    const first = await reserve({ keyId: 'key_1' });
    const second = await reserve({ keyId: 'key_1' }, 1);
    expect(await read(target)).toMatchObject({ spentUsd: 0, reservedUsd: 0.4, remainingUsd: 0, reached: false });
    await expect(reserve({ keyId: 'key_1' }, 2)).rejects.toMatchObject({
      code: 'budget_reached',
      budget: { scope: 'key', id: 'key_1', limitUsd: 0.4, period: 'total', onReached: 'refuse', spentUsd: 0 },
    });
    expect(await reserve({ keyId: 'key_2' }, 2)).toBeUndefined();
    await first?.settle(COST);
    await first?.settle(COST);
    await second?.settle(0);
    expect(await read(target)).toMatchObject({ spentUsd: COST, reservedUsd: 0, remainingUsd: 0.4 - COST });
  });

  it('reserves in all budgets of a call or in none', async () => {
    const subject: BudgetTarget = { scope: 'subject', id: 'agt_1:a:b' };
    const session: BudgetTarget = { scope: 'session', id: 'ses_1' };
    await set(subject, { limitUsd: 1 });
    await set(session, { limitUsd: 0 });
    const spender = { agentId: 'agt_1', subjectId: 'a:b', sessionId: 'ses_1' };
    await expect(reserve(spender)).rejects.toMatchObject({ budget: session });
    expect(await read(subject)).toMatchObject({ agentId: 'agt_1', subjectId: 'a:b', reservedUsd: 0 });
    await set(session, { limitUsd: 1 });
    const reservation = await reserve(spender, 1);
    await reservation?.settle(COST);
    expect((await read(subject)).spentUsd).toBe(COST);
    expect((await read(session)).spentUsd).toBe(COST);
  });

  it('forgets the reservation of a worker that died', async () => {
    const target: BudgetTarget = { scope: 'agent', id: 'agt_2' };
    await set(target, { limitUsd: 0.1 });
    const lost = openBudgets({ db: database.db, bus, log });
    await lost.reserve({ organizationId, agentId: 'agt_2' }, () => WORST);
    await lost.close();
    await expect(reserve({ agentId: 'agt_2' })).rejects.toThrow(BudgetReachedError);
    const { rows } = await database.db.query<{ seconds: number }>(
      'SELECT max(extract(epoch FROM expires_at - now()))::float8 AS seconds FROM budget_reservations',
    );
    expect(rows[0]?.seconds).toBeLessThanOrEqual(60);
    await database.db.query(`UPDATE budget_reservations SET expires_at = now() - interval '1 second'`);
    const reservation = await reserve({ agentId: 'agt_2' });
    await reservation?.settle(COST);
    expect(await read(target)).toMatchObject({ spentUsd: COST, reservedUsd: 0 });
  });

  it('counts each session separately', async () => {
    const target: BudgetTarget = { scope: 'agent', id: 'agt_3' };
    await set(target, { limitUsd: 0.1, period: 'session' });
    for (const sessionId of ['ses_2', 'ses_3']) {
      await (await reserve({ agentId: 'agt_3', sessionId }))?.settle(sessionId === 'ses_2' ? COST : 0.05);
    }
    await expect(reserve({ agentId: 'agt_3', sessionId: 'ses_2' })).rejects.toThrow(BudgetReachedError);
    expect(await reserve({ agentId: 'agt_3', sessionId: 'ses_3' })).toBeDefined();
    expect(await reserve({ agentId: 'agt_3' })).toBeUndefined();
    expect(await read(target)).toMatchObject({ spentUsd: COST, periodStart: null, periodEnd: null });
  });

  it('starts with the amount that the ledger has for the period', async () => {
    const { db } = database;
    await db.query(
      `INSERT INTO usage_records (organization_id, occurred_at, source, kind, agent_id, subject_id, session_id, cost_usd)
       VALUES ($1, now(), 'agents', 'model', 'agt_4', 'bob', 'ses_4', 0.25),
         ($1, now() - interval '40 days', 'agents', 'model', 'agt_4', 'bob', 'ses_4', 4)`,
      [organizationId],
    );
    const spent = async (target: BudgetTarget, period: BudgetPut['period']) => {
      await set(target, { limitUsd: 10, period });
      return (await read(target)).spentUsd;
    };
    expect(await spent({ scope: 'agent', id: 'agt_4' }, 'month')).toBe(0.25);
    expect(await spent({ scope: 'agent', id: 'agt_4' }, 'total')).toBe(4.25);
    expect(await spent({ scope: 'session', id: 'ses_4' }, 'session')).toBe(4.25);
    expect(await spent({ scope: 'subject', id: 'agt_4:bob' }, 'day')).toBe(0.25);
    expect(await spent({ scope: 'subject', id: 'agt_4:eve' }, 'day')).toBe(0);
    expect(await spent({ scope: 'organization', id: organizationId }, 'week')).toBe(0.25);
  });

  it('reports each threshold once in a period, and again for another limit', async () => {
    const told: Notice[] = [];
    const subscription = await onNotice(bus, organizationId, (notice) => told.push(notice));
    const target: BudgetTarget = { scope: 'session', id: 'ses_5' };
    await set(target, { limitUsd: 1, onReached: 'notify' });
    for (const cost of [0.4, 0.1, 0.1, 0.5, 1]) await (await reserve({ sessionId: 'ses_5' }))?.settle(cost);
    await expect.poll(() => told.map(({ threshold }) => threshold)).toEqual([50, 80, 100]);
    expect(told[1]).toMatchObject({
      type: 'budget.threshold',
      sessionId: 'ses_5',
      resourceId: 'session/ses_5',
      budget: { ...target, limitUsd: 1, spentUsd: 1.1 },
    });
    await set(target, { limitUsd: 3, onReached: 'notify' });
    await (await reserve({ sessionId: 'ses_5' }))?.settle(0.4);
    await expect.poll(() => told.map(({ threshold }) => threshold)).toEqual([50, 80, 100, 80]);
    subscription.close();
  });
});
