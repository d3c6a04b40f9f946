import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Browser } from 'playwright-core';
import type { TestLogin } from '../login/harness.ts';
import { PASSWORD, USER, countAttempts, isInstalled, startApp } from './app.ts';
import type { RunningApp } from './app.ts';
import { ATTEMPTS, PEOPLE, SECRET, TWO_FACTOR } from './apps/two-factor.ts';
import { posts } from './front.ts';
import { expectSession, openLogin } from './replay.ts';

const LOGIN = '/account/login/';

describe.skipIf(!isInstalled(TWO_FACTOR))('django-two-factor-auth with django-axes', () => {
  let opened: Awaited<ReturnType<typeof openLogin>>;
  let login: TestLogin;
  let browser: Browser;
  let running: RunningApp;
  beforeAll(async () => {
    opened = await openLogin();
    ({ login, browser } = opened);
    running = await startApp(TWO_FACTOR);
  });
  afterAll(async () => {
    await running.stop();
    await opened.close();
  });

  const ask = (path: string, loginMethod: string, cred: object) =>
    login.post('/api/login', { domain: running.url + path, loginMethod, cred, useCache: false });
  const count = () => countAttempts(running, posts(LOGIN));

  test.each([LOGIN, '/'])('lets the right password in from %s', async (path) => {
    const before = count();
    const answer = await ask(path, 'password', { username: USER, password: PASSWORD });
    await expectSession(browser, answer, { status: 200, url: `${running.url}/private`, text: 'Minutes of the board' });
    expect(count() - before).toBe(1);
  });

  test('refuses a wrong password once', async () => {
    const before = count();
    const { status, body } = await ask(LOGIN, 'password', { username: USER, password: 'Wrong-horse8' });
    expect([status, body['error']]).toEqual([422, 'invalid_credentials']);
    expect(count() - before).toBe(1);
  });

  test('enters the code of an authenticator, and reports a wrong one', async () => {
    const cred = { username: PEOPLE.careful, password: PASSWORD };
    const answer = await ask(LOGIN, 'totp', { ...cred, totpSecret: SECRET });
    await expectSession(browser, answer, { status: 200, url: `${running.url}/private`, text: 'Minutes of the board' });
    const { status, body } = await ask(LOGIN, 'totp', { ...cred, totpSecret: 'AAAABBBBCCCCDDDD' });
    expect([status, body['error']]).toEqual([422, 'invalid_code']);
  });

  test('reports an account that the site has locked, also for the right password', async () => {
    const username = PEOPLE.locked;
    const outcomes: unknown[] = [];
    for (let attempt = 1; attempt < ATTEMPTS; attempt += 1) {
      outcomes.push((await ask(LOGIN, 'password', { username, password: 'Wrong-horse8' })).body['error']);
    }
    expect(outcomes).toEqual(['invalid_credentials', 'invalid_credentials']);
    expect((await ask(LOGIN, 'password', { username, password: 'Wrong-horse8' })).body['error']).toBe('account_locked');
    expect((await ask(LOGIN, 'password', { username, password: PASSWORD })).body['error']).toBe('account_locked');
  });
});
