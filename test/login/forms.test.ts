import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { FORM_SITES } from '../support/login-sites/forms.ts';
import { PASSWORD, USER, startLoginSites } from '../support/login-sites/server.ts';
import type { LoginSites } from '../support/login-sites/server.ts';
import { byPassword, replay, startTestLogin } from './harness.ts';
import type { TestLogin } from './harness.ts';

let sites: LoginSites;
let login: TestLogin;

beforeAll(async () => {
  sites = await startLoginSites(FORM_SITES);
  login = await startTestLogin();
});
afterAll(async () => {
  await login.close();
  await sites.close();
});
beforeEach(() => sites.reset());

const FIELDS: Record<string, object> = { tenant: { additionalFields: { 'company code': 'acme', region: 'Europe' } } };

test.each(FORM_SITES.map(({ name }) => name))('%s: the right password gives a session that works', async (name) => {
  const { status, body } = await login.post('/api/login', byPassword(sites.url(name), USER, PASSWORD, FIELDS[name]));
  expect([status, body['error'], body['details']]).toEqual([200, undefined, undefined]);
  expect(sites.accounts(name).attempts).toEqual([{ username: USER, ok: true }]);
  expect(body['origins']).toEqual([new URL(sites.url(name)).origin]);
  const session = body as { cookies: { name: string; value: string }[] };
  expect(session.cookies.map((cookie) => cookie.name)).toContain('sid');
  expect(await (await replay(sites.protectedUrl(name), session)).text()).toContain('Protected');
});

test.each(FORM_SITES.map(({ name }) => name))('%s: a wrong password is told after one attempt', async (name) => {
  // A different account each, because failed attempts are counted by site and user name.
  const username = `${name}@example.com`;
  const { status, body } = await login.post('/api/login', byPassword(sites.url(name), username, 'wrong', FIELDS[name]));
  expect([status, body['error']]).toEqual([422, 'invalid_credentials']);
  expect(sites.accounts(name).attempts).toEqual([{ username, ok: false }]);
});
