import { afterAll, beforeAll, expect, test } from 'vitest';
import { ensureOrganization } from '../../../src/platform/store/keys.ts';
import { hasRoom } from '../../../src/platform/store/own-limit.ts';
import { claimDeliveries, dropExcessDeliveries } from '../../../src/platform/store/webhook-outbox.ts';
import {
  addDelivery,
  findWebhook,
  insertWebhook,
  listDeliveries,
  updateWebhook,
} from '../../../src/platform/store/webhooks.ts';
import { openEmbeddedDatabase } from '../../support/database.ts';
import type { TestDatabase } from '../../support/database.ts';
import { STORED_WEBHOOK } from '../../support/webhook.ts';

const CAPACITY = 32;

let database: TestDatabase;
beforeAll(async () => {
  database = await openEmbeddedDatabase();
});
afterAll(() => database.close());

async function fill(name: string, webhooks: number, deliveries: number): Promise<string> {
  const { db } = database;
  const organizationId = await ensureOrganization(db, name);
  for (let index = 0; index < webhooks; index += 1) {
    const id = `whk_${name}_${index}`;
    await insertWebhook(db, organizationId, { ...STORED_WEBHOOK, id });
    for (let count = 0; count < deliveries; count += 1) await addDelivery(db, organizationId, id, 'webhook.test');
  }
  return organizationId;
}

test('many deliveries of one organization leave places to the others', async () => {
  await fill('hostile', 20, 5);
  const good = await fill('good', 1, 1);
  const first = await claimDeliveries(database.db, CAPACITY, 60);
  expect(first.map(({ organizationId }) => organizationId)).toContain(good);
  // none of them ends, and the hostile organization has more due deliveries
  expect(first.length).toBeLessThan(CAPACITY);
  expect(await claimDeliveries(database.db, CAPACITY - first.length, 60)).toEqual([]);
  const late = await fill('late', 1, 1);
  const next = await claimDeliveries(database.db, CAPACITY - first.length, 60);
  expect(next.map(({ organizationId }) => organizationId)).toEqual([late]);
});

test('many requests at once do not exceed the number that an organization may have', async () => {
  const { db } = database;
  const organizationId = await ensureOrganization(db, 'eager');
  const add = (index: number) =>
    db.transaction(async (tx) => {
      if (!(await hasRoom(tx, 'webhooks', { organizationId, limit: 3 }))) return false;
      await insertWebhook(tx, organizationId, { ...STORED_WEBHOOK, id: `whk_eager_${index}` });
      return true;
    });
  const added = await Promise.all(Array.from({ length: 10 }, (_, index) => add(index)));
  expect(added.filter(Boolean)).toHaveLength(3);
});

test('a backlog beyond the bound loses its oldest deliveries, which are counted and stay in the list', async () => {
  const { db } = database;
  const organizationId = await fill('backlog', 2, 0);
  const [full, other] = ['whk_backlog_0', 'whk_backlog_1'];
  const added: string[] = [];
  for (let count = 0; count < 8; count += 1) {
    added.push((await addDelivery(db, organizationId, full, 'webhook.test')).id);
  }
  await addDelivery(db, organizationId, other, 'webhook.test');
  const [claimed] = added;
  await db.query(`UPDATE webhook_deliveries SET locked_until = now() + interval '1 hour' WHERE id = $1`, [claimed]);
  const dropped: number[] = [];
  do dropped.push(await dropExcessDeliveries(db, 5, 2));
  while (dropped.at(-1) !== 0);
  expect(dropped).toEqual([2, 1, 0]);
  const listOf = async (id: string, state: 'pending' | 'failed') =>
    (await listDeliveries(db, id, { limit: 100, offset: 0, state })).rows;
  const failed = await listOf(full, 'failed');
  expect(failed.map(({ id }) => id)).toEqual([added[3], added[2], added[1]]);
  expect(failed[0]?.lastError).toBe('Dropped: the webhook had more than 5 pending deliveries.');
  expect((await listOf(full, 'pending')).map(({ id }) => id)).toEqual([
    added[7],
    added[6],
    added[5],
    added[4],
    claimed,
  ]);
  expect(await listOf(other, 'pending')).toHaveLength(1);
  expect(await findWebhook(db, organizationId, full)).toMatchObject({ droppedDeliveries: 3 });
  await updateWebhook(db, organizationId, full, { enabled: true });
  expect(await findWebhook(db, organizationId, full)).toMatchObject({ droppedDeliveries: 0 });
});
