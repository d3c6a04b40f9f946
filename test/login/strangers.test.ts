import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { PASSWORD, startLoginSites } from '../support/login-sites/server.ts';
import type { LoginSites } from '../support/login-sites/server.ts';
import { OPEN_AND_SHUT, buildStranger } from '../support/login-sites/strangers.ts';
import { BEHIND, FIRST_PAGES, buildBehind, buildFirst } from '../support/login-sites/strangers-between.ts';
import { REFUSING, buildRefusing } from '../support/login-sites/strangers-refusing.ts';
import { byPassword, startTestLogin } from './harness.ts';
import type { TestLogin } from './harness.ts';

let sites: LoginSites;
let login: TestLogin;

beforeAll(async () => {
  sites = await startLoginSites(
    [...OPEN_AND_SHUT, ...FIRST_PAGES.map(buildFirst), ...BEHIND.map(buildBehind), ...REFUSING.map(buildRefusing)].map(
      buildStranger,
    ),
  );
  login = await startTestLogin();
});
afterAll(async () => {
  await login.close();
  await sites.close();
});

async function signIn(name: string, password: string) {
  const user = `${name}@example.com`;
  sites.accounts(name).passwords.set(user, PASSWORD);
  // Of an organization each: logins that wait are limited.
  const key = await login.makeKey(name);
  const order = byPassword(sites.url(name), user, password, { useCache: false });
  const { status, body } = await login.post('/api/login', order, key);
  const { error, details, signs } = body as { error?: string; details?: object; signs?: string[] };
  return { outcome: error ?? status, details, signs };
}

describe.concurrent('a site of its own making', () => {
  test.each(OPEN_AND_SHUT.map(({ name }) => name))('%s: the right password is in', async (name) => {
    expect(await signIn(name, PASSWORD)).toMatchObject({ outcome: 200 });
  });
  test.each(OPEN_AND_SHUT)('$name: the wrong password is told', async ({ name, told = 'invalid_credentials' }) => {
    expect(await signIn(name, 'wrong')).toMatchObject({ outcome: told });
  });

  test.each(FIRST_PAGES)('$name is $error, and nothing is typed', async ({ name, error }) => {
    expect(await signIn(name, PASSWORD)).toMatchObject({ outcome: error });
    expect(sites.accounts(name).attempts).toEqual([]);
  });

  test.each(BEHIND)('$name is $error', async ({ name, error, details }) => {
    expect(await signIn(name, PASSWORD)).toMatchObject({ outcome: error, details });
    expect(sites.accounts(name).attempts.map(({ ok }) => ok)).toEqual([true]);
  });

  test.each(REFUSING)('$text is $error', async ({ name, error }) => {
    expect(await signIn(`refuses-${name}`, 'wrong')).toMatchObject({ outcome: error });
  });
});
