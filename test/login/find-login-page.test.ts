import { afterAll, beforeAll, expect, test } from 'vitest';
import { UNLINKED_SITES } from '../support/login-sites/unlinked.ts';
import { PASSWORD, USER, startLoginSites } from '../support/login-sites/server.ts';
import type { LoginSites } from '../support/login-sites/server.ts';
import { byPassword, startTestLogin } from './harness.ts';
import type { TestLogin } from './harness.ts';

let sites: LoginSites;
let login: TestLogin;

beforeAll(async () => {
  sites = await startLoginSites(UNLINKED_SITES);
  login = await startTestLogin();
});
afterAll(async () => {
  await login.close();
  await sites.close();
});

const signIn = (name: string, password = PASSWORD) =>
  login.post('/api/login', byPassword(sites.url(name), USER, password));

test('a login that no link leads to is found at its usual address', async () => {
  const { status, body } = await signIn('far');
  expect([status, body['error']]).toEqual([200, undefined]);
  expect(await signIn('far', 'wrong')).toMatchObject({ status: 422, body: { error: 'invalid_credentials' } });
  expect(sites.accounts('far').attempts.map(({ ok }) => ok)).toEqual([true, false]);
});

test.each(['nowhere', 'one-page'])('%s: where no usual address has a login, none is found', async (name) => {
  const { status, body } = await signIn(name);
  expect([status, body['error']]).toEqual([422, 'login_form_not_found']);
});
