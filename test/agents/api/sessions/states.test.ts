import { afterAll, beforeAll, expect, test } from 'vitest';
import type { List } from '../../../../src/platform/contract/common.ts';
import type { EventEnvelope } from '../../../../src/agents/contract/events.ts';
import type { Session } from '../../../../src/agents/contract/sessions.ts';
import { beginTurn, makeAgent, makeSession, openApi } from '../harness.ts';
import type { Api } from '../harness.ts';

let api: Api;
let agentId: string;
beforeAll(async () => {
  api = await openApi();
  agentId = await makeAgent(api);
});
afterAll(() => api.close());

const get = async (id: string) => (await api.call<Session>('GET', `/v1/sessions/${id}`)).body;
const list = async (query: string) => {
  const { body } = await api.call<List<Session>>('GET', `/v1/sessions?${query}`);
  return body.data.map(({ id }) => id);
};
const prompt = (text: string) => ({ type: 'user.message', content: [{ type: 'text', text }] });
const send = (id: string, ...events: object[]) =>
  api.call<{ object: string; data: EventEnvelope[] }>('POST', `/v1/sessions/${id}/events`, { body: { events } });

test('a session that waits for a person is listed without a filter, and under none', async () => {
  const subjectId = 'waiting';
  const id = await makeSession(api, agentId, { subjectId });
  await beginTurn(api, id, 'waiting');
  expect((await get(id)).status).toBe('waiting_on_human');
  expect(await list(`subjectId=${subjectId}`)).toEqual([id]);
  for (const status of ['idle', 'running', 'archived']) {
    expect([status, await list(`subjectId=${subjectId}&status=${status}`)]).toEqual([status, []]);
  }
});

test('a prompt makes a session run, the next ones wait, and the log numbers them all', async () => {
  const id = await makeSession(api, agentId);
  const first = await send(id, prompt('one'));
  expect([first.status, first.body.object]).toEqual([200, 'list']);
  expect(first.body.data).toMatchObject([{ sessionId: id, type: 'user.message', status: 'received', sequence: 1 }]);
  expect((await get(id)).status).toBe('running');
  const second = await send(id, prompt('two'));
  expect([second.status, second.body.data.map(({ status }) => status)]).toEqual([202, ['queued']]);
  expect(await get(id)).toMatchObject({ status: 'running', queuedCount: 1 });
  const { body } = await api.call<{ object: string; data: EventEnvelope[]; pagination: object }>(
    'GET',
    `/v1/sessions/${id}/events`,
  );
  expect(body.object).toBe('list');
  expect(body.data.map(({ sequence, type }) => [sequence, type])).toEqual([
    [1, 'user.message'],
    [2, 'session.status_running'],
    [3, 'user.message'],
  ]);
  for (const event of body.data) expect(event.payload.type).toBe(event.type);
  expect(body.pagination).toEqual({ after: 3, hasMore: false, limit: 100 });
});

test('a session starts with the given fields, and its role and version do not change', async () => {
  const roles = [{ name: 'reader', tools: [] }];
  const agent = await makeAgent(api, { roles });
  const fields = { role: 'reader', title: 'Mail', yoloMode: true, metadata: { team: 'a', nested: { b: [1] } } };
  const id = await makeSession(api, agent, fields);
  expect(await get(id)).toMatchObject({ ...fields, agentVersion: 0, status: 'idle' });
  await api.call('POST', `/v1/agents/${agent}`, {
    body: { name: 'x', modelName: 'script/demo', systemPrompt: '', skills: [], tools: [] },
  });
  await api.call('PUT', `/v1/agents/${agent}/production`, { body: { version: 1 } });
  await api.call('POST', `/v1/sessions/${id}`, { body: { metadata: {}, role: 'other', agentVersion: 1 } });
  expect(await get(id)).toMatchObject({ role: 'reader', agentVersion: 0, metadata: {} });
  const fresh = await api.call('POST', '/v1/sessions', { body: { agentId: agent, subjectId: 'anna', role: 'reader' } });
  expect([fresh.status, fresh.body.message]).toEqual([400, 'role: must be a role of the agent version']);
});
