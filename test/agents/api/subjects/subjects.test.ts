import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { finishRemovals } from '../../../../src/agents/api/subjects/remove.ts';
import type { Session } from '../../../../src/agents/contract/sessions.ts';
import type { AuditRecord } from '../../../../src/platform/contract/audit.ts';
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

const pathOf = (subject: string) => `/v1/agents/${agentId}/users/${subject}`;

/** A subject with some data of every kind. Returns its session. */
async function fill(subject: string): Promise<string> {
  const sessionId = await makeSession(api, agentId, { subjectId: subject });
  await beginTurn(api, sessionId, 'waiting');
  const path = pathOf(subject);
  expect((await api.call('PUT', `${path}/memory`, { body: { content: 'likes tea' } })).status).toBe(200);
  const automation = { prompt: 'x', schedule: 'every 1d' };
  expect((await api.call('POST', `${path}/automations`, { body: automation })).status).toBe(201);
  const file = await api.call('PUT', `${path}/files/content`, { body: { path: 'note.txt', content: 'hello' } });
  expect(file.status).toBe(200);
  const approval =
    'INSERT INTO standing_approvals (organization_id, agent_id, subject_id, tool) SELECT organization_id, $1, $2, $3 FROM agents WHERE id = $1';
  await api.backends.db.query(approval, [agentId, subject, 'terminal']);
  const key = `attachments/${sessionId}/a`;
  await api.backends.objects.put(key, Buffer.from('picture'), { contentType: 'image/png' });
  return sessionId;
}

const TABLES = ['sessions', 'memories', 'standing_approvals', 'automations', 'subject_activity', 'pending_removals'];

async function countRows(subject: string): Promise<Record<string, number>> {
  const counts = await Promise.all(
    TABLES.map(async (table) => {
      const sql = `SELECT 1 FROM ${table} WHERE agent_id = $1 AND subject_id = $2`;
      return [table, (await api.backends.db.query(sql, [agentId, subject])).rows.length] as const;
    }),
  );
  return Object.fromEntries(counts);
}

const FULL = {
  sessions: 1,
  memories: 1,
  standing_approvals: 1,
  automations: 1,
  subject_activity: 1,
  pending_removals: 0,
};
const EMPTY = Object.fromEntries(TABLES.map((table) => [table, 0]));

test('everything of a subject is deleted, and nothing of another', async () => {
  const [sessionId, other] = [await fill('anna'), await fill('bob')];
  expect(await countRows('anna')).toEqual(FULL);
  const reply = await api.call('DELETE', pathOf('anna'));
  expect([reply.status, reply.body]).toEqual([
    200,
    { object: 'subject.deleted', agentId, subjectId: 'anna', deleted: true, sessions: 1 },
  ]);
  expect(await countRows('anna')).toEqual(EMPTY);
  expect((await api.call('GET', `/v1/sessions/${sessionId}`)).status).toBe(404);
  const events = await api.backends.db.query('SELECT 1 FROM events WHERE session_id = $1', [sessionId]);
  expect(events.rows).toEqual([]);
  expect(await api.backends.objects.head(`attachments/${sessionId}/a`)).toBeUndefined();
  expect((await api.call<{ status: string }>('GET', `${pathOf('anna')}/volume`)).body.status).toBe('none');
  expect((await api.call('GET', `${pathOf('anna')}/files/content?path=note.txt`)).status).toBe(404);

  expect(await countRows('bob')).toEqual(FULL);
  expect((await api.call('GET', `/v1/sessions/${other}`)).status).toBe(200);
  expect(await api.backends.objects.head(`attachments/${other}/a`)).toBeDefined();
  expect((await api.call('GET', `${pathOf('bob')}/files/content?path=note.txt`)).status).toBe(200);
});

test('a deletion can be repeated, and the subject may come back', async () => {
  await fill('anna');
  for (const sessions of [1, 0]) {
    expect((await api.call('DELETE', pathOf('anna'))).body).toMatchObject({ deleted: true, sessions });
  }
  await makeSession(api, agentId, { subjectId: 'anna' });
  expect((await api.call('DELETE', '/v1/agents/agt_none/users/anna')).status).toBe(404);
});

test('a running session refuses the deletion, and nothing has happened', async () => {
  await fill('anna');
  const running = await makeSession(api, agentId, { subjectId: 'anna' });
  await beginTurn(api, running, 'running');
  const reply = await api.call('DELETE', pathOf('anna'));
  expect([reply.status, reply.body.error]).toEqual([409, 'invalid_state']);
  expect(await countRows('anna')).toEqual({ ...FULL, sessions: 2 });
  expect((await api.call('GET', `${pathOf('anna')}/files/content?path=note.txt`)).status).toBe(200);
});

test('the audit says whose data was deleted', async () => {
  await api.call('DELETE', pathOf('anna'));
  const { body } = await api.call<{ data: AuditRecord[] }>('GET', '/v1/audit?action=deleteSubject&limit=1');
  expect(body.data[0]).toMatchObject({ resource: { type: 'agent', id: agentId }, changes: { subjectId: 'anna' } });
});

test('what a deletion could not remove is removed later, and the subject gets nothing new meanwhile', async () => {
  const { sandboxes } = api.backends;
  const sessionId = await fill('anna');
  sandboxes.fail = true;
  const reply = await api.call('DELETE', pathOf('anna'));
  expect([reply.status, reply.body.error]).toEqual([502, 'service_delete_failed']);
  expect(await countRows('anna')).toEqual({ ...EMPTY, pending_removals: 1 });

  const session = { agentId, subjectId: 'anna' };
  const refused = await api.call('POST', '/v1/sessions', { body: session });
  expect([refused.status, refused.body.error]).toEqual([409, 'invalid_state']);
  const automation = { body: { prompt: 'x', schedule: 'every 1d' } };
  expect((await api.call('POST', `${pathOf('anna')}/automations`, automation)).status).toBe(409);
  await makeSession(api, agentId, { subjectId: 'bob' });

  await finishRemovals(api.backends);
  expect(await countRows('anna')).toMatchObject({ pending_removals: 1 });
  sandboxes.fail = false;
  await finishRemovals(api.backends);
  expect(await countRows('anna')).toEqual(EMPTY);
  expect(await api.backends.objects.head(`attachments/${sessionId}/a`)).toBeUndefined();
  expect((await api.call('GET', `${pathOf('anna')}/files/content?path=note.txt`)).status).toBe(404);
  expect((await api.call<Session>('POST', '/v1/sessions', { body: session })).status).toBe(201);
});

test('a deletion whose process has died is finished once its lease has ended, not before', async () => {
  const { db, sandboxes } = api.backends;
  await fill('anna');
  sandboxes.fail = true;
  await api.call('DELETE', pathOf('anna'));
  sandboxes.fail = false;
  await db.query(`UPDATE pending_removals SET lease_owner = 'dead', lease_expires = now() + interval '1 minute'`);
  await finishRemovals(api.backends);
  expect(await countRows('anna')).toMatchObject({ pending_removals: 1 });
  await db.query(`UPDATE pending_removals SET lease_expires = now() - interval '1 minute'`);
  await finishRemovals(api.backends);
  expect(await countRows('anna')).toEqual(EMPTY);
});

test('sessions that are created beside a deletion are deleted with the rest, or refused', async () => {
  await fill('anna');
  const body = { agentId, subjectId: 'anna' };
  const create = () => api.call<{ id?: string }>('POST', '/v1/sessions', { body });
  const remove = () => api.call<{ id?: string }>('DELETE', pathOf('anna'));
  const replies = await Promise.all([create(), create(), remove(), create(), create()]);
  const known = replies.filter(({ status }) => status === 201).map((reply) => reply.body.id);
  const left = await api.backends.db.query<{ id: string }>('SELECT id FROM sessions WHERE agent_id = $1', [agentId]);
  for (const { id } of left.rows) expect(known).toContain(id);
  expect(replies.map(({ status }) => status).filter((status) => ![200, 201, 409].includes(status))).toEqual([]);
});
