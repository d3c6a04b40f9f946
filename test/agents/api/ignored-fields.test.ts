import { afterAll, beforeAll, expect, it } from 'vitest';
import { openApi } from './harness.ts';
import type { Api } from './harness.ts';

let api: Api;
beforeAll(async () => {
  api = await openApi();
});
afterAll(() => api.close());

const HEADER = 'x-capstan-ignored-fields';
const AGENT = { name: 'ada', modelName: 'script/demo', systemPrompt: '', skills: [], tools: [] };

it('names the fields of the body that were ignored', async () => {
  const configs = [{ name: 'terminal', permision: { type: 'always_deny' } }];
  const body = { ...AGENT, model: 'x', tools: [{ type: 'agent_toolset', configs }] };
  const made = await api.call<{ id: string }>('POST', '/v1/agents', { body });
  expect(made.status).toBe(201);
  expect(made.headers[HEADER]).toBe('tools[0].configs[0].permision, model');
  const known = await api.call('POST', '/v1/agents', { body: AGENT });
  expect(known.headers).not.toHaveProperty(HEADER);
  // An operation without a body ignores all of it.
  const archived = await api.call('POST', `/v1/agents/${made.body.id}/archive`, { body: { reason: 'old' } });
  expect(archived.headers[HEADER]).toBe('reason');
});

it('names the parameters of the query that were ignored', async () => {
  const misspelled = await api.call('GET', '/v1/agents?limt=1&status=active&offset=0');
  expect([misspelled.status, misspelled.headers[HEADER]]).toEqual([200, '?limt']);
  // A list that is read by cursor alone has no offset.
  expect((await api.call('GET', '/v1/webhooks?offset=5')).headers[HEADER]).toBe('?offset');
  const both = await api.call('POST', '/v1/agents?dryRun=true', { body: { ...AGENT, model: 'x' } });
  expect([both.status, both.headers[HEADER]]).toEqual([201, '?dryRun, model']);
  expect((await api.call('GET', '/v1/agents?limit=1')).headers).not.toHaveProperty(HEADER);
});
