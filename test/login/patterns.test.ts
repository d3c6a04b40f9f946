import { afterAll, beforeAll, expect, test } from 'vitest';
import { generatePasswords } from '../../src/login/flow/password.ts';
import { ENDLESS_PATTERN, STRICT_PATTERN } from '../support/login-sites/patterns.ts';
import { startLoginSites } from '../support/login-sites/server.ts';
import type { LoginSites } from '../support/login-sites/server.ts';
import { startTestLogin } from './harness.ts';
import type { TestLogin } from './harness.ts';

let sites: LoginSites;
let login: TestLogin;

beforeAll(async () => {
  sites = await startLoginSites([STRICT_PATTERN, ENDLESS_PATTERN]);
  login = await startTestLogin();
});
afterAll(async () => {
  await login.close();
  await sites.close();
});

const signUp = (name: string) =>
  login.post('/api/signup', {
    signup_method: 'email',
    domain: sites.url(name),
    cred: { email: 'new@example.com' },
    timeoutSeconds: 30,
  });

test('a password fits the pattern and the lengths of its field', async () => {
  const { status, body } = await signUp('strict');
  expect([status, body['error'], body['details']]).toEqual([201, undefined, undefined]);
  expect(sites.accounts('strict').passwords.get('new@example.com')).toMatch(/^[A-Za-z0-9]{16}$/);
});

test('a pattern that never ends costs its own signup, and no other call', async () => {
  const signup = signUp('endless');
  const state = { isOver: false };
  void signup.then(() => (state.isOver = true));
  let answered = 0;
  while (!state.isOver) {
    expect((await login.call('GET', '/api/credentials')).status).toBe(200);
    answered += 1;
  }
  const { status, body } = await signup;
  expect([status, body['error']]).toEqual([504, 'login_timeout']);
  expect(answered).toBeGreaterThan(1);
  expect(sites.accounts('endless').passwords.has('new@example.com')).toBe(false);
});

test('no page decides how much is generated', () => {
  const lengths = generatePasswords({ minLength: 1_000_000_000, maxLength: 2_000_000_000 }).map(({ length }) => length);
  expect(Math.max(...lengths)).toBe(64);
});
