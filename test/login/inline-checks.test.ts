import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { INLINE_CHECK_SITES } from '../support/login-sites/inline-checks.ts';
import { PASSWORD, USER, startLoginSites } from '../support/login-sites/server.ts';
import type { LoginSites } from '../support/login-sites/server.ts';
import { byPassword, startTestLogin } from './harness.ts';
import type { TestLogin } from './harness.ts';

let sites: LoginSites;
let login: TestLogin;

beforeAll(async () => {
  sites = await startLoginSites(INLINE_CHECK_SITES);
  login = await startTestLogin();
});
afterAll(async () => {
  await login.close();
  await sites.close();
});
beforeEach(() => sites.reset());

/** As long as the right one, because a site submits itself at that length. */
const WRONG = PASSWORD.replace('7', '8');

const NAMES = INLINE_CHECK_SITES.map(({ name }) => name);

test.each(NAMES)('%s: the right password signs in, whatever its checks are answered', async (name) => {
  const { status, body } = await login.post('/api/login', byPassword(sites.url(name), USER, PASSWORD));
  expect([status, body['error'], body['details']]).toEqual([200, undefined, undefined]);
  expect(sites.accounts(name).attempts).toEqual([{ username: USER, ok: true }]);
});

test.each(NAMES)('%s: a wrong password is refused once', async (name) => {
  const username = `${name}@example.com`;
  const { status, body } = await login.post('/api/login', byPassword(sites.url(name), username, WRONG));
  expect([status, body['error']]).toEqual([422, 'invalid_credentials']);
  expect(sites.accounts(name).attempts).toEqual([{ username, ok: false }]);
});
