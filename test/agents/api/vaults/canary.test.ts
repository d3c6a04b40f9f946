import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Credential, Vault } from '../../../../src/agents/contract/vaults.ts';
import { openApi } from '../harness.ts';
import type { Api } from '../harness.ts';

let api: Api;
beforeAll(async () => {
  api = await openApi();
});
afterAll(() => api.close());

it('no secret of a vault is in an answer or in a row of the database', async () => {
  const canary = 'c4n4ry-0f5a-vault';
  const vault = (await api.call<Vault>('POST', '/v1/vaults', { body: { displayName: 'Keys' } })).body;
  const mcpServerUrl = 'https://mcp.example/mcp';
  const path = `/v1/vaults/${vault.id}/credentials`;
  const texts: string[] = [];
  const call = async (method: string, url: string, body?: object) => {
    const reply = await api.call<Credential>(method, url, body === undefined ? {} : { body });
    texts.push(reply.text, JSON.stringify(reply.headers));
    return reply.body;
  };
  const plain = await call('POST', path, {
    displayName: 'a',
    auth: { type: 'static_bearer', mcpServerUrl, token: canary },
  });
  const grant = await call('POST', path, {
    displayName: 'b',
    auth: {
      type: 'mcp_oauth',
      mcpServerUrl,
      accessToken: canary,
      refresh: {
        tokenEndpoint: 'https://auth.example/token',
        clientId: 'c',
        refreshToken: canary,
        tokenEndpointAuth: { type: 'client_secret_post', clientSecret: canary },
      },
    },
  });
  await call('PATCH', `${path}/${plain.id}`, { auth: { type: 'static_bearer', token: canary } });
  await call('PATCH', `${path}/${grant.id}`, { auth: { type: 'mcp_oauth', refresh: { refreshToken: canary } } });
  await call('POST', path, { displayName: canary.repeat(20), auth: { type: canary, token: canary } });
  await call('PATCH', `${path}/${plain.id}`, { auth: { type: 'mcp_oauth', accessToken: canary } });
  await call('GET', path);
  await call('GET', `${path}/${grant.id}`);
  await call('POST', `${path}/${grant.id}/archive`);
  const { rows } = await api.backends.db.query<{ text: string }>('SELECT c::text AS text FROM vault_credentials c');
  texts.push(...rows.map(({ text }) => text));
  expect(texts.length).toBeGreaterThan(15);
  expect(texts.filter((text) => text.includes(canary))).toEqual([]);
  const encoded = Buffer.from(canary).toString('base64').slice(0, 16);
  expect(texts.filter((text) => text.includes(encoded))).toEqual([]);
});
