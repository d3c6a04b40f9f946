import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Agent } from '../../../../src/agents/contract/agents.ts';
import type { McpInstallation } from '../../../../src/agents/contract/installations.ts';
import type { AgentVaults, Vault } from '../../../../src/agents/contract/vaults.ts';
import { makeAgent, openApi } from '../harness.ts';
import type { Api } from '../harness.ts';

let api: Api;
beforeAll(async () => {
  api = await openApi();
});
afterAll(() => api.close());

let keys = 0;
const install = (agentId: string, fields: object = {}) => {
  keys += 1;
  const body = {
    expectedAgentVersion: 0,
    idempotencyKey: `key-${keys}`,
    connector: { type: 'custom', name: 'files', url: 'https://files.example/mcp' },
    authentication: { type: 'none' },
    ...fields,
  };
  return api.call<McpInstallation & { error?: string }>('POST', `/v1/agents/${agentId}/mcp/installations`, { body });
};

describe('an installation', () => {
  it('publishes a version with the server and its permissions, and leaves production alone', async () => {
    const agentId = await makeAgent(api);
    const { status, body } = await install(agentId);
    expect(status).toBe(201);
    expect(body).toMatchObject({
      object: 'mcp.installation',
      version: 1,
      mcpServerName: 'files',
      vaultId: null,
      credentialId: null,
      status: 'public',
    });
    expect(body.agent.version.mcpServers).toEqual([{ type: 'url', name: 'files', url: 'https://files.example/mcp' }]);
    expect(body.agent.tools.at(-1)).toEqual({
      type: 'mcp_toolset',
      mcpServerName: 'files',
      defaultConfig: { enabled: true, permissionPolicy: { type: 'always_ask' } },
    });
    const agent = (await api.call<Agent>('GET', `/v1/agents/${agentId}`)).body;
    expect([agent.version.version, agent.productionVersion]).toEqual([1, 0]);
  });

  it('takes a server of the catalog, and another permission', async () => {
    const agentId = await makeAgent(api);
    const { body } = await install(agentId, {
      connector: { type: 'catalog', id: 'tools' },
      defaultPermission: 'always_deny',
    });
    expect(body.mcpServerName).toBe('tools');
    expect(body.agent.tools.at(-1)).toMatchObject({ defaultConfig: { permissionPolicy: { type: 'always_deny' } } });
    const unknown = await install(agentId, { expectedAgentVersion: 1, connector: { type: 'catalog', id: 'none' } });
    expect([unknown.status, unknown.body.error]).toEqual([400, 'validation_error']);
  });

  it('stores a token in a vault that is attached, and never shows it', async () => {
    const agentId = await makeAgent(api);
    const reply = await install(agentId, { authentication: { type: 'static_bearer', token: 'c4n4ry-token' } });
    expect(reply.text).not.toContain('c4n4ry');
    expect(reply.body).toMatchObject({ status: 'connected', vaultId: expect.stringMatching(/^vlt_/) });
    const vaults = (await api.call<AgentVaults>('GET', `/v1/agents/${agentId}/vaults`)).body;
    expect(vaults.data.map(({ id }) => id)).toEqual([reply.body.vaultId]);
    expect(vaults.updatedAt).toBe(reply.body.agent.updatedAt);
    expect(vaults.connections).toMatchObject([{ status: 'connected', credentialId: reply.body.credentialId }]);
  });

  it('reuses a vault that is attached, and no other', async () => {
    const agentId = await makeAgent(api);
    const vault = (await api.call<Vault>('POST', '/v1/vaults', { body: { displayName: 'x' } })).body;
    const authentication = { type: 'existing_vault', vaultId: vault.id };
    expect((await install(agentId, { authentication })).status).toBe(400);
    expect((await install(agentId, { authentication: { type: 'existing_vault', vaultId: 'vlt_x' } })).status).toBe(404);
    await api.call('PUT', `/v1/agents/${agentId}/vaults`, { body: { vaultIds: [vault.id] } });
    const { body } = await install(agentId, { authentication });
    expect(body).toMatchObject({ vaultId: vault.id, credentialId: null, status: 'public' });
  });

  it('happens once per key: a replay has the first body, another body is a conflict', async () => {
    const agentId = await makeAgent(api);
    const fields = { idempotencyKey: 'once', authentication: { type: 'static_bearer', token: 'token-1' } };
    const replies = await Promise.all(Array.from({ length: 5 }, () => install(agentId, fields)));
    expect(replies.map(({ status }) => status)).toEqual([201, 201, 201, 201, 201]);
    for (const { body } of replies) expect(body).toEqual(replies[0]?.body);
    const vaults = (await api.call<AgentVaults>('GET', `/v1/agents/${agentId}/vaults`)).body;
    expect(vaults.data).toHaveLength(1);
    const other = await install(agentId, { ...fields, defaultPermission: 'always_allow' });
    expect([other.status, other.body.error]).toEqual([409, 'conflict']);
  });

  it('is refused for another version, a name that is taken and an archived agent, and leaves nothing behind', async () => {
    const agentId = await makeAgent(api);
    const authentication = { type: 'static_bearer', token: 'token-1' };
    const stale = await install(agentId, { expectedAgentVersion: 7, authentication });
    expect([stale.status, stale.body.error]).toEqual([409, 'conflict']);
    await install(agentId);
    const taken = await install(agentId, { expectedAgentVersion: 1, authentication });
    expect([taken.status, taken.body.error]).toEqual([409, 'conflict']);
    expect((await api.call<AgentVaults>('GET', `/v1/agents/${agentId}/vaults`)).body.data).toEqual([]);
    await api.call('POST', `/v1/agents/${agentId}/archive`);
    const archived = await install(agentId, { expectedAgentVersion: 1 });
    expect([archived.status, archived.body.error]).toEqual([409, 'invalid_state']);
  });
});
