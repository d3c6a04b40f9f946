import { afterAll, beforeAll, expect, test } from 'vitest';
import { ensureOrganization } from '../../../src/platform/store/keys.ts';
import { hasRoom } from '../../../src/platform/store/own-limit.ts';
import { claimDeliveries } from '../../../src/platform/store/webhook-outbox.ts';
import { addDelivery, insertWebhook } from '../../../src/platform/store/webhooks.ts';
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
