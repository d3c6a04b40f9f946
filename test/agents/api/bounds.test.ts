import { afterAll, beforeAll, expect, test } from 'vitest';
import { AGENT, makeAgent, makeSession, openApi } from './harness.ts';
import type { Api } from './harness.ts';

let api: Api;
let agentId: string;
let sessionId: string;
beforeAll(async () => {
  api = await openApi();
  agentId = await makeAgent(api);
  sessionId = await makeSession(api, agentId);
});
afterAll(() => api.close());

/** A marker in every bad value, so that an echo is noticed. */
const CANARY = 'Zq7';
const long = (length: number) => CANARY + 'x'.repeat(length + 1 - CANARY.length);
const policy = { type: CANARY };
const custom = { type: 'custom_tool', name: 'x', description: '', input_schema: {} };
const server = { type: 'url', name: 'files', url: 'https://files.example' };

type Case = [field: string, bad: unknown, constraint: string];

/** The problem with the error for a bad request; undefined if it names the field and does not quote the value. */
async function listFaults(method: string, path: string, body: unknown, message: string): Promise<string[]> {
  const { status, body: answer, text } = await api.call(method, path, body === undefined ? {} : { body });
  return [
    ...(status === 400 && answer.error === 'validation_error' ? [] : [`answered ${status}`]),
    ...(answer.message?.split('; ').includes(message) ? [] : [`said ${answer.message}`]),
    ...(text.includes(CANARY) ? ['quoted the value'] : []),
  ];
}

/** Builds `{ a: [{ b: bad }] }` from `a[0].b`. */
function place(field: string, bad: unknown): Record<string, unknown> {
  const [, head = '', rest = ''] = /^(\w+)(.*)$/.exec(field) ?? [];
  if (rest === '') return { [head]: bad };
  const [, index, tail = ''] = /^(\[0\])?\.?(.*)$/.exec(rest) ?? [];
  const inner = tail === '' ? bad : place(tail, bad);
  return { [head]: index === undefined ? inner : [inner] };
}

const AGENT_CASES: Case[] = [
  ['name', '', 'must be at least 1 characters'],
  ['name', long(256), 'must be at most 256 characters'],
  ['name', 7, 'must be of type string'],
  ['modelName', '', 'must be at least 1 characters'],
  ['modelName', long(500), 'must be at most 500 characters'],
  ['modelName', CANARY, 'must be <provider>/<model> or a configured model name'],
  ['systemPrompt', null, 'must be of type string'],
  ['systemPrompt', long(1_000_000), 'must be at most 1000000 characters'],
  ['skills', CANARY, 'must be of type array'],
  ['skills[0].name', '', 'must be at least 1 characters'],
  ['skills[0].name', long(200), 'must be at most 200 characters'],
  ['skills[0].content', '', 'must be at least 1 characters'],
  ['skills[0].content', ' \n', 'must not be blank'],
  ['skills[0].content', long(100_000), 'must be at most 100000 characters'],
  ['tools[0].type', CANARY, 'must be a known type'],
  ['tools[0].type', undefined, 'is required'],
  ['roles[0].name', '', 'must be at least 1 characters'],
  ['roles[0].name', long(200), 'must be at most 200 characters'],
  ['roles[0].description', long(20_000), 'must be at most 20000 characters'],
  ['roles[0].tools', undefined, 'is required'],
  ['mcpServers[0].type', CANARY, 'must be one of "url"'],
  ['mcpServers[0].type', undefined, 'is required'],
  ['mcpServers[0].name', '', 'must be at least 1 characters'],
  ['mcpServers[0].url', CANARY, 'must be a valid url'],
  ['mcpServers[0].url', `ftp://${CANARY}.example`, 'must be a valid url'],
  ['mcpServers[0].url', `https://user:${CANARY}@files.example`, 'must not contain credentials'],
  ['mcpServers[0].url', `https://files.example/${long(2048)}`, 'must be at most 2048 characters'],
  ['metadata', [CANARY], 'must be of type object'],
];

test.each(AGENT_CASES)('an agent is refused on create, replace and patch: %s', async (field, bad, constraint) => {
  const body = { ...AGENT, ...place(field, bad) };
  expect(await listFaults('POST', '/v1/agents', body, `${field}: ${constraint}`)).toEqual([]);
  expect(await listFaults('POST', `/v1/agents/${agentId}`, body, `${field}: ${constraint}`)).toEqual([]);
  expect(await listFaults('PATCH', `/v1/agents/${agentId}`, place(field, bad), `${field}: ${constraint}`)).toEqual([]);
});

test.each(['name', 'modelName', 'systemPrompt', 'skills', 'tools'])('an agent needs %s', async (field) => {
  expect(await listFaults('POST', '/v1/agents', { ...AGENT, [field]: undefined }, `${field}: is required`)).toEqual([]);
});

const TOOL_CASES: Case[] = [
  ['defaultConfig.enabled', CANARY, 'must be of type boolean'],
  ['defaultConfig.permissionPolicy', policy, 'must be one of "always_allow", "always_ask", "always_deny"'],
  ['configs[0].name', CANARY, 'must be one of "clarify"'],
  ['configs[0].enabled', 1, 'must be of type boolean'],
];

test.each(TOOL_CASES)('a built-in toolset is refused: %s', async (field, bad, constraint) => {
  const reply = await api.call('POST', '/v1/agents', {
    body: { ...AGENT, tools: [{ type: 'agent_toolset', ...place(field, bad) }] },
  });
  expect(reply.status).toBe(400);
  const path = field === 'defaultConfig.permissionPolicy' ? `${field}.type` : field;
  expect(reply.body.message).toContain(`tools[0].${path}: ${constraint}`);
  expect(reply.text).not.toContain(CANARY);
});

const CUSTOM_CASES: Case[] = [
  ['name', '', 'must be at least 1 characters'],
  ['name', long(64), 'must be at most 64 characters'],
  ['name', `${CANARY} x`, 'must hold only letters, digits, "_" and "-"'],
  ['name', 'terminal', 'must not be the name of a built-in tool'],
  ['description', undefined, 'is required'],
  ['input_schema', undefined, 'is required'],
  ['input_schema', { type: CANARY }, 'must be of type "object"'],
];

test.each(CUSTOM_CASES)('a custom tool is refused, in a role too: %s', async (field, bad, constraint) => {
  const tool = { ...custom, [field]: bad };
  expect(
    await listFaults('POST', '/v1/agents', { ...AGENT, tools: [tool] }, `tools[0].${field}: ${constraint}`),
  ).toEqual([]);
  const roles = [{ name: 'r', tools: [tool] }];
  expect(
    await listFaults('POST', '/v1/agents', { ...AGENT, roles }, `roles[0].tools[0].${field}: ${constraint}`),
  ).toEqual([]);
});

test.each([
  ['skills', { name: 'a', content: 'b' }],
  ['roles', { name: 'a', tools: [] }],
  ['mcpServers', server],
  ['tools', custom],
])('two %s of one identity are refused', async (field, item) => {
  expect(
    await listFaults('POST', '/v1/agents', { ...AGENT, [field]: [item, item] }, `${field}[1]: must be unique`),
  ).toEqual([]);
});

test.each([
  { type: 'agent_toolset', configs: [{ name: 'file' }, { name: 'file', enabled: false }] },
  { type: 'mcp_toolset', mcpServerName: 'files', configs: [{ name: 'read' }, { name: 'read', enabled: false }] },
])('two settings of one name are refused in an $type', async (tool) => {
  const constraint = 'tools[0].configs[1]: must be unique';
  expect(await listFaults('POST', '/v1/agents', { ...AGENT, mcpServers: [server], tools: [tool] }, constraint)).toEqual(
    [],
  );
});

test.each([
  ['conversationsPerMinute', 0, 'must be at least 1'],
  ['conversationsPerMinute', 301, 'must be at most 300'],
  ['conversationsPerMinute', 1.5, 'must be of type integer'],
  ['messagesPerMinute', 0, 'must be at least 1'],
  ['messagesPerMinute', 1001, 'must be at most 1000'],
  ['messagesPerMinute', '5', 'must be of type number'],
])('rate limits are refused: %s %j', async (field, bad, constraint) => {
  const rateLimits = { [field]: bad };
  expect(
    await listFaults('POST', '/v1/agents', { ...AGENT, rateLimits }, `rateLimits.${field}: ${constraint}`),
  ).toEqual([]);
  expect(await listFaults('PATCH', `/v1/agents/${agentId}/rate-limits`, rateLimits, `${field}: ${constraint}`)).toEqual(
    [],
  );
});

test.for<[string, string, string, unknown, string]>([
  ['an empty patch', 'PATCH', '/v1/agents/AGENT', {}, 'body: must change at least one field'],
  ['a patch of nothing', 'PATCH', '/v1/agents/AGENT', { expectedVersion: 0 }, 'body: must change at least one field'],
  [
    'a negative version',
    'PATCH',
    '/v1/agents/AGENT',
    { name: 'x', expectedVersion: -1 },
    'expectedVersion: must be at least 0',
  ],
  ['no rate limit', 'PATCH', '/v1/agents/AGENT/rate-limits', {}, 'body: must change at least one field'],
  ['no version', 'PUT', '/v1/agents/AGENT/production', {}, 'version: is required'],
  ['a negative version', 'PUT', '/v1/agents/AGENT/production', { version: -1 }, 'version: must be at least 0'],
  ['half a version', 'PUT', '/v1/agents/AGENT/tags/a', { version: 0.5 }, 'version: must be of type integer'],
  ['a word as version', 'GET', `/v1/agents/AGENT/versions/${CANARY}`, undefined, 'version: must be a version number'],
  [
    'a bad tag',
    'PUT',
    `/v1/agents/AGENT/tags/-${CANARY}`,
    { version: 0 },
    'tagName: must be 1 to 64 letters, digits, ".", "_" or "-"',
  ],
  ['a reserved tag', 'DELETE', '/v1/agents/AGENT/tags/production', undefined, 'tagName: is reserved'],
  [
    'a long subject',
    'GET',
    `/v1/agents/AGENT/users/${long(256)}/approvals`,
    undefined,
    'subjectId: must be at most 256 characters',
  ],
  [
    'a control character',
    'GET',
    `/v1/agents/AGENT/users/${CANARY}%0a/approvals`,
    undefined,
    'subjectId: must not contain control characters',
  ],
  ['an unknown status', 'GET', `/v1/agents?status=${CANARY}`, undefined, 'status: must be one of "active", "archived"'],
  ['no session change', 'POST', '/v1/sessions/SESSION', {}, 'body: must change at least one field'],
  ['an empty title', 'POST', '/v1/sessions/SESSION', { title: '' }, 'title: must be at least 1 characters'],
  ['a long title', 'POST', '/v1/sessions/SESSION', { title: long(500) }, 'title: must be at most 500 characters'],
  ['a word as yolo mode', 'POST', '/v1/sessions/SESSION', { yoloMode: CANARY }, 'yoloMode: must be of type boolean'],
  ['a list as metadata', 'POST', '/v1/sessions/SESSION', { metadata: [] }, 'metadata: must be of type object'],
  ['a long key', 'POST', '/v1/sessions/SESSION', { metadata: { [long(256)]: 1 } }, 'metadata: has an invalid entry'],
  [
    'an unknown status',
    'GET',
    '/v1/sessions?status=paused',
    undefined,
    'status[0]: must be one of "idle", "running", "waiting_on_human", "archived"',
  ],
  ['two agents', 'GET', `/v1/sessions?agentId=a&agent=${CANARY}`, undefined, 'agent: must match agentId'],
  ['two subjects', 'GET', `/v1/sessions?subjectId=a&subject=${CANARY}`, undefined, 'subject: must match subjectId'],
  ['no subject to warm for', 'POST', '/v1/sandboxes/warm', { agentId: 'a' }, 'subjectId: is required'],
  ['no agent to warm for', 'POST', '/v1/sandboxes/warm', { subjectId: 'a' }, 'agentId: is required'],
])('%s is refused by %s', async ([, method, path, body, message]) => {
  expect(await listFaults(method, path.replace('AGENT', agentId).replace('SESSION', sessionId), body, message)).toEqual(
    [],
  );
});

test.each<Case>([
  ['agentId', undefined, 'is required'],
  ['agentId', 7, 'must be of type string'],
  ['subjectId', undefined, 'is required'],
  ['subjectId', '', 'must be at least 1 characters'],
  ['subjectId', long(256), 'must be at most 256 characters'],
  ['subjectId', `${CANARY}\n`, 'must not contain control characters'],
  ['role', '', 'must be at least 1 characters'],
  ['title', long(500), 'must be at most 500 characters'],
  ['yoloMode', CANARY, 'must be of type boolean'],
  ['preview', CANARY, 'must be of type boolean'],
  ['tag', long(64), 'must be at most 64 characters'],
  ['metadata', CANARY, 'must be of type object'],
])('a session is refused: %s', async (field, bad, constraint) => {
  const body = { agentId, subjectId: 'anna', [field]: bad };
  expect(await listFaults('POST', '/v1/sessions', body, `${field}: ${constraint}`)).toEqual([]);
});

test('preview and tag exclude each other', async () => {
  const body = { agentId, subjectId: 'anna', preview: true, tag: CANARY };
  expect(await listFaults('POST', '/v1/sessions', body, 'tag: must not be combined with preview')).toEqual([]);
});

const PAGED = ['/v1/agents', '/v1/agents/AGENT/versions', '/v1/agents/AGENT/tags', '/v1/sessions', '/v1/api-keys'];
const PAGES: [string, string][] = [
  ['limit=0', 'limit: must be at least 1'],
  ['limit=101', 'limit: must be at most 100'],
  [`limit=${CANARY}`, 'limit: must be of type number'],
  ['limit=1.5', 'limit: must be of type number'],
  ['limit=1&limit=2', 'limit: must be of type number'],
  ['offset=-1', 'offset: must be at least 0'],
  ['offset=1e3', 'offset: must be of type number'],
];
test.each(PAGED.flatMap((path) => PAGES.map(([query, message]) => [path, query, message] as const)))(
  'a page out of bounds is refused: %s?%s',
  async (path, query, message) => {
    expect(await listFaults('GET', `${path.replace('AGENT', agentId)}?${query}`, undefined, message)).toEqual([]);
  },
);

test.each<Case>([
  ['name', undefined, 'is required'],
  ['name', '', 'must be at least 1 characters'],
  ['name', long(200), 'must be at most 200 characters'],
  ['organization', `-${CANARY}`, 'must be 1 to 64 letters, digits, ".", "_" or "-"'],
  ['scopes', [], 'must be at least 1 items'],
  ['requestsPerMinute', 0, 'must be at least 1'],
  ['requestsPerMinute', 1_000_001, 'must be at most 1000000'],
])('a key is refused: %s', async (field, bad, constraint) => {
  expect(await listFaults('POST', '/v1/api-keys', { name: 'x', [field]: bad }, `${field}: ${constraint}`)).toEqual([]);
});

test('the largest values of all are taken', async () => {
  const body = {
    name: 'n'.repeat(256),
    modelName: `a/${'b'.repeat(498)}`,
    systemPrompt: 'p'.repeat(1_000_000),
    skills: [{ name: 's'.repeat(200), content: 'c'.repeat(100_000) }],
    tools: [{ ...custom, name: 't'.repeat(64), description: 'd'.repeat(20_000) }],
    roles: [{ name: 'r'.repeat(200), description: 'd'.repeat(20_000), tools: [] }],
    mcpServers: [{ ...server, name: 'm'.repeat(200) }],
    rateLimits: { conversationsPerMinute: 300, messagesPerMinute: 1000 },
    metadata: { ['k'.repeat(256)]: '😀' },
  };
  const id = await makeAgent(api, body);
  const session = { title: 't'.repeat(500), role: 'r'.repeat(200), subjectId: '木'.repeat(256) };
  expect(await makeSession(api, id, session)).toMatch(/^ses_/);
  const approvals = await api.call('GET', `/v1/agents/${id}/users/${encodeURIComponent(session.subjectId)}/approvals`);
  expect(approvals.status).toBe(200);
  expect((await api.call('PUT', `/v1/agents/${id}/tags/${'t'.repeat(64)}`, { body: { version: 0 } })).status).toBe(200);
});
