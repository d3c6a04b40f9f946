import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { beginTurn, makeAgent, makeSession, openApi } from '../harness.ts';
import type { Api } from '../harness.ts';

let api: Api;
let agentId: string;
beforeAll(async () => {
  api = await openApi();
});
beforeEach(async () => {
  agentId = await makeAgent(api, { rateLimits: { conversationsPerMinute: 300, messagesPerMinute: 10 } });
});
afterAll(() => api.close());

const prompt = { type: 'user.message', content: [{ type: 'text', text: 'Hi' }] };
const steer = { type: 'user.steer', message: 'left' };
const send = (sessionId: string, events: object[], more: object = {}) =>
  api.call('POST', `/v1/sessions/${sessionId}/events`, { body: { events, ...more } });
const left = (reply: { headers: Record<string, unknown> }) => Number(reply.headers['ratelimit-remaining']);

test('the sessions of a subject share one allowance of messages; other subjects and agents have their own', async () => {
  const [first, second] = [await makeSession(api, agentId), await makeSession(api, agentId)];
  const bob = await makeSession(api, agentId, { subjectId: 'bob' });
  const other = await makeSession(api, await makeAgent(api, { rateLimits: { messagesPerMinute: 10 } }));
  expect(left(await send(first, [prompt]))).toBe(9);
  expect(left(await send(second, [prompt]))).toBe(8);
  expect(left(await send(bob, [prompt]))).toBe(9);
  expect(left(await send(other, [prompt]))).toBe(9);
});

test('each event of a request counts, one that is queued too', async () => {
  const sessionId = await makeSession(api, agentId);
  await beginTurn(api, sessionId, 'running');
  expect(left(await send(sessionId, [steer, steer, steer]))).toBe(7);
  const queued = await send(sessionId, [prompt], { delivery: 'when_idle' });
  expect([queued.status, left(queued)]).toEqual([202, 6]);
});

test('what is refused before it is kept does not count', async () => {
  const [sessionId, archived] = [await makeSession(api, agentId), await makeSession(api, agentId)];
  await beginTurn(api, sessionId, 'running');
  await api.call('POST', `/v1/sessions/${archived}/archive`);
  expect(left(await send(sessionId, [steer]))).toBe(9);
  const refused = [
    await send(sessionId, []),
    await send(sessionId, [{ ...steer, message: '' }]),
    await send(sessionId, [steer], { delivery: 'when_idle' }),
    await send(sessionId, [prompt, steer]),
    await send(sessionId, [{ type: 'user.clarify_result', request_id: 'evt_unknown', answer: 'x' }]),
    await send('ses_unknown', [prompt]),
    await send(archived, [prompt]),
  ];
  expect(refused.map(({ status }) => status)).toEqual([400, 400, 400, 409, 404, 404, 409]);
  expect(left(await send(sessionId, [steer]))).toBe(8);
});

test('a changed limit holds for the sessions that are there', async () => {
  const sessionId = await makeSession(api, agentId);
  await beginTurn(api, sessionId, 'running');
  expect((await send(sessionId, [steer, steer])).headers['ratelimit-limit']).toBe('10');
  const change = (messagesPerMinute: number) =>
    api.call('PATCH', `/v1/agents/${agentId}/rate-limits`, { body: { messagesPerMinute } });
  await change(3);
  expect((await send(sessionId, [steer, steer])).status).toBe(429);
  const last = await send(sessionId, [steer]);
  expect([last.status, last.headers['ratelimit-limit'], left(last)]).toEqual([200, '3', 0]);
  await change(20);
  expect((await send(sessionId, [steer])).status).toBe(200);
});

test('by default a subject has 5 conversations and 100 messages a minute', async () => {
  const agent = await makeAgent(api, { rateLimits: undefined });
  const body = { agentId: agent, subjectId: 'anna' };
  const made = [];
  for (let count = 0; count < 6; count += 1)
    made.push(await api.call<{ id: string }>('POST', '/v1/sessions', { body }));
  expect(made.map(({ status }) => status)).toEqual([201, 201, 201, 201, 201, 429]);
  expect((await send(made[0]!.body.id, [prompt])).headers).toMatchObject({
    'ratelimit-limit': '100',
    'ratelimit-remaining': '99',
  });
});
