import { afterAll, beforeAll, expect, test } from 'vitest';
import { buildServer } from '../../../src/agents/api/server.ts';
import { onKeysChanged } from '../../../src/platform/bus/key-changes.ts';
import { BOOTSTRAP_SCOPES, DEFAULT_SCOPES } from '../../../src/platform/contract/keys.ts';
import type { ApiKey, ApiKeyCreated } from '../../../src/platform/contract/keys.ts';
import type { List } from '../../../src/platform/contract/common.ts';
import { bootstrapKey } from '../../../src/platform/store/keys.ts';
import { openApi } from '../../agents/api/harness.ts';
import type { Api } from '../../agents/api/harness.ts';

let api: Api;
beforeAll(async () => {
  api = await openApi();
});
afterAll(() => api.close());

async function make(body: object, key = api.key): Promise<ApiKeyCreated> {
  const reply = await api.call<ApiKeyCreated>('POST', '/v1/api-keys', { key, body });
  expect(reply.status).toBe(201);
  return reply.body;
}

test('a key is shown once and kept as a hash', async () => {
  const made = await make({ name: 'first' });
  expect(made).toEqual({
    object: 'api_key',
    id: expect.stringMatching(/^key_[0-9a-z]{26}$/) as string,
    name: 'first',
    organization: 'default',
    organizationId: expect.stringMatching(/^org_/) as string,
    prefix: made.key.slice(0, 12),
    scopes: DEFAULT_SCOPES,
    requestsPerMinute: 1000,
    tokensPerDay: null,
    models: null,
    metadata: {},
    expiresAt: null,
    lastUsedAt: null,
    previousExpiresAt: null,
    createdAt: expect.stringMatching(/Z$/) as string,
    revokedAt: null,
    key: expect.stringMatching(/^cap_[A-Za-z0-9_-]{40}$/) as string,
  });
  const list = await api.call<List<ApiKey>>('GET', '/v1/api-keys');
  expect(list.body.data[0]).toEqual({ ...made, key: undefined });
  expect(list.text).not.toContain(made.key);
  const { rows } = await api.backends.db.query('SELECT * FROM api_keys');
  expect(JSON.stringify(rows)).not.toContain(made.key);
});

test.each([
  ['no key', {}],
  ['an unknown key', { 'x-api-key': 'cap_unknown' }],
  ['another scheme', { authorization: 'Basic abc' }],
  ['an empty bearer', { authorization: 'Bearer ' }],
  ['an endless key', { 'x-api-key': 'x'.repeat(5000) }],
])('%s is 401', async (_name, headers) => {
  const reply = await api.call('GET', '/v1/agents', { key: null, headers });
  expect([reply.status, reply.body.error]).toEqual([401, 'unauthorized']);
});

test('a key works in either header', async () => {
  expect((await api.call('GET', '/v1/agents')).status).toBe(200);
  const bearer = { authorization: `bearer ${api.key}` };
  expect((await api.call('GET', '/v1/agents', { key: null, headers: bearer })).status).toBe(200);
});

test('a revoked key stops working, on another replica too', async () => {
  const replica = buildServer(api.backends);
  await replica.ready();
  const { id, key } = await make({ name: 'short-lived' });
  const ask = async () => (await replica.inject({ url: '/v1/agents', headers: { 'x-api-key': key } })).statusCode;
  expect([await ask(), (await api.call('GET', '/v1/agents', { key })).status]).toEqual([200, 200]);
  const heard = Promise.withResolvers<void>();
  const subscription = await onKeysChanged(api.backends.bus, heard.resolve);
  const reply = await api.call('DELETE', `/v1/api-keys/${id}`);
  expect([reply.status, reply.body]).toEqual([200, { object: 'api_key.deleted', id, deleted: true }]);
  await heard.promise;
  subscription.close();
  expect([await ask(), (await api.call('GET', '/v1/agents', { key })).status]).toEqual([401, 401]);
  expect((await api.call('DELETE', `/v1/api-keys/${id}`)).status).toBe(200);
  expect((await api.call('DELETE', '/v1/api-keys/key_unknown')).status).toBe(404);
  await replica.close();
});

test('a missing scope is 403 and named', async () => {
  const { key } = await make({ name: 'reader', scopes: ['agents:read', 'agents:read'] });
  expect((await api.call('GET', '/v1/agents', { key })).status).toBe(200);
  for (const [method, path, scope] of [
    ['POST', '/v1/agents', 'agents:write'],
    ['GET', '/v1/api-keys', 'admin'],
  ] as const) {
    const reply = await api.call(method, path, { key });
    expect([reply.status, reply.body.error]).toEqual([403, 'forbidden']);
    expect(reply.body.message).toContain(scope);
  }
});

test('past its ceiling a key gets 429 with the allowance in headers and body', async () => {
  const { key } = await make({ name: 'slow', requestsPerMinute: 2 });
  const first = await api.call('GET', '/v1/agents', { key });
  expect(first.headers).toMatchObject({ 'ratelimit-limit': '2', 'ratelimit-remaining': '1' });
  expect((await api.call('GET', '/v1/sessions', { key })).status).toBe(200);
  const reply = await api.call('GET', '/v1/agents', { key });
  expect([reply.status, reply.body.error]).toEqual([429, 'rate_limited']);
  const reset = reply.body.rateLimit?.resetAfterSeconds;
  expect(reply.body.rateLimit).toEqual({
    resource: 'requests',
    limit: 2,
    remaining: 0,
    periodSeconds: 60,
    resetAfterSeconds: reset,
  });
  expect(reply.headers).toMatchObject({
    'retry-after': String(reset),
    'ratelimit-limit': '2',
    'ratelimit-remaining': '0',
    'ratelimit-reset': String(reset),
  });
});

test('admin keys of the first organization manage all, those of others only their own', async () => {
  const made = await make({ name: 'theirs', organization: 'acme', scopes: ['admin'] });
  expect(made.organization).toBe('acme');
  const foreign = await api.call('POST', '/v1/api-keys', { key: made.key, body: { name: 'x', organization: 'other' } });
  expect([foreign.status, foreign.body.error]).toEqual([403, 'forbidden']);
  const own = await make({ name: 'own' }, made.key);
  expect(own.organizationId).toBe(made.organizationId);
  const list = await api.call<List<ApiKey>>('GET', '/v1/api-keys', { key: made.key });
  expect(list.body.data.map((key) => key.name)).toEqual(['own', 'theirs']);
  const everybody = await api.call<List<ApiKey>>('GET', '/v1/api-keys?limit=100');
  expect(new Set(everybody.body.data.map((key) => key.organization))).toContain('acme');
  const rootKey = everybody.body.data.find((key) => key.organization === 'default');
  expect((await api.call('DELETE', `/v1/api-keys/${rootKey?.id}`, { key: made.key })).status).toBe(404);
  expect((await api.call('DELETE', `/v1/api-keys/${own.id}`, { key: made.key })).status).toBe(200);
});

test('a key given by setting is established again and again, and replaces the one before', async () => {
  const works = async (key: string) => (await api.call('GET', '/v1/api-keys', { key })).status === 200;
  const { db } = api.backends;
  expect(await bootstrapKey(db, { key: 'cap_setting_one' })).toBeUndefined();
  expect(await bootstrapKey(db, { key: 'cap_setting_one' })).toBeUndefined();
  expect(await works('cap_setting_one')).toBe(true);
  await bootstrapKey(db, { key: 'cap_setting_two' });
  const fresh = buildServer(api.backends);
  const ask = async (key: string) =>
    (await fresh.inject({ url: '/v1/agents', headers: { 'x-api-key': key } })).statusCode;
  expect([await ask('cap_setting_one'), await ask('cap_setting_two')]).toEqual([401, 200]);
  await fresh.close();
});

test('without a setting the first start makes a key, later ones none', async () => {
  const empty = await openApi();
  await empty.backends.db.query('DELETE FROM api_keys');
  const [first, second] = await Promise.all([
    bootstrapKey(empty.backends.db, { key: undefined }),
    bootstrapKey(empty.backends.db, { key: undefined }),
  ]);
  expect([first, second].filter((key) => key !== undefined)).toHaveLength(1);
  const list = await empty.call<List<ApiKey>>('GET', '/v1/api-keys', { key: first ?? second ?? '' });
  expect(list.body.data).toMatchObject([{ organization: 'default', scopes: BOOTSTRAP_SCOPES }]);
  await empty.close();
});
