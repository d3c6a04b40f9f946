import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { deleteLostReservations, findBudget, putBudget } from '../../src/platform/store/budgets.ts';
import type { BudgetTarget } from '../../src/platform/store/budgets.ts';
import { ensureOrganization } from '../../src/platform/store/keys.ts';
import { LEASED_COST, LEASED_WORST } from '../support/budgets/amounts.ts';
import { openPostgresDatabase } from '../support/database.ts';
import { findService } from '../support/find-service.ts';

const WORKER = fileURLToPath(new URL('../support/budgets/leasing-worker.ts', import.meta.url));
const LIMIT = 2;
/** `CAPSTAN_BUDGET_ROUNDS=100` for a long run. */
const ROUNDS = Number(process.env['CAPSTAN_BUDGET_ROUNDS'] ?? 1);
const ROUNDING = 1e-9;

const postgres = await findService('postgres');

describe.skipIf(postgres === undefined)('processes with leases of one budget, some killed', () => {
  const folder = mkdtempSync(join(tmpdir(), 'capstan-leases-'));
  let database: Awaited<ReturnType<typeof openPostgresDatabase>>;
  beforeAll(async () => {
    database = await openPostgresDatabase(postgres!);
  });
  afterAll(async () => {
    await database.close();
    rmSync(folder, { recursive: true });
  });

  it.each(Array.from({ length: ROUNDS }, (_, round) => round))(
    'spends no more than the limit and a call, and returns what dead processes had leased (%i)',
    async (round) => {
      const { db } = database;
      const organizationId = await ensureOrganization(db, `lease-kills-${round}`);
      const target: BudgetTarget = { scope: 'organization', id: organizationId };
      const rule = { limitUsd: LIMIT, period: 'total', onReached: 'refuse' } as const;
      await db.transaction((tx) => putBudget(tx, organizationId, target, rule));
      const read = async () => (await findBudget(db, organizationId, target))!;
      const path = join(folder, String(round));
      writeFileSync(path, '');
      /** what all calls that have ended have cost, whether it was written or not */
      const readCost = () => statSync(path).size * LEASED_COST;
      const start = (mode = '') => {
        const child = fork(WORKER, [database.url, organizationId, path, mode], { execArgv: [] });
        const ended = once(child, 'exit').then(([code, signal]: unknown[]) => signal ?? code);
        const said = Promise.race([once(child, 'message').then(([message]: unknown[]) => message), ended]);
        return { said, ended, go: () => child.send('go'), kill: () => child.kill('SIGKILL') };
      };

      const others = [start('wait'), start('wait')];
      expect(await Promise.all(others.map(({ said }) => said))).toEqual(['ready', 'ready']);
      const dying = [start('die'), start('die')];
      expect(await Promise.all(dying.map(({ said }) => said))).toEqual(['working', 'working']);
      for (const { go } of others) go();
      for (const { kill } of dying) kill();
      expect(await Promise.all(dying.map(({ ended }) => ended))).toEqual(['SIGKILL', 'SIGKILL']);
      const own = 'budget_id IN (SELECT id FROM budgets WHERE organization_id = $1)';
      // However slow the machine is, what the killed ones had lasts until the others are done.
      await db.query(`UPDATE budget_reservations SET expires_at = now() + interval '1 hour' WHERE ${own}`, [
        organizationId,
      ]);
      expect(await Promise.all(others.map(({ ended }) => ended))).toEqual([0, 0]);
      expect(await start().ended).toBe(0);
      const { rows } = await db.query<{ amount: number }>(
        `SELECT amount_usd::float8 AS amount FROM budget_reservations WHERE ${own}`,
        [organizationId],
      );
      const lost = rows.reduce((sum, { amount }) => sum + amount, 0);
      const before = await read();
      expect(before.spentUsd + lost).toBeGreaterThanOrEqual(LIMIT - ROUNDING);
      expect(before.spentUsd + lost).toBeLessThanOrEqual(LIMIT + LEASED_WORST + ROUNDING);
      expect(readCost()).toBeGreaterThanOrEqual(before.spentUsd - ROUNDING);
      expect(readCost() - before.spentUsd).toBeLessThanOrEqual(lost + ROUNDING);
      const unwritten = readCost() - before.spentUsd;

      await db.query(`UPDATE budget_reservations SET expires_at = now() - interval '3 hours'`);
      expect(await start().ended).toBe(0);
      const after = await read();
      expect(after.reservedUsd).toBe(0);
      expect(after.spentUsd).toBeGreaterThanOrEqual(LIMIT - ROUNDING);
      expect(after.spentUsd).toBeLessThanOrEqual(LIMIT + LEASED_WORST + ROUNDING);
      expect(readCost() - after.spentUsd).toBeCloseTo(unwritten, 9);
      expect(await deleteLostReservations(db)).toBe(rows.length);
    },
  );
});
