import { afterAll, beforeAll, expect, test } from 'vitest';
import { CookieClient } from '../support/oidc/cookie-client.ts';
import { BRIEF, VIEWER } from '../support/oidc/identity-provider.ts';
import { CONSOLE, OWNER_KEY, startPeopleServer } from '../support/oidc/people-server.ts';
import type { PeopleServer } from '../support/oidc/people-server.ts';

let people: PeopleServer;
beforeAll(async () => {
  people = await startPeopleServer();
});
afterAll(() => people.close());

async function getMe(browser: CookieClient): Promise<{ status: number; body: Record<string, unknown> }> {
  const response = await browser.send(`${people.base}/v1/me`);
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}

const askWith = (token: string, path = '/v1/me') =>
  fetch(people.base + path, { headers: { authorization: `Bearer ${token}` } });

test('the ways to sign in name the identity provider', async () => {
  const response = await fetch(`${people.base}/v1/sign-in-methods`);
  expect(await response.json()).toEqual({
    object: 'list',
    data: [
      { type: 'oidc', issuer: people.provider.issuer, href: `${people.base}/v1/sign-ins/oidc` },
      { type: 'key', issuer: null, href: null },
    ],
  });
});

test('a sign-in asks with PKCE, state and nonce, and keeps them from scripts', async () => {
  const response = await fetch(`${people.base}/v1/sign-ins/oidc`, { redirect: 'manual' });
  expect(response.status).toBe(302);
  const query = new URL(response.headers.get('location') ?? '').searchParams;
  expect(Object.fromEntries(query)).toMatchObject({
    client_id: 'capstan',
    response_type: 'code',
    scope: 'openid email profile groups',
    redirect_uri: `${people.base}/v1/sign-ins/oidc/callback`,
    code_challenge_method: 'S256',
  });
  for (const name of ['state', 'nonce', 'code_challenge']) expect(query.get(name)?.length).toBeGreaterThan(40);
  const [cookie = ''] = response.headers.getSetCookie();
  expect(cookie).toMatch(/^capstan_oidc=[^;]+; Path=\/; Max-Age=600; HttpOnly; SameSite=Lax$/);
  expect(cookie).not.toContain(query.get('state'));
});

test('a person signs in with the role of their group', async () => {
  const browser = new CookieClient();
  expect(await browser.signIn(people.base, 'builder@default')).toBe(`${people.base}/console/`);
  const me = await getMe(browser);
  expect(me.body).toMatchObject({
    organization: 'default',
    keyId: null,
    user: {
      email: 'builder@default.example',
      name: 'Person builder@default',
      role: 'builder',
      groups: ['builder', 'everybody'],
    },
    scopes: ['agents:read', 'services:read', 'agents:approve', 'agents:write', 'inference', 'templates:read'],
  });
  expect(browser.cookies(people.base)).toMatch(/^capstan_session=[\w-]{43}$/);
});

test('the cookie counts on every service', async () => {
  const browser = new CookieClient();
  await browser.signIn(people.base, 'operator@default');
  for (const path of ['/v1/agents', '/v1/models', '/v1/usage', '/api/generations', '/api/credentials']) {
    expect([path, (await browser.send(people.base + path)).status]).toEqual([path, 200]);
  }
  const call = (headers: Record<string, string>) =>
    browser.send(`${people.base}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify({ model: 'script/demo', messages: [{ role: 'user', content: 'Hello' }] }),
    });
  expect([(await call({})).status, (await call(CONSOLE)).status]).toEqual([403, 200]);
});

test('each sign-in has a cookie of its own, and ends the one before', async () => {
  const browser = new CookieClient();
  await browser.signIn(people.base, 'viewer@default');
  const first = browser.cookies(people.base);
  await browser.follow(`${people.base}/v1/sign-ins/oidc`, (url) => url.startsWith(`${people.base}/console`));
  expect(browser.cookies(people.base)).not.toBe(first);
  const old = async () => (await fetch(`${people.base}/v1/me`, { headers: { cookie: first } })).status;
  await expect.poll(old, { timeout: 10_000 }).toBe(401);
  expect((await getMe(browser)).status).toBe(200);
});

test.each([
  ['a page of the console', '?returnTo=/console/sessions%3Fq%3Dx', '/console/sessions?q=x'],
  ['another site', '?returnTo=https://evil.example/', '/console/'],
  ['another site without a scheme', '?returnTo=//evil.example/', '/console/'],
  ['a backslash', '?returnTo=/%5Cevil.example/', '/console/'],
])('it goes on with %s', async (_name, query, path) => {
  const browser = new CookieClient();
  expect(await browser.signIn(people.base, 'viewer@default', query)).toBe(people.base + path);
});

test('whoever is in no group with a role is refused', async () => {
  const browser = new CookieClient();
  const atForm = await browser.follow(`${people.base}/v1/sign-ins/oidc`);
  const consent = await browser.follow(
    await browser.submit(atForm, { prompt: 'login', login: 'stranger@default', password: 'x' }),
  );
  const { response } = await browser.follow(await browser.submit(consent, { prompt: 'consent' }));
  expect([response.status, await response.json()]).toEqual([
    403,
    { error: 'forbidden', message: 'None of your groups has a role here.' },
  ]);
  expect((await getMe(browser)).status).toBe(401);
});

test('a callback that was not begun here, or with another state, is refused', async () => {
  const callback = `${people.base}/v1/sign-ins/oidc/callback?code=x&state=y`;
  expect((await fetch(callback)).status).toBe(400);
  const browser = new CookieClient();
  await browser.send(`${people.base}/v1/sign-ins/oidc`);
  expect((await browser.send(callback)).status).toBe(400);
  const page = await browser.send(callback, { headers: { accept: 'text/html' } });
  expect(page.headers.get('location')).toMatch(
    new RegExp(`^${people.base}/console/signin\\?error=validation_error&requestId=req_`),
  );
});

test('organizations are kept apart', async () => {
  const browser = new CookieClient();
  await browser.signIn(people.base, 'admin@acme');
  expect((await getMe(browser)).body['organization']).toBe('acme');
  const response = await browser.send(`${people.base}/v1/api-keys`);
  expect(((await response.json()) as { data: unknown[] }).data).toEqual([]);
});

test('access tokens of the issuer work as bearer tokens, those for others do not', async () => {
  const token = await people.provider.getAccessToken();
  const response = await askWith(token);
  expect(await response.json()).toMatchObject({ organization: 'default', user: { role: 'operator' } });
  expect((await askWith(token, '/v1/models')).status).toBe(200);
  expect((await askWith(await people.provider.getAccessToken('urn:other'))).status).toBe(401);
  const [head = '', body = ''] = token.split('.');
  expect((await askWith(`${head}.${body}.${'A'.repeat(342)}`)).status).toBe(401);
});

test('streams of an access token end when it expires, or when the person has another role', async () => {
  const open = async (token: string) => {
    const stream = await askWith(token, '/v1/events/stream');
    expect(stream.status).toBe(200);
    return stream;
  };
  await (await open(await people.provider.getAccessToken(BRIEF))).text();
  const stream = await open(await people.provider.getAccessToken());
  expect((await askWith(await people.provider.getAccessToken(VIEWER))).status).toBe(200);
  await stream.text();
});

test('keys of the issuer are cached, and followed when it rotates them', async () => {
  const token = await people.provider.getAccessToken();
  expect((await askWith(token)).status).toBe(200);
  await people.provider.rotate();
  const next = await people.provider.getAccessToken();
  await expect.poll(async () => (await askWith(next)).status, { timeout: 20_000, interval: 500 }).toBe(200);
  people.provider.setDown(true);
  const tokens = Promise.all([askWith(next), askWith(next, '/v1/agents')]);
  expect((await tokens).map(({ status }) => status)).toEqual([200, 200]);
  expect((await fetch(`${people.base}/v1/sign-ins/oidc`, { redirect: 'manual' })).status).toBe(302);
  people.provider.setDown(false);
});

test('signing out ends the session at the identity provider too', async () => {
  const browser = new CookieClient();
  await browser.signIn(people.base, 'viewer@default');
  const response = await browser.send(`${people.base}/v1/sign-ins/current`, { method: 'DELETE', headers: CONSOLE });
  const { logoutUrl } = (await response.json()) as { logoutUrl: string };
  expect(new URL(logoutUrl).searchParams.get('id_token_hint')).toMatch(/^eyJ/);
  const form = await browser.follow(logoutUrl);
  const xsrf = /name="xsrf" value="([^"]+)"/.exec(await form.response.clone().text())?.[1] ?? '';
  expect(await browser.submit(form, { xsrf, logout: 'yes' })).toBe(`${people.base}/console/signin`);
  expect((await getMe(browser)).status).toBe(401);
});

test('the identity provider signs out whom it names', async () => {
  const browser = new CookieClient();
  await browser.signIn(people.base, 'approver@default');
  const other = new CookieClient();
  await other.signIn(people.base, 'viewer@default');
  const form = await browser.follow(`${people.provider.issuer}/session/end`);
  const xsrf = /name="xsrf" value="([^"]+)"/.exec(await form.response.clone().text())?.[1] ?? '';
  await browser.submit(form, { xsrf, logout: 'yes' });
  await expect.poll(async () => (await getMe(browser)).status, { timeout: 10_000 }).toBe(401);
  expect((await getMe(other)).status).toBe(200);
});

test('a logout token that the issuer has not made is refused', async () => {
  const send = (token: string) =>
    fetch(`${people.base}/v1/sign-ins/oidc/backchannel-logout`, {
      method: 'POST',
      body: new URLSearchParams({ logout_token: token }),
    });
  expect((await send('x')).status).toBe(400);
  expect((await send(await people.provider.getAccessToken())).status).toBe(400);
});

test('people and keys exist side by side', async () => {
  const response = await fetch(`${people.base}/v1/me`, { headers: { 'x-api-key': OWNER_KEY } });
  expect(await response.json()).toMatchObject({ organization: 'default', user: null });
});

test('the log says why the identity provider refused a sign-in', async () => {
  const browser = new CookieClient();
  const begun = await browser.send(`${people.base}/v1/sign-ins/oidc`);
  const state = new URL(begun.headers.get('location') ?? '').searchParams.get('state') ?? '';
  const answer = { state, iss: people.provider.issuer, error: 'invalid_scope', error_description: 'No scope groups.' };
  const path = `/v1/sign-ins/oidc/callback?${new URLSearchParams(answer).toString()}`;
  const lines = people.server.watch(/sign-in failed/);
  expect((await browser.send(people.base + path)).status).toBe(401);
  expect(await lines).toMatch(/"providerError":"invalid_scope","providerDescription":"No scope groups\."/);
});
