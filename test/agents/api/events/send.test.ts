import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { onControl, onWake } from '../../../../src/agents/channels.ts';
import type { Control } from '../../../../src/agents/channels.ts';
import { openEmbeddedDatabase, openPostgresDatabase } from '../../../support/database.ts';
import type { TestDatabase } from '../../../support/database.ts';
import { findService } from '../../../support/find-service.ts';
import { listInbox } from '../../../../src/agents/store/inbox.ts';
import { openWorld, prompt, toolResult } from './harness.ts';
import type { World } from './harness.ts';
import { append, ask, endTurn } from './worker.ts';
import { buildRawEvent } from '../../../support/events.ts';

const postgres = await findService('postgres');

describe.each(['embedded', 'postgres'] as const)('sending events on %s', (kind) => {
  if (kind === 'postgres' && postgres === undefined) return;
  let database: TestDatabase;
  let world: World;
  const woken: string[] = [];
  const controls: Control[] = [];

  beforeAll(async () => {
    database = kind === 'postgres' ? await openPostgresDatabase(postgres ?? '') : await openEmbeddedDatabase();
    world = await openWorld({ db: database.db });
    await onWake(world.bus, (sessionId) => woken.push(sessionId));
    await onControl(world.bus, (control) => controls.push(control));
  });
  afterAll(async () => {
    await world.close();
    await database.close();
  });

  async function readSession(id: string): Promise<Record<string, unknown>> {
    const { rows } = await world.db.query('SELECT * FROM sessions WHERE id = $1', [id]);
    return rows[0] ?? {};
  }

  async function startTurn(): Promise<{ sessionId: string; turnId: string }> {
    const sessionId = await world.createSession();
    const { body } = await world.send(sessionId, [prompt('go')]);
    return { sessionId, turnId: body.data[0]?.turnId ?? '' };
  }

  test('a prompt opens a turn, and the response matches the log', async () => {
    const sessionId = await world.createSession(7);
    const event = prompt('hello', { metadata: { a: 1 } });
    const sent = await world.send(sessionId, [{ ...event, unknown: true }]);
    expect(sent.status).toBe(200);
    expect(sent.body.data).toMatchObject([{ sequence: 1, status: 'received', processedAt: null, payload: event }]);
    expect(sent.body.data[0]?.payload).toEqual(event);
    expect(sent.headers.get('ratelimit-limit')).toBe('7');
    expect(sent.headers.get('ratelimit-remaining')).toBe('6');
    expect(Number(sent.headers.get('ratelimit-reset'))).toBeGreaterThan(0);
    const { body } = await world.list(sessionId);
    expect(body.data[0]).toEqual(sent.body.data[0]);
    expect(body.data[1]).toMatchObject({ type: 'session.status_running', sequence: 2, turnId: body.data[0]?.turnId });
    expect(body.data[1]).not.toHaveProperty('internal');
    const session = await readSession(sessionId);
    expect(session).toMatchObject({ status: 'running', live_turn: body.data[0]?.turnId, last_sequence: 2 });
    expect(session.wake_at).toBeInstanceOf(Date);
    await expect.poll(() => woken).toContain(sessionId);
  });

  test('prompts to a busy session stand in line', async () => {
    const { sessionId } = await startTurn();
    const second = await world.send(sessionId, [prompt('second')]);
    const third = await world.send(sessionId, [prompt('third')], {}, { delivery: 'when_idle' });
    expect([second.status, third.status]).toEqual([202, 202]);
    expect(second.body.data).toMatchObject([{ status: 'queued', turnId: null }]);
    const waiting = await listInbox(world.db, sessionId, 10);
    const ids = [second, third].map(({ body }) => body.data[0]?.id);
    expect(waiting.map((item) => item.prompt)).toEqual(ids.map((eventId) => ({ kind: 'message', eventId })));
    expect(await readSession(sessionId)).toMatchObject({ queued_count: 2 });
  });

  test('an interrupt is left on the session and told to its worker', async () => {
    const { sessionId, turnId } = await startTurn();
    const sent = await world.send(sessionId, [{ type: 'user.interrupt', message: 'wait' }]);
    expect(sent).toMatchObject({ status: 200, body: { data: [{ status: 'received', turnId }] } });
    expect((await readSession(sessionId)).interrupt).toEqual({ eventId: sent.body.data[0]?.id, message: 'wait' });
    await expect.poll(() => controls).toContainEqual({ sessionId, kind: 'interrupt' });
  });

  test('answers resume a turn, whose open step stays', async () => {
    const { sessionId, turnId } = await startTurn();
    const [approval = '', clarify = ''] = await ask(world, sessionId, turnId, [
      'agent.approval_request',
      'agent.clarify_request',
    ]);
    const first = await world.send(sessionId, [{ type: 'user.clarify_result', request_id: clarify, answer: 'blue' }]);
    expect(first).toMatchObject({ status: 200, body: { data: [{ status: 'processed', turnId }] } });
    expect(first.body.data[0]?.processedAt).toEqual(first.body.data[0]?.createdAt);
    expect(await readSession(sessionId)).toMatchObject({ status: 'waiting_on_human', wake_at: null });
    const allow = { type: 'user.approval_response', approval_id: approval, result: 'allow', scope: 'always' };
    await world.send(sessionId, [allow]);
    expect(await readSession(sessionId)).toMatchObject({
      status: 'running',
      live_turn: turnId,
      wake_at: expect.any(Date),
    });
    const { body } = await world.list(sessionId);
    expect(body.data.slice(-4).map((event) => event.type)).toEqual([
      'user.clarify_result',
      'session.status_idle',
      'user.approval_response',
      'session.status_running',
    ]);
    expect(body.data.at(-3)?.payload.stop_reason).toEqual({ type: 'requires_action', event_ids: [approval] });
    const { rows } = await world.db.query('SELECT state, step FROM turns WHERE id = $1', [turnId]);
    expect(rows).toEqual([{ state: 'running', step: { number: 1, calls: [] } }]);
    const asks = await world.db.query('SELECT id, state, answer, kickoff FROM pending_actions WHERE session_id = $1', [
      sessionId,
    ]);
    expect(asks.rows).toEqual(
      expect.arrayContaining([
        { id: approval, state: 'answered', answer: { result: 'allow', scope: 'always' }, kickoff: false },
        { id: clarify, state: 'answered', answer: { answer: 'blue' }, kickoff: false },
      ]),
    );
    const standing = await world.db.query('SELECT tool, subject_id FROM standing_approvals WHERE agent_id = $1', [
      (await readSession(sessionId)).agent_id,
    ]);
    expect(standing.rows).toEqual([{ tool: 'tool_approval_request', subject_id: 'anna' }]);
    expect(await world.send(sessionId, [allow])).toMatchObject({
      status: 410,
      body: { error: 'response_expired', retryable: false },
    });
  });

  test('an approval for the session is remembered there once', async () => {
    const { sessionId, turnId } = await startTurn();
    for (let round = 0; round < 2; round += 1) {
      const [id] = await ask(world, sessionId, turnId, ['agent.approval_request']);
      await world.send(sessionId, [
        { type: 'user.approval_response', approval_id: id, result: 'allow', scope: 'session' },
      ]);
    }
    expect((await readSession(sessionId)).session_approvals).toEqual(['tool_approval_request']);
  });

  test('a final result patches the start and opens a turn once', async () => {
    const { sessionId, turnId } = await startTurn();
    const [id = ''] = await ask(world, sessionId, turnId, ['agent.custom_tool_use']);
    const start = await world.send(sessionId, [toolResult(id, 'working', 'running')]);
    await endTurn(world, sessionId, turnId);
    const final = await world.send(sessionId, [toolResult(id, 'ready', 'completed')]);
    expect(final.status).toBe(200);
    expect(final.body.data).toEqual([{ ...start.body.data[0], payload: toolResult(id, 'ready', 'completed') }]);
    const again = await world.send(sessionId, [toolResult(id, 'other', 'failed')]);
    expect(again).toMatchObject({ status: 200, body: final.body });
    expect(again.headers.get('ratelimit-remaining')).toBe(final.headers.get('ratelimit-remaining'));
    const { body } = await world.list(sessionId);
    expect(body.data.find((event) => event.id === start.body.data[0]?.id)).toEqual(final.body.data[0]);
    expect(body.data.filter((event) => event.type === 'session.status_running')).toHaveLength(3);
    expect(body.data.at(-1)?.turnId).not.toBe(turnId);
    expect(await readSession(sessionId)).toMatchObject({ status: 'running', live_turn: body.data.at(-1)?.turnId });
  });

  test('the limit refuses the whole request', async () => {
    const sessionId = await world.createSession(3);
    await world.send(sessionId, [prompt('go')]);
    const steer = { type: 'user.steer', message: 'left' };
    const refused = await world.send(sessionId, [steer, steer, steer]);
    expect(refused).toMatchObject({
      status: 429,
      body: { error: 'rate_limited', rateLimit: { resource: 'messages', limit: 3, remaining: 2, periodSeconds: 60 } },
    });
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(refused.headers.get('ratelimit-limit')).toBe('3');
    expect((await world.list(sessionId)).body.data).toHaveLength(2);
    expect((await world.send(sessionId, [steer, steer])).status).toBe(200);
  });

  test('a request that is refused or fails costs nothing', async () => {
    const { sessionId } = await startTurn();
    const before = await world.send(sessionId, [{ type: 'user.steer', message: 'left' }]);
    await world.send(sessionId, [toolResult('nothing', 'x')]);
    await world.db.exec('ALTER TABLE inbox ADD CONSTRAINT broken CHECK (false) NOT VALID');
    const failed = await world.send(sessionId, [prompt('x')]);
    await world.db.exec('ALTER TABLE inbox DROP CONSTRAINT broken');
    expect(failed.status).toBe(500);
    const after = await world.send(sessionId, [{ type: 'user.steer', message: 'right' }]);
    expect(Number(after.headers.get('ratelimit-remaining'))).toBe(
      Number(before.headers.get('ratelimit-remaining')) - 1,
    );
    expect((await world.list(sessionId)).body.data).toHaveLength(4);
  });

  test("another organization's session does not exist", async () => {
    const stranger = await openWorld({ db: database.db });
    const sessionId = await world.createSession();
    expect((await stranger.send(sessionId, [prompt('x')])).status).toBe(404);
    expect((await stranger.list(sessionId)).status).toBe(404);
    expect((await stranger.request('GET', `/v1/sessions/${sessionId}/events/stream`)).status).toBe(404);
    await stranger.close();
  });

  test('concurrent sends all reach the log, each once', async () => {
    const sessionId = await world.createSession();
    const replies = await Promise.all(Array.from({ length: 20 }, (_, n) => world.send(sessionId, [prompt(`p${n}`)])));
    const statuses = replies.map(({ status }) => status).sort((left, right) => left - right);
    expect(statuses).toEqual([200, ...Array<number>(19).fill(202)]);
    const { body } = await world.list(sessionId);
    expect(body.data.map((event) => event.sequence)).toEqual(Array.from({ length: 21 }, (_, n) => n + 1));
    const sent = new Set(replies.map((reply) => reply.body.data[0]?.id));
    expect(new Set(body.data.flatMap((event) => (event.type === 'user.message' ? event.id : [])))).toEqual(sent);
    expect(await readSession(sessionId)).toMatchObject({ queued_count: 19 });
  });

  test('a key makes repeated requests one', async () => {
    const sessionId = await world.createSession();
    const key = { 'idempotency-key': 'first' };
    const replies = await Promise.all(Array.from({ length: 10 }, () => world.send(sessionId, [prompt('x')], key)));
    for (const reply of replies) expect(reply).toMatchObject({ status: 200, body: replies[0]?.body });
    expect(new Set(replies.map((reply) => reply.headers.get('ratelimit-remaining')))).toEqual(new Set(['999']));
    expect((await world.list(sessionId)).body.data).toHaveLength(2);
    const reordered = { content: [{ text: 'x', type: 'text' }], type: 'user.message' };
    expect((await world.send(sessionId, [reordered], key)).body).toEqual(replies[0]?.body);
    expect(await world.send(sessionId, [prompt('y')], key)).toMatchObject({ status: 409, body: { error: 'conflict' } });
    const other = await world.createSession();
    expect((await world.send(other, [prompt('y')], key)).status).toBe(200);
    await world.db.query(`UPDATE idempotency_keys SET created_at = now() - interval '25 hours'`);
    expect((await world.send(sessionId, [prompt('y')], key)).status).toBe(202);
  });

  test.each(['', 'a b', 'ä', 'x'.repeat(256)])('the key %j is refused', async (key) => {
    const sessionId = await world.createSession();
    const sent = await world.send(sessionId, [prompt('x')], { 'idempotency-key': key });
    expect(sent).toMatchObject({ status: 400, body: { error: 'validation_error' } });
  });

  test('history is paged by sequence', async () => {
    const { sessionId, turnId } = await startTurn();
    const more = Array.from({ length: 5 }, (_, n) =>
      buildRawEvent({ type: 'x' }, { id: `evt_${sessionId}_${n}`, turnId }),
    );
    await append(world, sessionId, { events: more });
    const page = await world.list(sessionId, '?after=2&limit=3');
    expect(page.body.data.map((event) => event.sequence)).toEqual([3, 4, 5]);
    expect(page.body.pagination).toEqual({ after: 5, hasMore: true, limit: 3 });
    const end = await world.list(sessionId, '?after=5&limit=2');
    expect(end.body.pagination).toEqual({ after: 7, hasMore: false, limit: 2 });
    const past = await world.list(sessionId, '?after=70');
    expect(past.body).toEqual({ object: 'list', data: [], pagination: { after: 70, hasMore: false, limit: 100 } });
  });
});
