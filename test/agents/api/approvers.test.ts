import { afterAll, beforeAll, expect, test } from 'vitest';
import type { ApiKeyCreated } from '../../../src/platform/contract/keys.ts';
import { beginTurn, makeAgent, makeSession, openApi } from './harness.ts';
import type { Api } from './harness.ts';

let api: Api;
let agentId: string;
let waiting: string;
let other: string;
let actionId: string;
let key: string;
beforeAll(async () => {
  api = await openApi();
  agentId = await makeAgent(api);
  [waiting, other] = [await makeSession(api, agentId), await makeSession(api, agentId)];
  actionId = await beginTurn(api, waiting, 'waiting');
  const body = { name: 'approver', scopes: ['agents:approve'] };
  key = (await api.call<ApiKeyCreated>('POST', '/v1/api-keys', { body })).body.key;
});
afterAll(() => api.close());

test('a key that only approves reads the sessions that ask, and no others', async () => {
  for (const suffix of ['', '/events?after=9']) {
    expect((await api.call('GET', `/v1/sessions/${waiting}${suffix}`, { key })).status).toBe(200);
    expect((await api.call('GET', `/v1/sessions/${other}${suffix}`, { key })).status).toBe(404);
  }
  expect((await api.call('GET', `/v1/sessions/${other}/events/stream`, { key })).status).toBe(404);
  for (const path of ['/v1/sessions', '/v1/agents', `/v1/agents/${agentId}`]) {
    expect((await api.call('GET', path, { key })).status).toBe(403);
  }
});

test.each([
  { type: 'user.message', content: [{ type: 'text', text: 'Go on.' }] },
  { type: 'user.steer', message: 'Go on.' },
  { type: 'user.interrupt' },
  { type: 'user.custom_tool_result', tool_use_id: 'use', content: [{ type: 'text', text: 'done' }] },
])('it may not send $type', async (event) => {
  const body = { events: [event] };
  const reply = await api.call('POST', `/v1/sessions/${waiting}/events`, { key, body });
  expect([reply.status, reply.body.message]).toEqual([403, 'The API key lacks the scope agents:write.']);
});

test('it answers, once, and says why', async () => {
  const answer = { type: 'user.approval_response', approval_id: actionId, result: 'deny', message: 'Ask Bo first.' };
  const path = `/v1/sessions/${waiting}/events`;
  const long = { ...answer, message: 'x'.repeat(2001) };
  expect((await api.call('POST', path, { key, body: { events: [long] } })).status).toBe(400);
  const reply = await api.call<{ data: { payload: object }[] }>('POST', path, { key, body: { events: [answer] } });
  expect(reply.body.data[0]?.payload).toMatchObject(answer);
  expect((await api.call('POST', path, { key, body: { events: [answer] } })).status).toBe(410);
  expect((await api.call('GET', `/v1/sessions/${waiting}`, { key })).status).toBe(200);
});
