import { afterAll, beforeAll, expect, test } from 'vitest';
import { buildServer } from '../../../src/agents/api/server.ts';
import { createKey } from '../../../src/platform/store/keys.ts';
import type { ApiKeyCreated } from '../../../src/platform/contract/keys.ts';
import type { SignIn } from '../../../src/platform/contract/sign-ins.ts';
import { AGENT, makeAgent, makeSession, openApi } from '../../agents/api/harness.ts';
import type { Api, Reply } from '../../agents/api/harness.ts';

let api: Api;
beforeAll(async () => {
  api = await openApi();
});
afterAll(() => api.close());

const CONSOLE = { 'sec-fetch-site': 'same-origin', 'x-capstan-console': '1' };

async function makeKey(body: object = {}): Promise<ApiKeyCreated> {
  return (await api.call<ApiKeyCreated>('POST', '/v1/api-keys', { body: { name: 'person', ...body } })).body;
}

const readCookie = (reply: Pick<Reply<unknown>, 'headers'>) => String(reply.headers['set-cookie']);
const cookieOf = (reply: Pick<Reply<unknown>, 'headers'>) => readCookie(reply).split(';')[0] ?? '';

async function signIn(key: string, headers: Record<string, string> = {}) {
  const reply = await api.call<SignIn>('POST', '/v1/sign-ins', { key: null, headers, body: { key } });
  expect(reply.status).toBe(201);
  return { ...reply, cookie: cookieOf(reply) };
}

const withCookie = (cookie: string, headers: Record<string, string> = {}) => ({
  key: null,
  headers: { cookie, ...headers },
});

test('a key says whose it is', async () => {
  const made = await makeKey({ scopes: ['agents:read'], requestsPerMinute: 77 });
  const reply = await api.call('GET', '/v1/me', { key: made.key });
  expect(reply.body).toEqual({
    object: 'caller',
    organization: 'default',
    organizationId: made.organizationId,
    keyId: made.id,
    user: null,
    scopes: ['agents:read'],
    effectiveScopes: ['agents:read'],
    requestsPerMinute: 77,
    services: ['agents', 'inference', 'video', 'login'],
    version: expect.stringMatching(/^\d+\.\d+\.\d+/) as string,
  });
  expect((await api.call('GET', '/v1/me', { key: null })).status).toBe(401);
});

test('a sign-in turns a key into a cookie that scripts cannot read', async () => {
  const made = await makeKey();
  const { body, headers, cookie, text } = await signIn(made.key);
  expect(body).toMatchObject({ object: 'sign_in', organization: 'default', scopes: made.scopes });
  const days = (Date.parse(body.expiresAt) - Date.now()) / 86_400_000;
  expect(days).toBeGreaterThan(6.9);
  expect(days).toBeLessThanOrEqual(7);
  const attributes = String(headers['set-cookie']).split('; ').slice(1);
  expect(attributes).toEqual(['Path=/', 'Max-Age=604800', 'HttpOnly', 'SameSite=Strict']);
  expect(headers['cache-control']).toBe('no-store');
  expect(text + cookie).not.toContain(made.key);
  const me = await api.call<{ keyId: string; requestsPerMinute: number }>('GET', '/v1/me', withCookie(cookie));
  expect([me.status, me.body.keyId]).toEqual([200, made.id]);
  const { rows } = await api.backends.db.query('SELECT * FROM sign_ins');
  expect(JSON.stringify(rows)).not.toContain(cookie.split('=')[1]);
});

test('the cookie lies below the path of the public address, and is for https where that is', async () => {
  const app = buildServer(api.backends, { publicUrl: 'https://agents.example.com/a/b/' });
  const { key } = await makeKey();
  const reply = await app.inject({ method: 'POST', url: '/v1/sign-ins', payload: { key } });
  expect(String(reply.headers['set-cookie']).split('; ').slice(1)).toEqual([
    'Path=/a/b',
    'Max-Age=604800',
    'HttpOnly',
    'SameSite=Strict',
    'Secure',
  ]);
  await app.close();
});

test('behind a trusted proxy, its headers give the scheme and the caller', async () => {
  const app = buildServer(api.backends, { trustedProxies: ['127.0.0.1'] });
  const { key } = await makeKey();
  const headers = { 'x-forwarded-proto': 'https', 'x-forwarded-for': '203.0.113.9' };
  const reply = await app.inject({ method: 'POST', url: '/v1/sign-ins', payload: { key }, headers });
  expect(String(reply.headers['set-cookie'])).toContain('; Secure');
  const blocked = async (address: string) => {
    const send = (text: string) =>
      app.inject({
        method: 'POST',
        url: '/v1/sign-ins',
        payload: { key: text },
        headers: { 'x-forwarded-for': address },
      });
    for (let count = 0; count < 10; count += 1) expect((await send('wrong')).statusCode).toBe(401);
    return (await send(key)).statusCode;
  };
  expect(await blocked('203.0.113.10')).toBe(429);
  expect((await app.inject({ method: 'POST', url: '/v1/sign-ins', payload: { key }, headers })).statusCode).toBe(201);
  await app.close();
});

test.each([
  ['neither header', {}, 403],
  ['the first header alone', { 'sec-fetch-site': 'same-origin' }, 403],
  ['the second header alone', { 'x-capstan-console': '1' }, 403],
  ['another site', { ...CONSOLE, 'sec-fetch-site': 'same-site' }, 403],
  ['a foreign origin', { 'x-capstan-console': '1', origin: 'http://evil.example' }, 403],
  ['both headers', CONSOLE, 201],
  ['its own origin, as browsers on plain http send it', { 'x-capstan-console': '1', origin: 'http://localhost' }, 201],
])('a change with the cookie and %s', async (_name, headers, status) => {
  const { key } = await makeKey();
  const { cookie } = await signIn(key);
  const reply = await api.call('POST', '/v1/agents', {
    ...withCookie(cookie, { host: 'localhost', ...headers }),
    body: AGENT,
  });
  expect(reply.status).toBe(status);
  expect((await api.call('GET', '/v1/agents', withCookie(cookie, headers))).status).toBe(200);
});

test('a key in a header goes before the cookie, and needs no more headers', async () => {
  const { cookie } = await signIn((await makeKey({ scopes: ['agents:read'] })).key);
  const reply = await api.call('POST', '/v1/agents', { headers: { cookie }, body: AGENT });
  expect(reply.status).toBe(201);
});

test('the scopes are those of the key', async () => {
  const { cookie } = await signIn((await makeKey({ scopes: ['agents:read'] })).key);
  const reply = await api.call('POST', '/v1/agents', { ...withCookie(cookie, CONSOLE), body: AGENT });
  expect([reply.status, reply.body.message]).toEqual([403, 'The API key lacks the scope agents:write.']);
});

test('signing out ends the sign-in and clears the cookie', async () => {
  const { cookie, body } = await signIn((await makeKey()).key);
  expect((await api.call('DELETE', '/v1/sign-ins/current', withCookie(cookie))).status).toBe(403);
  const reply = await api.call('DELETE', '/v1/sign-ins/current', withCookie(cookie, CONSOLE));
  expect(reply.body).toEqual({ object: 'sign_in.deleted', id: body.id, deleted: true, logoutUrl: null });
  expect(readCookie(reply)).toMatch(/^capstan_session=; Path=\/; Max-Age=0; HttpOnly/);
  await expect.poll(async () => (await api.call('GET', '/v1/me', withCookie(cookie))).status).toBe(401);
  expect((await api.call('DELETE', '/v1/sign-ins/current')).status).toBe(404);
});

test('signing in again ends the sign-in before', async () => {
  const { key } = await makeKey();
  const first = await signIn(key);
  const second = await signIn(key, { cookie: first.cookie });
  expect(second.cookie).not.toBe(first.cookie);
  await expect.poll(async () => (await api.call('GET', '/v1/me', withCookie(first.cookie))).status).toBe(401);
  expect((await api.call('GET', '/v1/me', withCookie(second.cookie))).status).toBe(200);
});

test('another site cannot sign this browser in', async () => {
  const { key } = await makeKey();
  const headers = { 'sec-fetch-site': 'cross-site', origin: 'http://evil.example' };
  const reply = await api.call('POST', '/v1/sign-ins', { key: null, headers, body: { key } });
  expect([reply.status, reply.headers['set-cookie']]).toEqual([403, undefined]);
});

test('a revoked key ends its sign-ins and their streams, a sign-out its own', async () => {
  const address = await api.app.listen({ host: '127.0.0.1', port: 0 });
  const sessionId = await makeSession(api, await makeAgent(api));
  const { key, id } = await makeKey();
  const watch = async (cookie: string) => {
    const response = await fetch(`${address}/v1/sessions/${sessionId}/events/stream`, { headers: { cookie } });
    expect(response.status).toBe(200);
    return { ended: response.text() };
  };
  const [kept, ended] = [await signIn(key), await signIn(key)];
  const streams = [await watch(kept.cookie), await watch(ended.cookie)] as const;
  await api.call('DELETE', '/v1/sign-ins/current', withCookie(ended.cookie, CONSOLE));
  await streams[1].ended;
  expect((await api.call('GET', '/v1/me', withCookie(kept.cookie))).status).toBe(200);
  await api.call('DELETE', `/v1/api-keys/${id}`);
  await streams[0].ended;
  await expect.poll(async () => (await api.call('GET', '/v1/me', withCookie(kept.cookie))).status).toBe(401);
});

test.each([
  ['12 idle hours', `last_used_at = now() - interval '12 hours 1 minute'`],
  ['7 days', `expires_at = now() - interval '1 second'`],
])('a sign-in ends after %s', async (_name, change) => {
  const { cookie, body } = await signIn((await makeKey()).key);
  await api.backends.db.query(`UPDATE sign_ins SET ${change} WHERE id = $1`, [body.id]);
  expect((await api.call('GET', '/v1/me', withCookie(cookie))).status).toBe(401);
});

test('using it keeps a sign-in', async () => {
  const { cookie, body } = await signIn((await makeKey()).key);
  const { db } = api.backends;
  await db.query(`UPDATE sign_ins SET last_used_at = now() - interval '11 hours' WHERE id = $1`, [body.id]);
  expect((await api.call('GET', '/v1/me', withCookie(cookie))).status).toBe(200);
  const { rows } = await db.query<{ fresh: boolean }>(
    `SELECT last_used_at > now() - interval '1 minute' AS fresh FROM sign_ins WHERE id = $1`,
    [body.id],
  );
  expect(rows).toEqual([{ fresh: true }]);
});

test('requests of a sign-in are not counted against its key', async () => {
  const { key } = await makeKey({ requestsPerMinute: 2 });
  const { cookie } = await signIn(key);
  for (let count = 0; count < 5; count += 1) {
    expect((await api.call('GET', '/v1/me', withCookie(cookie))).status).toBe(200);
  }
  expect((await api.call('GET', '/v1/me', { key })).headers['ratelimit-remaining']).toBe('1');
});

test('one key has at most 100 sign-ins', async () => {
  const { db } = api.backends;
  const { key, id } = await createKey(db, { name: 'many', organization: 'default' });
  const first = await signIn(key);
  for (let count = 0; count < 100; count += 1) await signIn(key);
  const { rows } = await db.query('SELECT id FROM sign_ins WHERE key_id = $1', [id]);
  expect(rows).toHaveLength(100);
  expect((await api.call('GET', '/v1/me', withCookie(first.cookie))).status).toBe(401);
});

test('the ways to sign in are open', async () => {
  const reply = await api.call('GET', '/v1/sign-in-methods', { key: null });
  expect(reply.body).toEqual({ object: 'list', data: [{ type: 'key', issuer: null, href: null }] });
});

test('ten failures a minute from one address, then 429', async () => {
  const { key } = await makeKey();
  const send = (text: string) => api.call('POST', '/v1/sign-ins', { key: null, body: { key: text } });
  for (let count = 0; count < 10; count += 1) expect((await send('cap_wrong')).status).toBe(401);
  const refused = await send('cap_wrong');
  expect([refused.status, refused.body.error]).toEqual([429, 'rate_limited']);
  expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0);
  expect((await send(key)).status).toBe(429);
});
