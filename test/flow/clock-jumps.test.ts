import { afterAll, beforeAll, expect, test } from 'vitest';
import { claimRemovals, insertRemoval } from '../../src/agents/store/removals.ts';
import { endAbandonedLogins, insertLogin } from '../../src/login/store/logins.ts';
import { claimLoginJob } from '../../src/login/store/jobs.ts';
import { ensureOrganization } from '../../src/platform/store/keys.ts';
import { deleteLostReservations, putBudget, reserveBudgets, settleBudgets } from '../../src/platform/store/budgets.ts';
import { claimDeliveries, deleteOldDeliveries, markDelivered } from '../../src/platform/store/webhook-outbox.ts';
import { addDelivery, insertWebhook } from '../../src/platform/store/webhooks.ts';
import { openEmbeddedDatabase } from '../support/database.ts';
import type { TestDatabase } from '../support/database.ts';
import { STORED_WEBHOOK } from '../support/webhook.ts';

/*
 * A clock that jumps by a day, on the embedded store. The database's clock cannot be set, so its rows are moved the other
 * way: a clock that was set back leaves times in the future, one that was set forward leaves them in the past.
 */

const LEASE_SECONDS = 60;

let database: TestDatabase;
let organizationId: string;
beforeAll(async () => {
  database = await openEmbeddedDatabase();
  organizationId = await ensureOrganization(database.db, 'acme');
});
afterAll(() => database.close());

/** Moves the named columns of all rows of a table. */
async function move(table: string, columns: readonly string[], days: 1 | -1): Promise<void> {
  const changes = columns.map((column) => `${column} = ${column} + ${days} * interval '1 day'`);
  await database.db.query(`UPDATE ${table} SET ${changes.join(', ')}`);
}

const DELIVERY_TIMES = ['next_attempt_at', 'locked_until', 'created_at'];

async function addWebhook(id: string): Promise<string> {
  await insertWebhook(database.db, organizationId, { ...STORED_WEBHOOK, id });
  return (await addDelivery(database.db, organizationId, id, 'webhook.test')).id;
}

const claim = () => claimDeliveries(database.db, 32, LEASE_SECONDS);

test.each([
  ['back', 1],
  ['forward', -1],
] as const)(
  'a webhook delivery is sent after the clock was set %s, and once it is taken no more',
  async (name, days) => {
    const { db } = database;
    const id = await addWebhook(`whk_${name}`);
    await move('webhook_deliveries', DELIVERY_TIMES, days);
    const [due] = await claim();
    expect(due?.id).toBe(id);
    expect(await claim()).toEqual([]);
    // its process died with the claim
    await move('webhook_deliveries', DELIVERY_TIMES, days);
    const [again] = await claim();
    expect(again?.id).toBe(id);
    await db.transaction((tx) => markDelivered(tx, again!, 204));
    await move('webhook_deliveries', DELIVERY_TIMES, days);
    expect(await claim()).toEqual([]);
    // kept for as long as it should be
    expect(await deleteOldDeliveries(db, 30)).toBe(0);
  },
);

test('a deletion that was cut off goes on after the clock was set back', async () => {
  const { db } = database;
  const removal = { organizationId, agentId: 'agt_1', subjectId: 'ada', sessionIds: [], volume: true };
  const { id } = await db.transaction((tx) => insertRemoval(tx, removal, 'gone'));
  expect(await claimRemovals(db, 'next', 10)).toEqual([]);
  await move('pending_removals', ['lease_expires', 'created_at'], 1);
  expect((await claimRemovals(db, 'next', 10)).map((found) => found.id)).toEqual([id]);
  expect(await claimRemovals(db, 'third', 10)).toEqual([]);
});

test('a login whose process died ends after the clock was set back, and its place is free', async () => {
  const { db } = database;
  const login = { origin: 'https://app.example', usernameHint: null, method: 'password', sessionKey: null } as const;
  await insertLogin(db, { ...login, id: 'lgn_1', organizationId, operation: 'login', owner: 'gone' });
  await endAbandonedLogins(db);
  const readState = async () => (await db.query<{ state: string }>('SELECT state FROM logins')).rows[0]?.state;
  expect(await readState()).toBe('running');
  await move('logins', ['alive_until'], 1);
  await endAbandonedLogins(db);
  expect(await readState()).toBe('failed');

  const job = { organizationId, key: null, limit: 1, holdMs: 60_000 };
  expect(await claimLoginJob(db, { ...job, id: 'one' })).toBe('taken');
  expect(await claimLoginJob(db, { ...job, id: 'two' })).toBe('too-many');
  await move('login_jobs', ['expires_at'], 1);
  expect(await claimLoginJob(db, { ...job, id: 'three' })).toBe('taken');
});

test('a reservation of a dead worker does not hold a budget for the day that the clock was set back', async () => {
  const { db } = database;
  const budget = { limitUsd: 1, period: 'total', onReached: 'refuse' } as const;
  await db.transaction((tx) => putBudget(tx, organizationId, { scope: 'organization', id: organizationId }, budget));
  const targets = [`organization/${organizationId}`];
  const reserve = (id: string) =>
    reserveBudgets(db, { organizationId }, { id, targets, amountUsd: 1, seconds: LEASE_SECONDS });
  expect(await reserve('dead')).toEqual({ held: 1, room: 0 });
  expect(await reserve('next')).toHaveProperty('refused');
  await move('budget_reservations', ['expires_at'], 1);
  await deleteLostReservations(db);
  const { rows } = await db.query<{ soon: boolean }>(
    `SELECT expires_at < now() + interval '1 hour' AS soon FROM budget_reservations`,
  );
  expect(rows).toEqual([{ soon: true }]);
  // and the cost of one whose worker lives after all is not lost
  await settleBudgets(db, 'dead', 1);
  expect(await reserve('large')).toHaveProperty('refused');
});
