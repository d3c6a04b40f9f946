import { afterAll, beforeAll, expect, test } from 'vitest';
import { deleteArchivedLogs, dropEmptyEventPartitions } from '../../../src/agents/store/retention.ts';
import { deleteOldUsage } from '../../../src/platform/store/usage.ts';
import { beginTurn, makeAgent, makeSession, openApi } from '../api/harness.ts';
import type { Api } from '../api/harness.ts';

let api: Api;
beforeAll(async () => {
  api = await openApi();
});
afterAll(() => api.close());

const count = async (table: string, sessionId: string): Promise<number> => {
  const { rows } = await api.backends.db.query(`SELECT 1 FROM ${table} WHERE session_id = $1`, [sessionId]);
  return rows.length;
};

test('the log of a session goes once it was archived long enough ago, others stay', async () => {
  const { db } = api.backends;
  const agent = await makeAgent(api);
  const [old, recent, live] = [
    await makeSession(api, agent),
    await makeSession(api, agent),
    await makeSession(api, agent),
  ];
  for (const id of [old, recent, live]) await beginTurn(api, id, 'running');
  const archive = (id: string, days: number) =>
    db.query(
      `UPDATE sessions SET status = 'archived', live_turn = NULL, archived_at = now() - $2 * interval '1 day' WHERE id = $1`,
      [id, days],
    );
  await archive(old, 11);
  await archive(recent, 9);
  expect(await deleteArchivedLogs(db, 10, 20)).toBe(1);
  expect(await deleteArchivedLogs(db, 10, 20)).toBe(0);
  expect([await count('events', old), await count('turns', old)]).toEqual([0, 0]);
  for (const id of [recent, live]) expect(await count('events', id)).toBeGreaterThan(0);
  expect((await api.call('GET', `/v1/sessions/${old}`)).status).toBe(200);
  const log = await api.call<{ data: unknown[] }>('GET', `/v1/sessions/${old}/events`);
  expect([log.status, log.body.data]).toEqual([200, []]);
});

test('months that ended before the last one are dropped once they are empty', async () => {
  const { db } = api.backends;
  const add = (month: string, from: string, to: string) =>
    db.exec(`CREATE TABLE events_${month} PARTITION OF events FOR VALUES FROM ('${from}') TO ('${to}')`);
  await add('y2020m01', '2020-01-01', '2020-02-01');
  await add('y2020m02', '2020-02-01', '2020-03-01');
  await add('y2020m03', '2020-03-01', '2020-04-01');
  await db.query(
    `INSERT INTO events (session_id, sequence, id, type, payload, created_at)
     VALUES ('ses_x', 1, 'evt_x', 'user.steer', '{}', '2020-02-02')`,
  );
  expect(await dropEmptyEventPartitions(db, new Date('2020-04-15T00:00:00Z'))).toEqual(['events_y2020m01']);
  await db.query(`DELETE FROM events WHERE id = 'evt_x'`);
  expect(await dropEmptyEventPartitions(db, new Date('2020-05-15T00:00:00Z'))).toEqual([
    'events_y2020m02',
    'events_y2020m03',
  ]);
  expect(await dropEmptyEventPartitions(db, new Date())).toEqual([]);
});

test('counts of usage go after their days', async () => {
  const { db } = api.backends;
  await db.query(
    `INSERT INTO usage_records (organization_id, occurred_at, source, kind, rolled)
     SELECT id, now() - days * interval '1 day', 'agents', 'model', true
     FROM organizations, unnest(ARRAY[0, 10, 11, 500]) AS days WHERE name = 'default'`,
  );
  expect(await deleteOldUsage(db, 10)).toBe(2);
  expect(await deleteOldUsage(db, 10)).toBe(0);
});
