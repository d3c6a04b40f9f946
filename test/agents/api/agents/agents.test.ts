import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Agent } from '../../../../src/agents/contract/agents.ts';
import { findSandboxClass } from '../../../../src/agents/store/versions.ts';
import type { List } from '../../../../src/platform/contract/common.ts';
import { AGENT, beginTurn, makeAgent, makeSession, openApi } from '../harness.ts';
import type { Api } from '../harness.ts';

let api: Api;
beforeAll(async () => {
  api = await openApi();
});
afterAll(() => api.close());

const patch = (id: string, body: object) => api.call<Agent>('PATCH', `/v1/agents/${id}`, { body });
const replace = (id: string, body: object) =>
  api.call<Agent>('POST', `/v1/agents/${id}`, { body: { ...AGENT, ...body } });

test('a new agent has version 0 in production and the default toolset', async () => {
  const { status, body } = await api.call<Agent>('POST', '/v1/agents', {
    body: { ...AGENT, skills: [{ name: 'mail', content: '# Mail' }], metadata: { team: 'a' }, unknown: 1 },
  });
  expect(status).toBe(201);
  expect(body).toEqual({
    object: 'agent',
    id: expect.stringMatching(/^agt_[0-9a-z]{26}$/) as string,
    name: 'Ada',
    status: 'active',
    metadata: { team: 'a' },
    rateLimits: { conversationsPerMinute: 5, messagesPerMinute: 100 },
    productionVersion: 0,
    version: {
      id: expect.stringMatching(/^ver_/) as string,
      version: 0,
      modelName: 'script/demo',
      systemPrompt: 'Be brief.',
      skills: ['mail'],
      roles: [],
      mcpServers: [],
      environment: { sandboxClass: null },
      reasoning: null,
      metadata: { team: 'a' },
      createdAt: body.createdAt,
    },
    tools: [
      {
        type: 'agent_toolset',
        defaultConfig: { enabled: true, permissionPolicy: { type: 'always_ask' } },
        configs: [],
      },
    ],
    createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/) as string,
    updatedAt: body.createdAt,
  });
  expect((await api.call<Agent>('GET', `/v1/agents/${body.id}`)).body).toEqual(body);
});

test('the environment names the sandbox class, of which the production version counts', async () => {
  const id = await makeAgent(api, { environment: { sandboxClass: 'gpu' } });
  const read = async () => (await api.call<Agent>('GET', `/v1/agents/${id}`)).body.version.environment;
  const { rows } = await api.backends.db.query<{ organization_id: string }>(
    'SELECT organization_id FROM agents WHERE id = $1',
    [id],
  );
  const organizationId = rows[0]?.organization_id ?? '';
  const find = () => findSandboxClass(api.backends.db, { organizationId, agentId: id });
  expect(await read()).toEqual({ sandboxClass: 'gpu' });
  expect(await find()).toBe('gpu');
  expect(await findSandboxClass(api.backends.db, { organizationId: 'org_other', agentId: id })).toBeNull();
  await patch(id, { systemPrompt: 'Be brief, please.' });
  expect(await read()).toEqual({ sandboxClass: 'gpu' });
  expect((await patch(id, { environment: { sandboxClass: 'No Name' } })).status).toBe(400);
  await patch(id, { environment: { sandboxClass: null } });
  expect(await read()).toEqual({ sandboxClass: null });
});

test('input schemas keep the order of their keys', async () => {
  const input_schema = { type: 'object', properties: { zeta: {}, a: {}, middle: {} }, required: ['zeta'] };
  const id = await makeAgent(api, { tools: [{ type: 'custom_tool', name: 'x', description: '', input_schema }] });
  const { body } = await api.call<Agent>('GET', `/v1/agents/${id}`);
  expect(JSON.stringify(body.tools[0])).toContain(JSON.stringify(input_schema));
});

test('a configured model name is as good as provider and model; others are refused by name', async () => {
  expect((await api.call('POST', '/v1/agents', { body: { ...AGENT, modelName: 'fast' } })).status).toBe(201);
  const reply = await api.call('POST', '/v1/agents', { body: { ...AGENT, modelName: 'unheard-of' } });
  expect([reply.status, reply.body.message]).toEqual([
    400,
    'modelName: must be <provider>/<model> or a configured model name',
  ]);
});

test('an MCP toolset needs its server, in the body or in the version before', async () => {
  const tools = [{ type: 'mcp_toolset', mcpServerName: 'files' }];
  const created = await api.call('POST', '/v1/agents', { body: { ...AGENT, tools } });
  expect([created.status, created.body.message]).toEqual([
    400,
    'tools[0].mcpServerName: must be the name of an mcpServers entry',
  ]);
  const id = await makeAgent(api);
  const inRole = await patch(id, { roles: [{ name: 'r', tools }] });
  expect([inRole.status, inRole.text]).toEqual([400, expect.stringContaining('roles[0].tools[0].mcpServerName')]);
  const mcpServers = [{ type: 'url', name: 'files', url: 'https://files.example/mcp' }];
  expect((await patch(id, { mcpServers })).status).toBe(200);
  expect((await patch(id, { tools })).body.tools).toHaveLength(2);
  expect((await replace(id, { tools })).status).toBe(400);
});

test('every update publishes a version and leaves production alone', async () => {
  const id = await makeAgent(api, { skills: [{ name: 'a', content: '1' }] });
  const patched = await patch(id, { name: 'Eve', skills: [{ name: 'b', content: '2' }] });
  expect(patched.body).toMatchObject({
    name: 'Eve',
    productionVersion: 0,
    version: { version: 1, skills: ['a', 'b'] },
  });
  const replaced = await replace(id, { metadata: { x: 1 } });
  expect(replaced.body).toMatchObject({
    name: 'Ada',
    productionVersion: 0,
    rateLimits: { conversationsPerMinute: 300, messagesPerMinute: 100 },
    metadata: { x: 1 },
    version: { version: 2, skills: [] },
  });
  const limits = await replace(id, { rateLimits: { messagesPerMinute: 7 } });
  expect(limits.body.rateLimits).toEqual({ conversationsPerMinute: 300, messagesPerMinute: 7 });
  expect(limits.body.metadata).toEqual({});
});

test('a stale expectedVersion is 409, the right one passes', async () => {
  const id = await makeAgent(api);
  expect((await patch(id, { name: 'b', expectedVersion: 0 })).status).toBe(200);
  for (const reply of [await patch(id, { name: 'c', expectedVersion: 0 }), await replace(id, { expectedVersion: 5 })]) {
    expect([reply.status, JSON.parse(reply.text)]).toMatchObject([409, { error: 'conflict' }]);
  }
});

test('of updates at the same time each either gets a version of its own or 409', async () => {
  const id = await makeAgent(api);
  const replies = await Promise.all(Array.from({ length: 8 }, (_, index) => patch(id, { name: `n${index}` })));
  const versions = replies.filter((reply) => reply.status === 200).map((reply) => reply.body.version.version);
  expect(replies.every((reply) => reply.status === 200 || reply.status === 409)).toBe(true);
  expect(new Set(versions).size).toBe(versions.length);
  const { body } = await api.call<Agent>('GET', `/v1/agents/${id}`);
  expect(body.version.version).toBe(versions.length);
});

test('rate limits change without a version', async () => {
  const id = await makeAgent(api);
  const reply = await api.call<Agent>('PATCH', `/v1/agents/${id}/rate-limits`, { body: { messagesPerMinute: 9 } });
  expect(reply.body).toMatchObject({
    rateLimits: { conversationsPerMinute: 300, messagesPerMinute: 9 },
    version: { version: 0 },
  });
});

test('lists are newest first, by status, in pages', async () => {
  const key = api.otherKey;
  const ids = [await makeAgent(api, {}, key), await makeAgent(api, {}, key), await makeAgent(api, {}, key)];
  await api.call('POST', `/v1/agents/${ids[1]}/archive`, { key });
  const list = async (query: string) => (await api.call<List<Agent>>('GET', `/v1/agents${query}`, { key })).body;
  expect((await list('')).data.map((agent) => agent.id)).toEqual(ids.toReversed());
  expect((await list('?status=archived')).data.map((agent) => agent.id)).toEqual([ids[1]]);
  expect(await list('?limit=1&offset=1&status=active')).toMatchObject({
    object: 'list',
    data: [{ id: ids[0] }],
    pagination: { limit: 1, offset: 1, hasMore: false, total: 2 },
  });
  expect((await list('?offset=9')).pagination).toMatchObject({ limit: 50, offset: 9, hasMore: false, total: 3 });
});

test('an archived agent can be read and deleted, not changed', async () => {
  const id = await makeAgent(api);
  const path = `/v1/agents/${id}`;
  await api.call('PUT', `${path}/tags/dev`, { body: { version: 0 } });
  expect((await api.call<Agent>('POST', `${path}/archive`)).body.status).toBe('archived');
  expect((await api.call<Agent>('POST', `${path}/archive`)).status).toBe(200);
  const changes = [
    await patch(id, { name: 'x' }),
    await replace(id, {}),
    await api.call('PATCH', `${path}/rate-limits`, { body: { messagesPerMinute: 1 } }),
    await api.call('PUT', `${path}/production`, { body: { version: 0 } }),
    await api.call('PUT', `${path}/tags/dev`, { body: { version: 0 } }),
    await api.call('DELETE', `${path}/tags/dev`),
    await api.call('POST', '/v1/sessions', { body: { agentId: id, subjectId: 'a' } }),
    await api.call('POST', '/v1/sandboxes/warm', { body: { agentId: id, subjectId: 'a' } }),
  ];
  for (const reply of changes)
    expect([reply.status, reply.text]).toEqual([409, expect.stringContaining('invalid_state')]);
  expect((await api.call('GET', path)).status).toBe(200);
  expect((await api.call('DELETE', path)).body).toEqual({ object: 'agent.deleted', id, deleted: true });
});

test('deleting an agent takes sessions, events and volumes along, but waits for running sessions', async () => {
  const id = await makeAgent(api);
  const sessions = [await makeSession(api, id), await makeSession(api, id, { subjectId: 'bob' })];
  await beginTurn(api, sessions[0]!, 'running');
  const refused = await api.call('DELETE', `/v1/agents/${id}`);
  expect([refused.status, refused.body.error]).toEqual([409, 'conflict']);
  await api.backends.db.query(`UPDATE sessions SET status = 'idle' WHERE id = $1`, [sessions[0]]);
  expect((await api.call('DELETE', `/v1/agents/${id}`)).status).toBe(200);
  expect((await api.call('DELETE', `/v1/agents/${id}`)).status).toBe(404);
  expect((await api.call('GET', `/v1/sessions/${sessions[0]}`)).status).toBe(404);
  const { rows } = await api.backends.db.query('SELECT 1 FROM events WHERE session_id = ANY($1::text[])', [sessions]);
  expect(rows).toEqual([]);
  expect(api.backends.sandboxes.deleted.filter((agent) => agent.agentId === id)).toHaveLength(1);
});
