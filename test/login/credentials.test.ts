import { afterAll, beforeAll, expect, test } from 'vitest';
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
  login = await startTestLogin();
});
afterAll(async () => {
  await login.close();
  await sites.close();
});

const store = async (name: string, loginMethod: string, cred: object) => {
  const made = await login.post('/api/credentials', { domain: sites.url(name), loginMethod, cred });
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
