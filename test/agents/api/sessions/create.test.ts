import { afterAll, beforeAll, expect, test } from 'vitest';
import { buildServer } from '../../../../src/agents/api/server.ts';
import { LimitsUnavailableError } from '../../../../src/platform/limits/limits.ts';
import type { Queryable } from '../../../../src/platform/db/db.ts';
import type { Session } from '../../../../src/agents/contract/sessions.ts';
import { makeAgent, openApi } from '../harness.ts';
import type { Api } from '../harness.ts';

let api: Api;
beforeAll(async () => {
  api = await openApi();
});
afterAll(() => api.close());

const create = (body: object) => api.call<Session>('POST', '/v1/sessions', { body });

test('a new session is idle and records the production version', async () => {
  const agentId = await makeAgent(api);
  const { status, body } = await create({ agentId, subjectId: 'anna' });
  expect(status).toBe(201);
  expect(body).toEqual({
    object: 'session',
    id: expect.stringMatching(/^ses_[0-9a-z]{26}$/) as string,
    agentId,
    agentName: 'Ada',
    agentVersion: 0,
    agentVersionId: expect.stringMatching(/^ver_/) as string,
    subjectId: 'anna',
    role: null,
    title: null,
    status: 'idle',
    yoloMode: false,
    preview: false,
    tag: null,
    reasoning: null,
    metadata: {},
    automationId: null,
    goal: null,
    pendingActions: [],
    openActions: 0,
    lastSequence: 0,
    lastStopReason: null,
    turnStartedAt: null,
    queuedCount: 0,
    usage: null,
    createdAt: expect.stringMatching(/Z$/) as string,
    updatedAt: body.createdAt,
    lastActivityAt: body.createdAt,
    waiting: null,
    mcpServers: [],
    archivedAt: null,
  });
  expect((await api.call('GET', `/v1/sessions/${body.id}`)).body).toEqual(body);
});

test('a new session is announced to the sandboxes, and made all the same where that fails', async () => {
  const agentId = await makeAgent(api);
  const { body } = await create({ agentId, subjectId: 'anna' });
  const { announced } = api.backends.sandboxes;
  expect(announced.at(-1)).toMatchObject({ agentId, subjectId: 'anna', sessionId: body.id });
  api.backends.sandboxes.fail = true;
  const second = await create({ agentId, subjectId: 'anna' });
  api.backends.sandboxes.fail = false;
  expect(second.status).toBe(201);
  expect(announced.at(-1)).toMatchObject({ sessionId: body.id });
});

test('production, preview and tag choose the version once', async () => {
  const agentId = await makeAgent(api);
  for (const name of ['one', 'two']) await api.call('PATCH', `/v1/agents/${agentId}`, { body: { name } });
  await api.call('PUT', `/v1/agents/${agentId}/tags/dev`, { body: { version: 1 } });
  const choose = async (more: object) => (await create({ agentId, subjectId: 'anna', ...more })).body;
  const tagged = await choose({ tag: 'dev' });
  expect(tagged).toMatchObject({ agentVersion: 1, tag: 'dev', preview: false });
  expect(await choose({ preview: true })).toMatchObject({ agentVersion: 2, preview: true, tag: null });
  expect(await choose({})).toMatchObject({ agentVersion: 0 });
  await api.call('PUT', `/v1/agents/${agentId}/production`, { body: { version: 2 } });
  expect(await choose({ preview: true })).toMatchObject({ agentVersion: 2 });
  await api.call('PUT', `/v1/agents/${agentId}/tags/dev`, { body: { version: 0 } });
  await api.call('DELETE', `/v1/agents/${agentId}/tags/dev`);
  expect((await api.call<Session>('GET', `/v1/sessions/${tagged.id}`)).body).toEqual(tagged);
});

test('an unknown tag or role is 400, an unknown agent 404', async () => {
  const agentId = await makeAgent(api, { roles: [{ name: 'reader', tools: [] }] });
  expect((await create({ agentId, subjectId: 'a', role: 'reader' })).body.role).toBe('reader');
  const replies = [
    await create({ agentId, subjectId: 'a', role: 'writer' }),
    await create({ agentId, subjectId: 'a', tag: 'nightly' }),
    await create({ agentId: 'agt_unknown', subjectId: 'a' }),
  ].map((reply) => [reply.status, JSON.parse(reply.text) as object]);
  expect(replies).toEqual([
    [400, { error: 'validation_error', message: 'role: must be a role of the agent version' }],
    [400, { error: 'validation_error', message: 'tag: must be a development tag of the agent' }],
    [404, { error: 'not_found', message: 'No such agent.' }],
  ]);
});

test('a conversation is taken per created session, subject by subject', async () => {
  const agentId = await makeAgent(api, { rateLimits: { conversationsPerMinute: 2 } });
  const other = await makeAgent(api, { rateLimits: { conversationsPerMinute: 2 } });
  const first = await create({ agentId, subjectId: 'anna' });
  expect(first.headers).toMatchObject({ 'ratelimit-limit': '2', 'ratelimit-remaining': '1' });
  await create({ agentId, subjectId: 'anna', role: 'unknown' });
  expect((await create({ agentId, subjectId: 'anna' })).headers['ratelimit-remaining']).toBe('0');
  const refused = await api.call('POST', '/v1/sessions', { body: { agentId, subjectId: 'anna' } });
  const reset = refused.body.rateLimit?.resetAfterSeconds;
  expect([refused.status, refused.body]).toMatchObject([
    429,
    { error: 'rate_limited', rateLimit: { resource: 'conversations', limit: 2, remaining: 0, periodSeconds: 60 } },
  ]);
  expect(refused.headers).toMatchObject({
    'retry-after': String(reset),
    'ratelimit-limit': '2',
    'ratelimit-remaining': '0',
    'ratelimit-reset': String(reset),
  });
  expect((await create({ agentId, subjectId: 'bob' })).status).toBe(201);
  expect((await create({ agentId: other, subjectId: 'anna' })).status).toBe(201);
  const sessions = await api.call<{ pagination: { total: number } }>('GET', `/v1/sessions?agentId=${agentId}`);
  expect(sessions.body.pagination.total).toBe(3);
});

test('a conversation is given back when no session comes of it', async () => {
  const agentId = await makeAgent(api, { rateLimits: { conversationsPerMinute: 1 } });
  const { db } = api.backends;
  const fail = (port: Queryable): Queryable => ({
    query: async (sql, params) => {
      if (sql.startsWith('INSERT INTO sessions')) throw new Error('disk full');
      return port.query(sql, params);
    },
  });
  const failing = buildServer({
    ...api.backends,
    db: { ...db, ...fail(db), transaction: (work) => db.transaction((tx) => work(fail(tx))) },
  });
  const payload = { agentId, subjectId: 'anna' };
  const headers = { 'x-api-key': api.key };
  expect((await failing.inject({ method: 'POST', url: '/v1/sessions', headers, payload })).statusCode).toBe(500);
  await failing.close();
  expect((await create(payload)).status).toBe(201);
});

test('an allowance that cannot be verified is 503, and no session is made', async () => {
  const agentId = await makeAgent(api);
  const { limits } = api.backends;
  const app = buildServer({
    ...api.backends,
    limits: {
      ...limits,
      take: async (key, ...rest) => {
        if (key.startsWith('conversations:')) throw new LimitsUnavailableError('refused');
        return limits.take(key, ...rest);
      },
    },
  });
  const headers = { 'x-api-key': api.key };
  const response = await app.inject({
    method: 'POST',
    url: '/v1/sessions',
    headers,
    payload: { agentId, subjectId: 'a' },
  });
  expect([response.statusCode, response.headers['retry-after'], response.json()]).toEqual([
    503,
    '1',
    { error: 'server_error', message: 'The allowance cannot be verified.' },
  ]);
  await app.close();
  const { rows } = await api.backends.db.query('SELECT 1 FROM sessions WHERE agent_id = $1', [agentId]);
  expect(rows).toEqual([]);
});

test('warm-up is a hint that can be repeated and makes no session', async () => {
  const agentId = await makeAgent(api);
  for (let round = 0; round < 2; round += 1) {
    const reply = await api.call('POST', '/v1/sandboxes/warm', { body: { agentId, subjectId: 'anna' } });
    expect([reply.status, reply.body]).toEqual([
      202,
      { object: 'sandbox.warm', status: 'warming', reason: null, agentId, subjectId: 'anna' },
    ]);
  }
  expect(api.backends.sandboxes.warmed.filter((volume) => volume.agentId === agentId)).toHaveLength(2);
  const unknown = { agentId: 'agt_unknown', subjectId: 'anna' };
  expect((await api.call('POST', '/v1/sandboxes/warm', { body: unknown })).status).toBe(404);
});
