import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { MORE_PAGE_SHAPES } from '../support/login-sites/more-page-shapes.ts';
import { PAGE_SHAPES } from '../support/login-sites/page-shapes.ts';
import { PASSWORD, startLoginSites } from '../support/login-sites/server.ts';
import type { LoginSites } from '../support/login-sites/server.ts';
import { buildStranger } from '../support/login-sites/strangers.ts';
import { byPassword, replay, startTestLogin } from './harness.ts';
import type { TestLogin } from './harness.ts';

const SHAPES = [...PAGE_SHAPES, ...MORE_PAGE_SHAPES];

let sites: LoginSites;
let login: TestLogin;

beforeAll(async () => {
  sites = await startLoginSites(SHAPES.map(buildStranger));
  login = await startTestLogin();
});
afterAll(async () => {
  await login.close();
  await sites.close();
});

/** With all the time that a login may have, and as a user of its own: the tests share the sites. */
async function signIn(name: string, password: string) {
  const user = `${password === PASSWORD ? 'right' : 'wrong'}-${name}@example.com`;
  const accounts = sites.accounts(name);
  accounts.passwords.set(user, PASSWORD);
  const order = byPassword(sites.url(name), user, password, { timeoutSeconds: 180 });
  const { status, body } = await login.post('/api/login', order);
  const tries = accounts.attempts.filter(({ username }) => username === user).length;
  return { outcome: body['error'] ?? status, details: body['details'], body, tries };
}

describe('a login of an unusual shape', () => {
  test.each(SHAPES.map(({ name }) => name))('%s: the right password is in, after one attempt', async (name) => {
    const { outcome, tries, details, body } = await signIn(name, PASSWORD);
    expect({ outcome, tries, details }).toEqual({ outcome: 200, tries: 1, details: undefined });
    const account = await replay(sites.protectedUrl(name), body as { cookies: { name: string; value: string }[] });
    expect(await account.text()).toContain('Protected');
  });

  test.each(SHAPES)('$name: the wrong password is told', async ({ name, told = 'invalid_credentials' }) => {
    const { outcome, tries } = await signIn(name, 'not the password');
    expect({ outcome, tries }).toEqual({ outcome: told, tries: 1 });
  });
});
