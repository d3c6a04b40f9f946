import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { watchSession } from '../../../../src/agents/channels.ts';
import type { LiveEvent } from '../../../../src/agents/channels.ts';
import type { List } from '../../../../src/platform/contract/common.ts';
import type { Session } from '../../../../src/agents/contract/sessions.ts';
import { listEvents } from '../../../../src/agents/store/events.ts';
import { insertInbox, notifySession } from '../../../../src/agents/store/inbox.ts';
import { writeJournal } from '../../../../src/agents/store/journal.ts';
import { beginTurn, makeAgent, makeSession, openApi } from '../harness.ts';
import type { Api } from '../harness.ts';

let api: Api;
let agentId: string;
let id: string;
beforeAll(async () => {
  api = await openApi();
});
beforeEach(async () => {
  api.backends.sandboxes.fail = false;
  agentId = await makeAgent(api);
  id = await makeSession(api, agentId);
});
afterAll(() => api.close());

const get = async () => (await api.call<Session>('GET', `/v1/sessions/${id}`)).body;
const archive = () => api.call<Session>('POST', `/v1/sessions/${id}/archive`);
const remove = () => api.call('DELETE', `/v1/sessions/${id}`);
const isRemoved = () => api.backends.sandboxes.removed.some((target) => target.sessionId === id);

test('title, yolo mode and metadata change; metadata whole', async () => {
  const change = (body: object) => api.call<Session>('POST', `/v1/sessions/${id}`, { body });
  expect((await change({ metadata: { a: 1 } })).body.metadata).toEqual({ a: 1 });
  const second = await change({ title: 'Mail', yoloMode: true, metadata: { b: 2 } });
  expect(second.body).toMatchObject({ title: 'Mail', yoloMode: true, metadata: { b: 2 } });
  expect((await change({ yoloMode: false })).body).toMatchObject({ title: 'Mail', yoloMode: false });
  expect((await change({})).status).toBe(400);
});

test('a title that was set is never overwritten by one that was made up', async () => {
  await api.call('POST', `/v1/sessions/${id}`, { body: { title: 'Mine' } });
  await writeJournal(api.backends.db, [{ sessionId: id, epoch: null, events: [], session: { title: 'Made up' } }]);
  expect((await get()).title).toBe('Mine');
});

test('pending asks and queued prompts show, in the record and in the list', async () => {
  const eventId = await beginTurn(api, id, 'waiting');
  await api.backends.db.transaction(async (tx) => {
    await insertInbox(tx, id, [{ kind: 'message', eventId: 'evt_x' }]);
    await notifySession(tx, id, { queued: 1, interrupt: null, approvals: [], wake: false });
  });
  const session = await get();
  expect(session).toMatchObject({
    status: 'waiting_on_human',
    queuedCount: 1,
    pendingActions: [{ eventId, type: 'agent.approval_request' }],
  });
  const list = await api.call<List<Session>>('GET', `/v1/sessions?agentId=${agentId}`);
  expect(list.body.data).toEqual([session]);
});

test('lists filter by agent, subject and status; archived ones only when asked for', async () => {
  const second = await makeSession(api, agentId, { subjectId: 'bob' });
  const gone = await makeSession(api, agentId, { subjectId: 'bob' });
  await api.call('POST', `/v1/sessions/${gone}/archive`);
  await beginTurn(api, second, 'running');
  const list = async (query: string) => {
    const reply = await api.call<List<Session>>('GET', `/v1/sessions?${query}`);
    return reply.body.data.map((session) => session.id);
  };
  expect(await list(`agentId=${agentId}`)).toEqual([second, id]);
  expect(await list(`agent=${agentId}&subject=bob`)).toEqual([second]);
  expect(await list(`agent=${agentId}&agentId=${agentId}&subjectId=bob&subject=bob`)).toEqual([second]);
  expect(await list(`agentId=${agentId}&status=archived`)).toEqual([gone]);
  expect(await list(`agentId=${agentId}&status=idle`)).toEqual([id]);
  expect(await list(`agentId=${agentId}&status=running`)).toEqual([second]);
  expect(await list(`agentId=${agentId}&limit=1&offset=1`)).toEqual([id]);
  expect(await list('agentId=agt_unknown')).toEqual([]);
});

test('an idle session is archived once, and its sandbox goes', async () => {
  const { status, body } = await archive();
  expect([status, body.status]).toEqual([200, 'archived']);
  expect(body.archivedAt).not.toBeNull();
  expect((await archive()).body).toEqual(body);
  expect(isRemoved()).toBe(true);
  const update = await api.call('POST', `/v1/sessions/${id}`, { body: { title: 'x' } });
  expect([update.status, update.body.error]).toEqual([409, 'invalid_state']);
});

test('archiving succeeds when the sandbox cannot be removed', async () => {
  api.backends.sandboxes.fail = true;
  expect((await archive()).body.status).toBe('archived');
});

test('a running session can be neither archived nor deleted', async () => {
  await beginTurn(api, id, 'running');
  for (const reply of [await archive(), await remove()]) {
    expect([reply.status, JSON.parse(reply.text)]).toMatchObject([409, { error: 'invalid_state' }]);
  }
  expect((await get()).status).toBe('running');
});

test('archiving a waiting session ends its turn, cancels its pending actions and drops queued prompts', async () => {
  const { db, bus } = api.backends;
  const askId = await beginTurn(api, id, 'waiting');
  await db.transaction(async (tx) => {
    await insertInbox(tx, id, [{ kind: 'message', eventId: 'evt_x' }]);
    await notifySession(tx, id, { queued: 1, interrupt: null, approvals: [], wake: true });
  });
  const { rows } = await db.query<{ organization_id: string }>('SELECT organization_id FROM sessions WHERE id = $1', [
    id,
  ]);
  const seen = Promise.withResolvers<LiveEvent>();
  const watch = await watchSession(bus, rows[0]!.organization_id, id, { onEvent: seen.resolve, onDelta: () => {} });
  const { body } = await archive();
  expect(body).toMatchObject({ status: 'archived', pendingActions: [], queuedCount: 0 });
  const last = (await listEvents(db, id, 0, 100)).at(-1);
  expect(last?.payload).toEqual({ type: 'session.status_idle', stop_reason: { type: 'end_turn' }, interrupted: true });
  expect(await seen.promise).toMatchObject({ id: last?.id });
  watch.close();
  const asks = await db.query('SELECT state FROM pending_actions WHERE session_id = $1 AND id = $2', [id, askId]);
  expect(asks.rows).toEqual([{ state: 'cancelled' }]);
  const left = await db.query(
    `SELECT s.live_turn, s.wake_at, s.interrupt, t.state, (SELECT count(*) FROM inbox WHERE session_id = s.id) AS inbox
     FROM sessions s JOIN turns t ON t.session_id = s.id WHERE s.id = $1`,
    [id],
  );
  expect(left.rows).toEqual([{ live_turn: null, wake_at: null, interrupt: null, state: 'ended', inbox: 0 }]);
});

test('a worker that still holds the lease cannot write to an archived session', async () => {
  await archive();
  const entry = { sessionId: id, epoch: 0, events: [], session: { status: 'idle' as const } };
  expect(await writeJournal(api.backends.db, [entry])).toEqual([undefined]);
  expect((await get()).status).toBe('archived');
});

test('a deleted session is gone with its events; the volume stays', async () => {
  await beginTurn(api, id, 'waiting');
  expect((await remove()).body).toEqual({ object: 'session.deleted', id, deleted: true });
  expect([isRemoved(), api.backends.sandboxes.deleted]).toEqual([true, []]);
  expect((await remove()).status).toBe(404);
  const { db } = api.backends;
  for (const table of ['events', 'turns', 'pending_actions', 'inbox']) {
    const { rows } = await db.query(`SELECT 1 FROM ${table} WHERE session_id = $1`, [id]);
    expect(rows).toEqual([]);
  }
});

test('when the sandbox cannot be removed nothing is deleted, and it can be tried again', async () => {
  await beginTurn(api, id, 'waiting');
  const before = await get();
  api.backends.sandboxes.fail = true;
  const reply = await remove();
  expect([reply.status, reply.body.error]).toEqual([502, 'service_delete_failed']);
  expect(reply.text).not.toContain('out of order');
  expect(await get()).toEqual(before);
  expect(await listEvents(api.backends.db, id, 0, 10)).toHaveLength(2);
  api.backends.sandboxes.fail = false;
  expect((await remove()).status).toBe(200);
});
