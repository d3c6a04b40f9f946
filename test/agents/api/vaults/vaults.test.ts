import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { List } from '../../../../src/platform/contract/common.ts';
import type { AgentVaults, Credential, Vault } from '../../../../src/agents/contract/vaults.ts';
import { AGENT, makeAgent, openApi } from '../harness.ts';
import type { Api } from '../harness.ts';

let api: Api;
beforeAll(async () => {
  api = await openApi();
});
afterAll(() => api.close());

const URL = 'https://mcp.example/mcp';
const bearer = (token = 'tok-1', url = URL) => ({ type: 'static_bearer', mcpServerUrl: url, token });
const oauth = (more: object = {}) => ({
  type: 'mcp_oauth',
  mcpServerUrl: URL,
  accessToken: 'acc-1',
  expiresAt: '2099-01-01T00:00:00.000Z',
  refresh: {
    tokenEndpoint: 'https://auth.example/token',
    clientId: 'client',
    refreshToken: 'ref-1',
    tokenEndpointAuth: { type: 'client_secret_basic', clientSecret: 'sec-1' },
  },
  ...more,
});

async function makeVault(fields: object = {}): Promise<Vault> {
  const reply = await api.call<Vault>('POST', '/v1/vaults', { body: { displayName: 'Keys', ...fields } });
  expect(reply.status).toBe(201);
  return reply.body;
}

async function makeCredential(vaultId: string, auth: object = bearer(), fields: object = {}): Promise<Credential> {
  const body = { displayName: 'Key', auth, ...fields };
  const reply = await api.call<Credential>('POST', `/v1/vaults/${vaultId}/credentials`, { body });
  expect(reply.status).toBe(201);
  return reply.body;
}

describe('a vault', () => {
  it('has the documented record, with and without metadata', async () => {
    const vault = await makeVault({ metadata: { team: 'a' } });
    expect(vault).toEqual({
      id: expect.stringMatching(/^vlt_[0-9a-z]{26}$/),
      type: 'vault',
      displayName: 'Keys',
      metadata: { team: 'a' },
      archivedAt: null,
      createdAt: expect.any(String),
      updatedAt: expect.any(String),
    });
    expect((await makeVault()).metadata).toEqual({});
    expect((await api.call('GET', `/v1/vaults/${vault.id}`)).body).toEqual(vault);
  });

  it('is listed while active, newest first, and stays readable when archived', async () => {
    const [first, second] = [await makeVault(), await makeVault()];
    const path = `/v1/vaults/${first.id}`;
    const archived = await api.call<Vault>('POST', `${path}/archive`);
    expect([archived.status, archived.body.archivedAt]).toEqual([200, expect.any(String)]);
    expect((await api.call('POST', `${path}/archive`)).body).toEqual(archived.body);
    const { body } = await api.call<List<Vault>>('GET', '/v1/vaults?limit=1');
    expect(body.data.map(({ id }) => id)).toEqual([second.id]);
    expect(body.pagination).toMatchObject({ limit: 1, offset: 0, hasMore: true });
    const all = await api.call<List<Vault>>('GET', '/v1/vaults?limit=100');
    expect(all.body.data.map(({ id }) => id)).not.toContain(first.id);
    expect((await api.call('GET', path)).body).toEqual(archived.body);
  });

  it('takes no credentials and no attachments when archived', async () => {
    const vault = await makeVault();
    const kept = await makeCredential(vault.id);
    const agentId = await makeAgent(api);
    await api.call('POST', `/v1/vaults/${vault.id}/archive`);
    const path = `/v1/vaults/${vault.id}/credentials`;
    const refusals = [
      await api.call('POST', path, { body: { displayName: 'x', auth: bearer() } }),
      await api.call('PATCH', `${path}/${kept.id}`, { body: { displayName: 'x' } }),
      await api.call('PUT', `/v1/agents/${agentId}/vaults`, { body: { vaultIds: [vault.id] } }),
    ];
    expect(refusals.map(({ body }) => body.error)).toEqual(Array(3).fill('invalid_state'));
    expect((await api.call('GET', `${path}/${kept.id}`)).status).toBe(200);
  });

  it('can be deleted when empty, with its attachments; an archived credential is something', async () => {
    const vault = await makeVault();
    const credential = await makeCredential(vault.id);
    const agentId = await makeAgent(api);
    await api.call('PUT', `/v1/agents/${agentId}/vaults`, { body: { vaultIds: [vault.id] } });
    const path = `/v1/vaults/${vault.id}`;
    await api.call('POST', `${path}/credentials/${credential.id}/archive`);
    const refused = await api.call('DELETE', path);
    expect([refused.status, refused.body.error]).toEqual([409, 'conflict']);
    const removed = await api.call('DELETE', `${path}/credentials/${credential.id}`);
    expect(removed.body).toEqual({ object: 'vault_credential.deleted', id: credential.id, deleted: true });
    const deleted = await api.call('DELETE', path);
    expect(deleted.body).toEqual({ object: 'vault.deleted', id: vault.id, deleted: true });
    expect((await api.call('GET', path)).status).toBe(404);
    expect((await api.call<AgentVaults>('GET', `/v1/agents/${agentId}/vaults`)).body.data).toEqual([]);
  });
});

describe('a credential', () => {
  it('shows everything but its secrets', async () => {
    const vault = await makeVault();
    const plain = await makeCredential(vault.id, bearer());
    expect(plain).toEqual({
      id: expect.stringMatching(/^crd_[0-9a-z]{26}$/),
      type: 'vault_credential',
      vaultId: vault.id,
      displayName: 'Key',
      metadata: null,
      auth: { type: 'static_bearer', mcpServerUrl: URL },
      archivedAt: null,
      createdAt: expect.any(String),
      updatedAt: expect.any(String),
    });
    const { auth } = await makeCredential(vault.id, oauth());
    expect(auth).toEqual({
      type: 'mcp_oauth',
      mcpServerUrl: URL,
      expiresAt: '2099-01-01T00:00:00.000Z',
      refresh: {
        tokenEndpoint: 'https://auth.example/token',
        clientId: 'client',
        tokenEndpointAuth: { type: 'client_secret_basic' },
      },
    });
  });

  it('keeps the URL of its server', async () => {
    const vault = await makeVault();
    const { id, auth } = await makeCredential(vault.id);
    const path = `/v1/vaults/${vault.id}/credentials/${id}`;
    const rotate = (mcpServerUrl: string) => {
      return api.call('PATCH', path, { body: { auth: { type: 'static_bearer', mcpServerUrl, token: 'next' } } });
    };
    expect(await rotate('https://other.example/mcp')).toMatchObject({
      status: 400,
      body: { error: 'validation_error', message: 'auth.mcpServerUrl: must be that of the credential' },
    });
    expect((await rotate('nonsense')).status).toBe(400);
    expect((await rotate(auth.mcpServerUrl)).status).toBe(200);
  });

  it('is listed while active and belongs to its vault only', async () => {
    const [vault, other] = [await makeVault(), await makeVault()];
    const path = `/v1/vaults/${vault.id}/credentials`;
    const [first, second] = [await makeCredential(vault.id), await makeCredential(vault.id)];
    await api.call('POST', `${path}/${first.id}/archive`);
    const again = await api.call<Credential>('POST', `${path}/${first.id}/archive`);
    expect(again.body.archivedAt).toEqual(expect.any(String));
    const { body } = await api.call<List<Credential>>('GET', path);
    expect(body.data.map(({ id }) => id)).toEqual([second.id]);
    expect((await api.call('GET', `${path}/${first.id}`)).body).toEqual(again.body);
    for (const [method, suffix] of [
      ['GET', ''],
      ['DELETE', ''],
      ['POST', '/archive'],
      ['PATCH', ''],
    ] as const) {
      const request = method === 'PATCH' ? { body: { displayName: 'x' } } : {};
      const reply = await api.call(method, `/v1/vaults/${other.id}/credentials/${second.id}${suffix}`, request);
      expect([method, reply.status]).toEqual([method, 404]);
    }
  });

  it('is rotated by its own type only, and described beside it', async () => {
    const vault = await makeVault();
    const plain = `/v1/vaults/${vault.id}/credentials/${(await makeCredential(vault.id)).id}`;
    const grant = `/v1/vaults/${vault.id}/credentials/${(await makeCredential(vault.id, oauth())).id}`;
    const patch = (path: string, body: object) => api.call<Credential>('PATCH', path, { body });
    const described = await patch(plain, { displayName: 'New', metadata: { a: 1 } });
    expect(described.body).toMatchObject({ displayName: 'New', metadata: { a: 1 } });
    expect((await patch(plain, { metadata: null })).body).toMatchObject({ displayName: 'New', metadata: null });
    expect((await patch(plain, { auth: { type: 'static_bearer', token: 'tok-2' } })).status).toBe(200);
    const expiresAt = '2098-01-01T00:00:00.000Z';
    const rotated = await patch(grant, {
      auth: { type: 'mcp_oauth', accessToken: 'acc-2', expiresAt, refresh: { refreshToken: 'ref-2' } },
    });
    expect(rotated.body.auth).toMatchObject({ expiresAt, refresh: { clientId: 'client' } });
    const bad = [
      await patch(plain, { auth: oauth() }),
      await patch(grant, { auth: bearer() }),
      await patch(plain, {}),
      await patch(plain, { auth: { type: 'static_bearer' } }),
      await patch(grant, { auth: { type: 'mcp_oauth' } }),
      await patch(grant, { auth: { type: 'mcp_oauth', accessToken: 'two words' } }),
    ];
    expect(bad.map(({ status }) => status)).toEqual(Array(6).fill(400));
    await api.call('POST', `${plain}/archive`);
    expect((await patch(plain, { displayName: 'x' })).status).toBe(409);
  });

  it.each([
    [{ ...bearer(), mcpServerUrl: 'ftp://x' }, 'auth.mcpServerUrl'],
    [{ ...bearer(), mcpServerUrl: 'https://a:b@x' }, 'auth.mcpServerUrl'],
    [{ ...bearer(), token: '' }, 'auth.token'],
    [{ ...bearer(), token: 'a\nb' }, 'auth.token'],
    [{ ...bearer(), type: 'other' }, 'auth.type'],
    [oauth({ accessToken: undefined }), 'auth.accessToken'],
    [oauth({ expiresAt: 'soon' }), 'auth.expiresAt'],
    [oauth({ refresh: {} }), 'auth.refresh.tokenEndpoint'],
  ])('is refused without an echo: %j', async (auth, path) => {
    const vault = await makeVault();
    const reply = await api.call('POST', `/v1/vaults/${vault.id}/credentials`, { body: { displayName: 'x', auth } });
    expect([reply.status, reply.body.error]).toEqual([400, 'validation_error']);
    expect(reply.body.message).toContain(`${path}: `);
  });
});

describe("an agent's vaults", () => {
  const server = (name: string, url: string) => ({ type: 'url', name, url });
  const put = (agentId: string, body: object) => api.call<AgentVaults>('PUT', `/v1/agents/${agentId}/vaults`, { body });

  it('are replaced as a set, which changes the agent', async () => {
    const agentId = await makeAgent(api);
    const [a, b] = [await makeVault(), await makeVault()];
    const before = (await api.call<AgentVaults>('GET', `/v1/agents/${agentId}/vaults`)).body;
    expect(before).toMatchObject({ object: 'agent.vaults', agentId, data: [], connections: [] });
    const both = (await put(agentId, { vaultIds: [b.id, a.id, a.id], expectedUpdatedAt: before.updatedAt })).body;
    expect(both.data.map(({ id }) => id)).toEqual([b.id, a.id]);
    expect(Date.parse(both.updatedAt)).toBeGreaterThan(Date.parse(before.updatedAt));
    const agent = (await api.call<{ updatedAt: string }>('GET', `/v1/agents/${agentId}`)).body;
    expect(agent.updatedAt).toBe(both.updatedAt);
    const stale = await api.call('PUT', `/v1/agents/${agentId}/vaults`, {
      body: { vaultIds: [], expectedUpdatedAt: before.updatedAt },
    });
    expect([stale.status, stale.body.error]).toEqual([409, 'conflict']);
    expect((await put(agentId, { vaultIds: [a.id] })).body.data).toHaveLength(1);
    expect((await put(agentId, { vaultIds: [] })).body.data).toEqual([]);
  });

  it('must be there, in the same organization', async () => {
    const agentId = await makeAgent(api);
    const foreign = await api.call<Vault>('POST', '/v1/vaults', { key: api.otherKey, body: { displayName: 'x' } });
    for (const id of ['vlt_unknown', foreign.body.id]) {
      expect((await put(agentId, { vaultIds: [id] })).status).toBe(404);
    }
    await api.call('POST', `/v1/agents/${agentId}/archive`);
    expect((await put(agentId, { vaultIds: [] })).status).toBe(409);
  });

  it('one of two puts that expect the same moment wins', async () => {
    const agentId = await makeAgent(api);
    const vault = await makeVault();
    const { updatedAt } = (await api.call<AgentVaults>('GET', `/v1/agents/${agentId}/vaults`)).body;
    const replies = await Promise.all(
      [vault.id, vault.id, vault.id].map((id) => put(agentId, { vaultIds: [id], expectedUpdatedAt: updatedAt })),
    );
    expect(replies.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(replies.filter(({ status }) => status === 409)).toHaveLength(2);
  });

  it('tell how each server of the latest version is connected', async () => {
    const names = ['public', 'connected', 'expired', 'refreshable', 'conflict', 'archived'];
    const mcpServers = names.map((name) => server(name, `https://${name}.example/mcp`));
    const agentId = await makeAgent(api, { ...AGENT, mcpServers });
    const vault = await makeVault();
    const past = { expiresAt: '2020-01-01T00:00:00.000Z' };
    // The same server in another spelling.
    const used = await makeCredential(vault.id, bearer('t', 'HTTPS://Connected.Example:443/mcp/'));
    await makeCredential(vault.id, oauth({ ...past, refresh: null, mcpServerUrl: 'https://expired.example/mcp' }));
    await makeCredential(vault.id, oauth({ ...past, mcpServerUrl: 'https://refreshable.example/mcp' }));
    await makeCredential(vault.id, bearer('t', 'https://conflict.example/mcp'));
    await makeCredential(vault.id, bearer('t', 'https://conflict.example/mcp/'));
    const gone = await makeCredential(vault.id, bearer('t', 'https://archived.example/mcp'));
    await makeCredential(vault.id, bearer('t', 'https://public.example/other'));
    await api.call('POST', `/v1/vaults/${vault.id}/credentials/${gone.id}/archive`);
    const { connections } = (await put(agentId, { vaultIds: [vault.id] })).body;
    expect(connections.map(({ mcpServerName, status }) => [mcpServerName, status])).toEqual([
      ['public', 'public'],
      ['connected', 'connected'],
      ['expired', 'reconnect'],
      ['refreshable', 'connected'],
      ['conflict', 'conflict'],
      ['archived', 'public'],
    ]);
    expect(connections[1]).toEqual({
      mcpServerName: 'connected',
      mcpServerUrl: 'https://connected.example/mcp',
      status: 'connected',
      vaultId: vault.id,
      credentialId: used.id,
    });
    expect(connections[4]).toMatchObject({ vaultId: null, credentialId: null });
  });
});
