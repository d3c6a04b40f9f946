import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { deleteOldSessions, deleteOldSubjects } from '../../../../src/agents/api/subjects/remove.ts';
import { beginTurn, makeAgent, makeSession, openApi } from '../harness.ts';
import type { Api } from '../harness.ts';

let api: Api;
let agentId: string;
beforeAll(async () => {
  api = await openApi();
});
afterAll(() => api.close());
beforeEach(async () => {
  agentId = await makeAgent(api);
});

const age = (sessionId: string, days: number) =>
  api.backends.db.query(`UPDATE sessions SET last_activity_at = now() - $2 * interval '1 day' WHERE id = $1`, [
    sessionId,
    days,
  ]);
const write = (subject: string) =>
  api.call('PUT', `/v1/agents/${agentId}/users/${subject}/files/content`, { body: { path: 'a', content: 'x' } });
const hasFile = async (subject: string) =>
  (await api.call('GET', `/v1/agents/${agentId}/users/${subject}/files/content?path=a`)).status === 200;
const hasSession = async (id: string) => (await api.call('GET', `/v1/sessions/${id}`)).status === 200;

test('sessions without activity go, running ones and the files stay', async () => {
  const [old, recent, running] = [
    await makeSession(api, agentId),
    await makeSession(api, agentId),
    await makeSession(api, agentId),
  ];
  await write('anna');
  await beginTurn(api, running, 'running');
  await age(old, 11);
  await age(recent, 9);
  await age(running, 11);
  expect(await deleteOldSessions(api.backends, 10)).toBe(false);
  expect(await Promise.all([old, recent, running].map(hasSession))).toEqual([false, true, true]);
  expect(api.backends.sandboxes.removed.map(({ sessionId }) => sessionId)).toContain(old);
  expect(await hasFile('anna')).toBe(true);
});

test('a subject goes with its files once neither a session nor its files were used', async () => {
  const { db } = api.backends;
  const sessionId = await makeSession(api, agentId, { subjectId: 'old' });
  await makeSession(api, agentId, { subjectId: 'new' });
  for (const subject of ['old', 'new']) await write(subject);
  await age(sessionId, 11);
  await deleteOldSubjects(api.backends, 10);
  expect([await hasSession(sessionId), await hasFile('old')]).toEqual([true, true]);

  await db.query(`UPDATE subject_activity SET last_used_at = now() - interval '11 days' WHERE subject_id = 'old'`);
  await deleteOldSubjects(api.backends, 10);
  expect([await hasSession(sessionId), await hasFile('old'), await hasFile('new')]).toEqual([false, false, true]);
});

test('a subject whose sessions were deleted one by one is still found', async () => {
  const { db } = api.backends;
  await write('anna');
  const sessionId = await makeSession(api, agentId);
  await db.query('DELETE FROM subject_activity');
  await age(sessionId, 11);
  await deleteOldSessions(api.backends, 10);
  await deleteOldSubjects(api.backends, 12);
  expect(await hasFile('anna')).toBe(true);
  await deleteOldSubjects(api.backends, 10);
  expect(await hasFile('anna')).toBe(false);
});

test('a subject with an enabled automation stays', async () => {
  const sessionId = await makeSession(api, agentId);
  await age(sessionId, 11);
  await api.call('POST', `/v1/agents/${agentId}/users/anna/automations`, {
    body: { prompt: 'x', schedule: 'every 30d' },
  });
  await deleteOldSubjects(api.backends, 10);
  expect(await hasSession(sessionId)).toBe(true);
});
