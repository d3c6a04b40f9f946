import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Credential, Vault } from '../../../../src/agents/contract/vaults.ts';
import { makeAgent, openApi } from '../harness.ts';
import type { Api } from '../harness.ts';

let api: Api;
let vault: string;
let agent: string;
beforeAll(async () => {
  api = await openApi();
  vault = (await api.call<Vault>('POST', '/v1/vaults', { body: { displayName: 'Keys' } })).body.id;
  agent = await makeAgent(api);
});
afterAll(() => api.close());

const CANARY = 'Zq7';
const bearer = { type: 'static_bearer', mcpServerUrl: 'https://mcp.example/mcp', token: 'tok' };
const refresh = (tokenEndpointAuth: object) => ({
  tokenEndpoint: 'https://auth.example/token',
  clientId: 'client',
  refreshToken: 'ref',
  tokenEndpointAuth,
});
const oauth = (tokenEndpointAuth: object) => ({
  type: 'mcp_oauth',
  mcpServerUrl: 'https://mcp.example/mcp',
  accessToken: 'acc',
  expiresAt: '2099-01-01T00:00:00.000Z',
  refresh: refresh(tokenEndpointAuth),
});
const install = {
  expectedAgentVersion: 0,
  idempotencyKey: 'x',
  connector: { type: 'custom', name: 'files', url: 'https://files.example/mcp' },
  authentication: { type: 'none' },
};
const VAULTS = '/v1/vaults';
const CREDENTIALS = '/v1/vaults/VAULT/credentials';
const INSTALL = '/v1/agents/AGENT/mcp/installations';
const AUTH = 'auth.refresh.tokenEndpointAuth';

it.each<[string, string, object, string]>([
  ['POST', VAULTS, {}, 'displayName: is required'],
  ['POST', VAULTS, { displayName: '' }, 'displayName: must'],
  ['POST', VAULTS, { displayName: CANARY + 'x'.repeat(198) }, 'displayName: must'],
  ['POST', VAULTS, { displayName: 'x', metadata: CANARY }, 'metadata: must'],
  ['POST', CREDENTIALS, { auth: bearer }, 'displayName: is required'],
  ['POST', CREDENTIALS, { displayName: 'x' }, 'auth: '],
  ['POST', CREDENTIALS, { displayName: 'x', auth: { ...bearer, mcpServerUrl: undefined } }, 'auth.mcpServerUrl: is'],
  ['POST', CREDENTIALS, { displayName: 'x', auth: { ...bearer, token: undefined } }, 'auth.token: is required'],
  ['POST', CREDENTIALS, { displayName: 'x', auth: oauth({ type: CANARY }) }, AUTH],
  ['POST', CREDENTIALS, { displayName: 'x', auth: oauth({ type: 'client_secret_basic' }) }, `${AUTH}.clientSecret: is`],
  ['POST', CREDENTIALS, { displayName: 'x', auth: oauth({ type: 'client_secret_post' }) }, `${AUTH}.clientSecret: is`],
  ['PUT', '/v1/agents/AGENT/vaults', {}, 'vaultIds: is required'],
  ['PUT', '/v1/agents/AGENT/vaults', { vaultIds: CANARY }, 'vaultIds: must'],
  ['PUT', '/v1/agents/AGENT/vaults', { vaultIds: [], expectedUpdatedAt: CANARY }, 'expectedUpdatedAt: must'],
  ['POST', INSTALL, { ...install, expectedAgentVersion: undefined }, 'expectedAgentVersion: is required'],
  ['POST', INSTALL, { ...install, idempotencyKey: undefined }, 'idempotencyKey: is required'],
  ['POST', INSTALL, { ...install, idempotencyKey: '' }, 'idempotencyKey: must'],
  ['POST', INSTALL, { ...install, connector: undefined }, 'connector: '],
  ['POST', INSTALL, { ...install, connector: { type: CANARY } }, 'connector'],
  ['POST', INSTALL, { ...install, connector: { ...install.connector, url: `ftp://${CANARY}` } }, 'connector.url: must'],
  ['POST', INSTALL, { ...install, authentication: undefined }, 'authentication: '],
  ['POST', INSTALL, { ...install, authentication: { type: CANARY } }, 'authentication'],
  ['POST', INSTALL, { ...install, authentication: { type: 'static_bearer' } }, 'authentication.token: is required'],
  ['POST', INSTALL, { ...install, authentication: { type: 'existing_vault' } }, 'authentication.vaultId: is required'],
  ['POST', INSTALL, { ...install, defaultPermission: CANARY }, 'defaultPermission: must'],
])('%s %s with %j is refused by its field', async (method, path, body, start) => {
  const place = path.replace('VAULT', vault).replace('AGENT', agent);
  const reply = await api.call(method, place, { body });
  expect([reply.status, reply.body.error]).toEqual([400, 'validation_error']);
  expect(reply.body.message.split('; ').some((part) => part.startsWith(start))).toBe(true);
  expect(reply.text).not.toContain(CANARY);
});

it.each([
  { type: 'none' },
  { type: 'client_secret_basic', clientSecret: 'sec' },
  { type: 'client_secret_post', clientSecret: 'sec' },
])('a grant may be refreshed with $type', async (how) => {
  const body = { displayName: 'x', auth: oauth(how) };
  const reply = await api.call<Credential>('POST', `/v1/vaults/${vault}/credentials`, { body });
  expect(reply.status).toBe(201);
  expect(reply.body.auth).toMatchObject({ refresh: { tokenEndpointAuth: { type: how.type } } });
  expect(reply.text).not.toMatch(/"(?:acc|ref|sec)"/);
});
