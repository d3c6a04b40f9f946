import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { deleteLostReservations, findBudget, putBudget } from '../../src/platform/store/budgets.ts';
import type { BudgetTarget } from '../../src/platform/store/budgets.ts';
import { ensureOrganization } from '../../src/platform/store/keys.ts';
import { WORST } from '../support/budgets/amounts.ts';
import { openPostgresDatabase } from '../support/database.ts';
import { findService } from '../support/find-service.ts';

const WORKER = fileURLToPath(new URL('../support/budgets/worker.ts', import.meta.url));
const LIMIT = 20;
/** `CAPSTAN_BUDGET_ROUNDS=100` for a long run. */
const ROUNDS = Number(process.env['CAPSTAN_BUDGET_ROUNDS'] ?? 1);
const ROUNDING = 1e-9;

const postgres = await findService('postgres');

describe.skipIf(postgres === undefined)('32 workers on one budget, some killed between reserve and settle', () => {
  let database: Awaited<ReturnType<typeof openPostgresDatabase>>;
  beforeAll(async () => {
    database = await openPostgresDatabase(postgres!);
  });
  afterAll(() => database.close());

  /** A process with eight workers. `said` resolves with its first message, or at its end. */
  function start(organizationId: string, mode: 'hold' | 'settle') {
    const child = fork(WORKER, [database.url, organizationId, mode], { execArgv: [] });
    const ended = once(child, 'exit').then(([code, signal]: unknown[]) => signal ?? code);
    const said = Promise.race([once(child, 'message').then(([message]: unknown[]) => message), ended]);
    return { said, ended, go: () => child.send('go'), kill: () => child.kill('SIGKILL') };
  }

  it.each(Array.from({ length: ROUNDS }, (_, round) => round))(
    'overshoots by a call at most, and loses what was reserved within a minute (%i)',
    async (round) => {
      const { db } = database;
      const organizationId = await ensureOrganization(db, `kills-${round}`);
      const target: BudgetTarget = { scope: 'organization', id: organizationId };
      const rule = { limitUsd: LIMIT, period: 'total', onReached: 'refuse' } as const;
      await db.transaction((tx) => putBudget(tx, organizationId, target, rule));
      const read = async () => (await findBudget(db, organizationId, target))!;

      const dying = [start(organizationId, 'hold'), start(organizationId, 'hold')];
      expect(await Promise.all(dying.map(({ said }) => said))).toEqual(['held', 'held']);
      for (const { go } of dying) go();
      const others = [start(organizationId, 'settle'), start(organizationId, 'settle')];
      await Promise.race(others.map(({ said }) => said));
      for (const { kill } of dying) kill();
      expect(await Promise.all(dying.map(({ ended }) => ended))).toEqual(['SIGKILL', 'SIGKILL']);
      const own = 'budget_id IN (SELECT id FROM budgets WHERE organization_id = $1)';
      const { rows } = await db.query<{ seconds: number }>(
        `SELECT extract(epoch FROM expires_at - now())::float8 AS seconds FROM budget_reservations WHERE ${own}`,
        [organizationId],
      );
      for (const { seconds } of rows) expect(seconds).toBeLessThanOrEqual(60);
      // However slow the machine is, they last until the others are done.
      await db.query(`UPDATE budget_reservations SET expires_at = now() + interval '1 hour' WHERE ${own}`, [
        organizationId,
      ]);
      expect(await Promise.all(others.map(({ ended }) => ended))).toEqual([0, 0]);
      // What the killed ones settled at last may have left room.
      expect(await start(organizationId, 'settle').ended).toBe(0);
      const { rows: left } = await db.query(`SELECT 1 FROM budget_reservations WHERE ${own}`, [organizationId]);
      const lost = left.length;
      expect(lost).toBeGreaterThanOrEqual(2);
      const before = await read();
      expect(before.spentUsd + lost * WORST).toBeGreaterThanOrEqual(LIMIT - ROUNDING);
      expect(before.spentUsd + lost * WORST).toBeLessThanOrEqual(LIMIT + WORST + ROUNDING);

      await db.query(`UPDATE budget_reservations SET expires_at = now() - interval '3 hours'`);
      expect(await start(organizationId, 'settle').ended).toBe(0);
      const after = await read();
      expect(after.reservedUsd).toBe(0);
      expect(after.spentUsd).toBeGreaterThanOrEqual(LIMIT - ROUNDING);
      expect(after.spentUsd).toBeLessThanOrEqual(LIMIT + WORST + ROUNDING);
      expect(await deleteLostReservations(db)).toBe(lost);
    },
  );
});
