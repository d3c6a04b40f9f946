import { afterAll, beforeAll, expect, test } from 'vitest';
import { AGENT_SERVICE_ROUTES } from '../../../src/agents/contract/document.ts';
import type { List } from '../../../src/platform/contract/common.ts';
import { AGENT, makeAgent, makeSession, openApi } from './harness.ts';
import type { Api } from './harness.ts';

let api: Api;
/** a key without rights here */
let loginKey: string;
const ids: Record<string, string> = {
  version: '0',
  tagName: 'dev',
  subjectId: 'anna',
  tool: 'terminal',
  serverName: 'tools',
  index: '0',
  scope: 'agent',
};
beforeAll(async () => {
  api = await openApi();
  const only = { name: 'login', scopes: ['login'] };
  loginKey = (await api.call<{ key: string }>('POST', '/v1/api-keys', { body: only })).body.key;
  const mcpServers = [{ type: 'url', name: 'tools', url: 'https://tools.example/mcp' }];
  ids['agentId'] = await makeAgent(api, { mcpServers });
  ids['sessionId'] = await makeSession(api, ids['agentId']);
  ids['id'] = ids['agentId'];
  await api.call('PUT', `/v1/budgets/agent/${ids['agentId']}`, { body: BODIES['putBudget'] });
  const automations = `/v1/agents/${ids['agentId']}/users/anna/automations`;
  const automation = { body: BODIES['createAutomation'] };
  ids['automationId'] = (await api.call<{ id: string }>('POST', automations, automation)).body.id;
  const vault = await api.call<{ id: string }>('POST', '/v1/vaults', { body: { displayName: 'x' } });
  ids['vaultId'] = vault.body.id;
  const body = BODIES['createCredential'];
  const path = `/v1/vaults/${ids['vaultId']}/credentials`;
  ids['credentialId'] = (await api.call<{ id: string }>('POST', path, { body })).body.id;
  await api.call('PUT', `/v1/agents/${ids['agentId']}/tags/dev`, { body: { version: 0 } });
  const { rows } = await api.backends.db.query<{ id: string }>(`SELECT k.id FROM api_keys k
    JOIN organizations o ON o.id = k.organization_id WHERE o.name = 'default'`);
  ids['keyId'] = rows[0]!.id;
});
afterAll(() => api.close());

/** Bodies that pass validation, so that only ownership can reject them. */
const BODIES: Record<string, object> = {
  createAgent: AGENT,
  patchAgent: { name: 'x' },
  replaceAgent: AGENT,
  setProduction: { version: 0 },
  setTag: { version: 0 },
  setRateLimits: { messagesPerMinute: 1 },
  updateSession: { title: 'x' },
  createCredential: {
    displayName: 'x',
    auth: { type: 'static_bearer', mcpServerUrl: 'https://tools.example/mcp', token: 't' },
  },
  patchCredential: { displayName: 'x' },
  setAgentVaults: { vaultIds: [] },
  installMcpServer: {
    expectedAgentVersion: 0,
    idempotencyKey: 'x',
    connector: { type: 'catalog', id: 'tools' },
    authentication: { type: 'none' },
  },
  writeFile: { path: 'a', content: 'x' },
  uploadFile: { path: 'a', content: 'x' },
  makeDirectory: { path: 'a' },
  moveFile: { from: 'a', to: 'b' },
  copyFile: { from: 'a', to: 'b' },
  patchApiKey: { name: 'x' },
  createAutomation: { prompt: 'x', schedule: 'every 1d' },
  patchAutomation: { prompt: 'x' },
  putAgentMemory: { content: 'x' },
  putMemory: { content: 'x' },
  putBudget: { limitUsd: 1 },
  createWebhook: { url: 'https://a.example', events: '*' },
  updateWebhook: { enabled: false },
  sendEvents: { events: [{ type: 'user.message', content: [{ type: 'text', text: 'x' }] }] },
};

/** The same for queries. */
const QUERIES: Record<string, string> = {
  deleteFile: 'path=a',
  statFile: 'path=a',
  readFile: 'path=a',
  searchFiles: 'query=a',
};

const scoped = AGENT_SERVICE_ROUTES.filter((route) => route.path.includes('{'));

test('the loop covers every route that names a resource', () => {
  expect(scoped.length).toBeGreaterThan(20);
  expect(AGENT_SERVICE_ROUTES.filter((route) => !scoped.includes(route)).map((route) => route.id)).toEqual([
    'listAgents',
    'createAgent',
    'createSession',
    'listSessions',
    'listSandboxes',
    'warmSandbox',
    'listPendingActions',
    'streamOrganizationEvents',
    'listOrganizationAutomations',
    'listSubjects',
    'createVault',
    'listVaults',
    'listApiKeys',
    'createApiKey',
    'listOrganizations',
    'createWebhook',
    'listWebhooks',
    'listBudgets',
    'getCaller',
    'createSignIn',
    'deleteSignIn',
    'listSignInMethods',
    'listAudit',
    'verifyAudit',
    'createDemoUsage',
  ]);
});

test.each(scoped.map((route) => [route.id, route] as const))(
  "another organization's resource does not exist for %s",
  async (id, route) => {
    const resource = route.path.replaceAll(/\{(\w+)\}/g, (_match, name: string) => ids[name] ?? name);
    const path = QUERIES[id] === undefined ? resource : `${resource}?${QUERIES[id]}`;
    const request = BODIES[id] === undefined ? {} : { body: BODIES[id] };
    const reply = await api.call(route.method, path, { ...request, key: api.otherKey });
    expect([reply.status, reply.body.error]).toEqual([404, 'not_found']);
    expect(Object.values(ids).some((own) => own.length > 20 && reply.text.includes(own))).toBe(false);
  },
);

test.each(AGENT_SERVICE_ROUTES.filter((route) => route.scope !== undefined).map((route) => [route.id, route] as const))(
  '%s needs a key, and one with its scope',
  async (id, route) => {
    const resource = route.path.replaceAll(/\{(\w+)\}/g, (_match, name: string) => ids[name] ?? name);
    const path = QUERIES[id] === undefined ? resource : `${resource}?${QUERIES[id]}`;
    const request = route.body === undefined ? {} : { body: BODIES[id] ?? {} };
    const withoutKey = await api.call(route.method, path, { ...request, key: null });
    expect([withoutKey.status, withoutKey.body.error]).toEqual([401, 'unauthorized']);
    const withoutScope = await api.call(route.method, path, { ...request, key: loginKey });
    expect([withoutScope.status, withoutScope.body.error]).toEqual([403, 'forbidden']);
    expect(withoutScope.body.message).toContain(route.scope);
  },
);

test('bodies cannot name another organization’s agent', async () => {
  const body = { agentId: ids['agentId'], subjectId: 'anna' };
  for (const path of ['/v1/sessions', '/v1/sandboxes/warm']) {
    expect((await api.call('POST', path, { body, key: api.otherKey })).status).toBe(404);
  }
});

test('lists hold the own organization only', async () => {
  for (const path of ['/v1/agents', '/v1/sessions', `/v1/sessions?agentId=${ids['agentId']}`]) {
    const reply = await api.call<List<unknown>>('GET', path, { key: api.otherKey });
    expect([reply.body.data, reply.body.pagination.total]).toEqual([[], 0]);
  }
});

test('nothing has changed for the owner', async () => {
  expect((await api.call('GET', `/v1/sessions/${ids['sessionId']}`)).status).toBe(200);
  const agent = await api.call<{ name: string; version: { version: number } }>('GET', `/v1/agents/${ids['agentId']}`);
  expect(agent.body).toMatchObject({ name: 'Ada', version: { version: 0 } });
  expect((await api.call('GET', `/v1/agents/${ids['agentId']}/versions/0`)).status).toBe(200);
});
