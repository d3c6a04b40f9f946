import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  REPEATED_LOGINS,
  FORMS_AFTER_LOGIN,
  UNKNOWN_STEPS,
  UNNAMED_CODES,
} from '../support/login-sites/landing-pages.ts';
import { PASSWORD, USER, startLoginSites } from '../support/login-sites/server.ts';
import type { LoginSites } from '../support/login-sites/server.ts';
import { byPassword, startTestLogin } from './harness.ts';
import type { TestLogin } from './harness.ts';

let sites: LoginSites;
let login: TestLogin;

beforeAll(async () => {
  sites = await startLoginSites([...UNKNOWN_STEPS, ...UNNAMED_CODES, ...REPEATED_LOGINS, ...FORMS_AFTER_LOGIN]);
  login = await startTestLogin();
});
afterAll(async () => {
  await login.close();
  await sites.close();
});

const nameOf = ({ name }: { name: string }) => name;
const isRight = (name: string) => sites.accounts(name).attempts.map(({ ok }) => ok);

test.each(UNKNOWN_STEPS.map(nameOf))('%s: a cookie and another page are no success', async (name) => {
  const { status, body } = await login.post('/api/login', byPassword(sites.url(name), USER, PASSWORD));
  expect([status, body['error'], body['details']]).toEqual([
    422,
    'login_form_not_found',
    expect.objectContaining({ reason: 'unknown_step' }),
  ]);
  expect(isRight(name)).toEqual([true]);
});

test.each(UNNAMED_CODES.map(nameOf))('%s: the code is asked for', async (name) => {
  const { status, body } = await login.post('/api/login', byPassword(sites.url(name), USER, PASSWORD));
  expect([status, body['error']]).toEqual([409, 'verification_required']);
  expect(isRight(name)).toEqual([true]);
});

test.each(REPEATED_LOGINS.map(nameOf))('%s: to be asked again is a refusal', async (name) => {
  const { status, body } = await login.post('/api/login', byPassword(sites.url(name), 'eve@example.com', 'wrong'));
  expect([status, body['error']]).toEqual([422, 'invalid_credentials']);
  expect(isRight(name)).toEqual([false]);
});

test.each([...FORMS_AFTER_LOGIN, ...REPEATED_LOGINS].map(nameOf))('%s: the right password is in', async (name) => {
  const { status, body } = await login.post('/api/login', byPassword(sites.url(name), USER, PASSWORD));
  expect([status, body['error'], body['details']]).toEqual([200, undefined, undefined]);
});
