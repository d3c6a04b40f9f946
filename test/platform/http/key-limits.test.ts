import { afterAll, beforeAll, expect, test } from 'vitest';
import type { ApiKey, ApiKeyCreated, Organization } from '../../../src/platform/contract/keys.ts';
import type { SignIn } from '../../../src/platform/contract/sign-ins.ts';
import { openApi } from '../../agents/api/harness.ts';
import type { Api } from '../../agents/api/harness.ts';

let api: Api;
beforeAll(async () => {
  api = await openApi();
});
afterAll(() => api.close());

async function make(body: object = {}): Promise<ApiKeyCreated> {
  return (await api.call<ApiKeyCreated>('POST', '/v1/api-keys', { body: { name: 'k', ...body } })).body;
}
const statusOf = async (key: string) => (await api.call('GET', '/v1/me', { key })).status;
const change = (id: string, body: object, key = api.key) =>
  api.call<ApiKey>('PATCH', `/v1/api-keys/${id}`, { key, body });

test('a key ends when it expires, with its sign-ins', async () => {
  const future = new Date(Date.now() + 3_600_000).toISOString();
  const { id, key, expiresAt } = await make({ expiresAt: future });
  expect([expiresAt, await statusOf(key)]).toEqual([future, 200]);
  const signIn = await api.call<SignIn>('POST', '/v1/sign-ins', { key: null, body: { key } });
  const cookie = String(signIn.headers['set-cookie']).split(';')[0] ?? '';
  await change(id, { expiresAt: new Date(Date.now() + 1000).toISOString() });
  await expect.poll(() => statusOf(key), { timeout: 10_000 }).toBe(401);
  expect((await api.call('GET', '/v1/me', { key: null, headers: { cookie } })).status).toBe(401);
  expect((await change(id, { expiresAt: null })).body.expiresAt).toBeNull();
  expect(await statusOf(key)).toBe(200);
});

test('a key that would have ended already is refused', async () => {
  const { id } = await make();
  const past = { expiresAt: new Date(Date.now() - 1000).toISOString() };
  const made = await api.call('POST', '/v1/api-keys', { body: { name: 'k', ...past } });
  expect([made.status, made.body.message]).toEqual([400, 'expiresAt: must be in the future']);
  const changed = await api.call('PATCH', `/v1/api-keys/${id}`, { body: past });
  expect([changed.status, changed.body.message]).toEqual([400, 'expiresAt: must be in the future']);
});

test('after a rotation both secrets work until the grace period ends', async () => {
  const { id, key, prefix } = await make();
  const path = `/v1/api-keys/${id}/rotate`;
  const rotated = await api.call<ApiKeyCreated>('POST', path, { body: { gracePeriodSeconds: 3600 } });
  expect(rotated.body).toMatchObject({ id, previousExpiresAt: expect.stringMatching(/Z$/) as string });
  expect(rotated.body.prefix).not.toBe(prefix);
  expect(rotated.headers['cache-control']).toBe('no-store');
  expect([await statusOf(key), await statusOf(rotated.body.key)]).toEqual([200, 200]);
  const again = await api.call<ApiKeyCreated>('POST', path, { body: { gracePeriodSeconds: 0 } });
  expect(await statusOf(key)).toBe(401);
  expect(await statusOf(rotated.body.key)).toBe(401);
  expect(await statusOf(again.body.key)).toBe(200);
  expect((await api.call<ApiKeyCreated>('POST', path)).status).toBe(200);
});

test('a patch changes only the given fields', async () => {
  const { id, key } = await make({ scopes: ['agents:read'], metadata: { team: 'care' } });
  const reply = await change(id, { name: 'renamed', models: ['acme/*'], tokensPerDay: 1000 });
  expect(reply.body).toMatchObject({
    name: 'renamed',
    scopes: ['agents:read'],
    metadata: { team: 'care' },
    models: ['acme/*'],
    tokensPerDay: 1000,
  });
  await change(id, { scopes: ['login'] });
  expect((await api.call('GET', '/v1/agents', { key })).status).toBe(403);
  expect((await change(id, {})).status).toBe(400);
  expect((await change('key_none', { name: 'x' })).status).toBe(404);
  expect((await change(id, { name: 'x' }, api.otherKey)).status).toBe(404);
  await api.call('DELETE', `/v1/api-keys/${id}`);
  expect((await change(id, { name: 'x' })).status).toBe(409);
  expect((await api.call('POST', `/v1/api-keys/${id}/rotate`)).status).toBe(409);
});

test('the last use of a key is known to the minute', async () => {
  const { id, key } = await make();
  const read = async () => {
    const list = await api.call<{ data: ApiKey[] }>('GET', '/v1/api-keys?limit=100');
    return list.body.data.find((each) => each.id === id)?.lastUsedAt;
  };
  expect(await read()).toBeNull();
  await statusOf(key);
  const used = Date.parse((await read()) ?? '');
  expect(Math.abs(Date.now() - used)).toBeLessThan(60_000);
});

test('organizations are listed to those who manage their keys', async () => {
  const list = async (key: string) => {
    const reply = await api.call<{ data: Organization[] }>('GET', '/v1/organizations', { key });
    return reply.body.data.map(({ name }) => name);
  };
  expect(await list(api.key)).toEqual(['other', 'default']);
  expect(await list(api.otherKey)).toEqual(['other']);
});
