import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { FORM_SITES } from '../support/login-sites/forms.ts';
import { PASSWORD, USER, startLoginSites } from '../support/login-sites/server.ts';
import type { LoginSites } from '../support/login-sites/server.ts';
import { STEP_SITES, TOTP_SECRET } from '../support/login-sites/steps.ts';
import { replay, startTestLogin } from './harness.ts';
import type { TestLogin } from './harness.ts';

let sites: LoginSites;
let login: TestLogin;

beforeAll(async () => {
  const classic = FORM_SITES.filter(({ name }) => name === 'classic');
  sites = await startLoginSites([...classic, ...STEP_SITES]);
  login = await startTestLogin({ ports: { renewEveryMs: 50 } });
});
afterAll(async () => {
  await login.close();
  await sites.close();
});

const store = async (name: string, loginMethod: string, cred: object, more: object = {}) => {
  const made = await login.post('/api/credentials', { domain: sites.url(name), loginMethod, cred, ...more });
  return { ...made, id: String(made.body['credentialId']) };
};
const show = async (id: string) => (await login.call('GET', `/api/credentials/${id}`)).body;
const sessionOf = (body: object) => body as { cookies: { name: string; value: string }[] };

test('an existing account is stored sealed, refreshed with its TOTP secret, and never shown', async () => {
  const cred = { username: USER, password: PASSWORD, totpSecret: TOTP_SECRET };
  const { id, status, body } = await store('totp', 'totp', cred);
  expect(status).toBe(201);
  expect(body).toEqual({
    credentialId: id,
    domain: sites.url('totp'),
    username: USER,
    collectionId: null,
    method: 'totp',
    health: 'unknown',
    healthCode: null,
    checkedAt: null,
    autoRefresh: false,
    nextRefreshAt: null,
    passkeys: 0,
    enrolPasskey: false,
    createdAt: expect.any(String),
    expiresAt: null,
  });
  expect(await show(id)).toEqual(body);
  const { rows } = await login.db.query<{ row: string }>('SELECT to_jsonb(t)::text AS row FROM login_credentials t');
  for (const secret of [PASSWORD, TOTP_SECRET]) expect(JSON.stringify([body, rows])).not.toContain(secret);

  const fresh = await login.post('/api/refresh', { credentialId: id });
  expect([fresh.status, fresh.body['error'], fresh.body['credentialId']]).toEqual([200, undefined, id]);
  expect(await (await replay(sites.protectedUrl('totp'), sessionOf(fresh.body))).text()).toContain('Protected');
  expect(await show(id)).toMatchObject({ health: 'healthy', expiresAt: fresh.body['expiresAt'] });

  const other = await login.makeKey('other');
  expect((await login.call('GET', `/api/credentials/${id}`, undefined, other)).status).toBe(404);
  expect((await login.call('PATCH', `/api/credentials/${id}`, { cred: { password: 'x' } }, other)).status).toBe(404);
});

test('a wrong password needs attention until it is changed', async () => {
  const { id } = await store('classic', 'password', { username: USER, password: 'wrong' });
  const refused = await login.post('/api/refresh', { credentialId: id });
  expect(refused.body['error']).toBe('invalid_credentials');
  expect(await show(id)).toMatchObject({ health: 'needs_attention', healthCode: 'invalid_credentials' });
  const changed = await login.call('PATCH', `/api/credentials/${id}`, { cred: { password: PASSWORD } });
  expect([changed.status, changed.body['health'], changed.body['healthCode']]).toEqual([200, 'unknown', null]);
  const fresh = await login.post('/api/refresh', { credentialId: id });
  expect([fresh.status, fresh.body['username']]).toEqual([200, USER]);
  expect(await show(id)).toMatchObject({ health: 'healthy', healthCode: null });
});

test.each([
  [{ domain: 'https://example.com', cred: { username: 'a' } }, 400, 'cred.password: is required'],
  [
    { domain: 'https://example.com', loginMethod: 'totp', cred: { username: 'a', password: 'b' } },
    400,
    'cred.totpSecret',
  ],
  [
    {
      domain: 'https://example.com',
      loginMethod: 'totp',
      cred: { username: 'a', password: 'b', totpSecret: '!!!!!!!!' },
    },
    400,
    'cred.totpSecret',
  ],
  [{ domain: 'https://example.com', loginMethod: 'oauth_google', cred: {} }, 501, 'oauth_google'],
])('what could not sign in is not stored: %j', async (body, status, message) => {
  const answer = await login.post('/api/credentials', body);
  expect(answer.status).toBe(status);
  expect(answer.body['message']).toContain(message);
});

describe('a credential that renews its session', () => {
  const attempts = () => sites.accounts('classic').attempts.length;
  const reach = async (id: string, health: string) => {
    await expect.poll(async () => (await show(id))['health']).toBe(health);
  };

  test('signs in at once, and again when its session has gone', async () => {
    sites.reset();
    await login.db.query('DELETE FROM login_sessions');
    const { id } = await store('classic', 'password', { username: USER, password: PASSWORD }, { autoRefresh: true });
    await reach(id, 'healthy');
    const { nextRefreshAt, expiresAt } = await show(id);
    expect(Date.parse(String(nextRefreshAt))).toBeLessThan(Date.parse(String(expiresAt)));
    expect(attempts()).toBe(1);
    sites.accounts('classic').sessions.clear();
    await login.db.query("UPDATE login_sessions SET checked_at = now() - interval '1 hour'");
    await login.db.query('UPDATE login_credentials SET refresh_at = now() WHERE id = $1', [id]);
    await expect.poll(attempts).toBe(2);
    await expect.poll(async () => (await login.post('/api/refresh', { credentialId: id })).status).toBe(200);
    const off = await login.call('PATCH', `/api/credentials/${id}`, { autoRefresh: false });
    expect(off.body).toMatchObject({ autoRefresh: false, nextRefreshAt: null, health: 'healthy' });
  });

  test('stops after a wrong password, tells webhooks, and goes on once it is changed', async () => {
    sites.reset();
    await login.db.query('DELETE FROM login_sessions');
    await login.db.query(
      `INSERT INTO webhooks (id, organization_id, url, events, secret)
       SELECT 'whk_renewal', id, 'https://hooks.example', '{*}', '{}' FROM organizations WHERE name = 'default'`,
    );
    const { id } = await store('classic', 'password', { username: USER, password: 'wrong' }, { autoRefresh: true });
    await reach(id, 'needs_attention');
    expect(await show(id)).toMatchObject({ healthCode: 'invalid_credentials', nextRefreshAt: null });
    await login.call('PATCH', `/api/credentials/${id}`, { cred: { password: PASSWORD } });
    await reach(id, 'healthy');
    expect(sites.accounts('classic').attempts.map(({ ok }) => ok)).toEqual([false, true]);
    const { rows } = await login.db.query<{ type: string; data: object }>(
      'SELECT type, data FROM webhook_deliveries ORDER BY position',
    );
    expect(rows).toEqual([
      {
        type: 'login.failed',
        data: {
          loginId: expect.stringMatching(/^lgn_/),
          operation: 'refresh',
          state: 'failed',
          kind: null,
          error: 'invalid_credentials',
          credentialId: null,
        },
      },
      {
        type: 'credential.needs_attention',
        data: { credentialId: id, health: 'needs_attention', code: 'invalid_credentials' },
      },
      { type: 'login.succeeded', data: expect.objectContaining({ state: 'succeeded', error: null }) },
    ]);
  });
});

test('the list has pages', async () => {
  const key = await login.makeKey('pages');
  for (const name of ['one', 'two', 'three']) {
    const cred = { username: name, password: 'x' };
    await login.post('/api/credentials', { domain: 'https://example.com/login', loginMethod: 'password', cred }, key);
  }
  type Page = { data: { username: string }[]; pagination: { nextCursor: string | null; hasMore: boolean } };
  const list = async (query: string) =>
    (await login.call('GET', `/api/credentials${query}`, undefined, key)).body as Page;
  const first = await list('?limit=2');
  expect([first.data.map(({ username }) => username), first.pagination.hasMore]).toEqual([['three', 'two'], true]);
  const rest = await list(`?limit=2&cursor=${first.pagination.nextCursor}`);
  expect([rest.data.map(({ username }) => username), rest.pagination]).toEqual([
    ['one'],
    { limit: 2, hasMore: false, nextCursor: null },
  ]);
  expect((await list('')).data.length).toBe(3);
});
