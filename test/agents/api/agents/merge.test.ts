import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { Agent, AgentVersionFull } from '../../../../src/agents/contract/agents.ts';
import { AGENT, makeAgent, openApi } from '../harness.ts';
import type { Api } from '../harness.ts';

let api: Api;
let id: string;
beforeAll(async () => {
  api = await openApi();
});
afterAll(() => api.close());

const custom = (name: string, description: string) => ({
  type: 'custom_tool',
  name,
  description,
  input_schema: { type: 'object' },
});
const mcp = (mcpServerName: string, type = 'always_ask') => ({
  type: 'mcp_toolset',
  mcpServerName,
  defaultConfig: { enabled: true, permissionPolicy: { type } },
});
const toolset = (type: string) => ({
  type: 'agent_toolset',
  defaultConfig: { enabled: true, permissionPolicy: { type } },
  configs: [],
});
const server = (name: string, host = name) => ({ type: 'url', name, url: `https://${host}.example/mcp` });

const FIRST = {
  ...AGENT,
  skills: [
    { name: 's1', content: 'old' },
    { name: 's2', content: 'kept' },
  ],
  tools: [toolset('always_ask'), custom('t1', 'old'), custom('t2', 'kept'), mcp('one')],
  roles: [
    { name: 'r1', description: 'old', tools: [custom('t1', 'old')] },
    { name: 'r2', tools: [] },
  ],
  mcpServers: [server('one'), server('two')],
  metadata: { team: 'a' },
};

beforeEach(async () => {
  id = await makeAgent(api, FIRST);
});

const patch = (body: object) => api.call<Agent>('PATCH', `/v1/agents/${id}`, { body });
const version = async (number: number) =>
  (await api.call<AgentVersionFull>('GET', `/v1/agents/${id}/versions/${number}`)).body;

test('a patch replaces entries with the same identity, appends new ones and keeps the others', async () => {
  const before = await version(0);
  const { status, body } = await patch({
    skills: [
      { name: 's1', content: 'new' },
      { name: 's3', content: 'new' },
    ],
    tools: [custom('t1', 'new'), mcp('one', 'always_allow'), mcp('two'), toolset('always_deny'), custom('t3', 'new')],
    roles: [
      { name: 'r1', tools: [] },
      { name: 'r3', tools: [] },
    ],
    mcpServers: [server('one', 'moved'), server('three')],
  });
  expect(status).toBe(200);
  expect(body.tools).toEqual([
    toolset('always_deny'),
    custom('t1', 'new'),
    custom('t2', 'kept'),
    mcp('one', 'always_allow'),
    mcp('two'),
    custom('t3', 'new'),
  ]);
  expect(body.version).toMatchObject({
    version: 1,
    modelName: FIRST.modelName,
    systemPrompt: FIRST.systemPrompt,
    skills: ['s1', 's2', 's3'],
    mcpServers: [server('one', 'moved'), server('two'), server('three')],
    metadata: { team: 'a' },
  });
  expect(body.version.roles).toEqual([
    { name: 'r1', tools: [] },
    { name: 'r2', tools: [] },
    { name: 'r3', tools: [] },
  ]);
  expect(await version(0)).toEqual(before);
});

test('empty collections of a patch remove nothing, and metadata is taken whole', async () => {
  const before = await version(0);
  const { body } = await patch({ skills: [], tools: [], roles: [], mcpServers: [], metadata: { other: 1 } });
  expect(body).toMatchObject({ metadata: { other: 1 }, version: { version: 1, metadata: { other: 1 } } });
  const { tools, ...after } = await version(1);
  expect(tools).toEqual(before.tools);
  for (const field of ['skills', 'roles', 'mcpServers'] as const) expect(after[field]).toEqual(before[field]);
});

test('a full replacement removes omitted fields, and needs every required field', async () => {
  const replaced = await api.call<Agent>('POST', `/v1/agents/${id}`, { body: { ...AGENT, expectedVersion: 0 } });
  expect(replaced.status).toBe(200);
  expect(replaced.body.version).toMatchObject({ version: 1, skills: [], roles: [], mcpServers: [], metadata: {} });
  expect(replaced.body.tools).toEqual([toolset('always_ask')]);
  const same = await api.call<Agent>('POST', `/v1/agents/${id}`, { body: AGENT });
  expect(same.body.version.version).toBe(2);
  for (const field of ['name', 'modelName', 'systemPrompt', 'skills', 'tools']) {
    const reply = await api.call('POST', `/v1/agents/${id}`, { body: { ...AGENT, [field]: undefined } });
    expect([reply.status, reply.body.message]).toEqual([400, `${field}: is required`]);
  }
});

test('no answer holds the text of a skill', async () => {
  const secret = 'CANARY-SKILL';
  const reply = await patch({ skills: [{ name: 's4', content: secret }] });
  const paths = ['', '/versions', '/versions/1', '/production'];
  const texts = await Promise.all(paths.map(async (path) => (await api.call('GET', `/v1/agents/${id}${path}`)).text));
  for (const text of [reply.text, ...texts, (await api.call('GET', '/v1/agents')).text]) {
    expect(text).not.toContain(secret);
  }
});

test('every answer that holds an agent holds its rate limits', async () => {
  const rateLimits = { conversationsPerMinute: 12, messagesPerMinute: 34 };
  const path = `/v1/agents/${id}`;
  const replies = [
    await api.call<Agent>('PATCH', `${path}/rate-limits`, { body: rateLimits }),
    await api.call<Agent>('GET', path),
    await patch({ name: 'Eve' }),
    await api.call<Agent>('POST', path, { body: AGENT }),
    await api.call<Agent>('POST', `${path}/archive`),
  ];
  for (const { body } of replies) expect(body.rateLimits).toEqual(rateLimits);
  const { body } = await api.call<{ data: Agent[] }>('GET', '/v1/agents?limit=1');
  expect(body.data).toMatchObject([{ id, rateLimits }]);
});
