import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { byPassword } from '../login/harness.ts';
import type { TestLogin } from '../login/harness.ts';
import { PASSWORD, USER, countAttempts, isInstalled, startApp } from './app.ts';
import type { App, RunningApp } from './app.ts';
import { DJANGO } from './apps/django.ts';
import { DOKUWIKI } from './apps/dokuwiki.ts';
import { DELUGE } from './apps/downloads.ts';
import { FLASK, PEOPLE } from './apps/flask.ts';
import { REDMINE } from './apps/redmine.ts';
import type { Knock } from './front.ts';
import { openLogin, visit } from './replay.ts';

type Case = {
  app: App;
  /** which of the application's logins; default: its name */
  label?: string;
  /** the start page of the login, and the page behind it */
  entry: string;
  inside: string;
  /** visible there only when signed in */
  sees: (page: Page) => Promise<unknown>;
  /** undefined if the application asks for a password alone */
  username: string | undefined;
  /** a request in which the application checked a password */
  isAttempt: (knock: Knock) => boolean;
};

const reads = (text: string) => (page: Page) => page.getByText(text).first().isVisible();

const CASES: Case[] = [
  {
    app: DOKUWIKI,
    entry: '/doku.php?id=start&do=login',
    inside: '/doku.php?id=start',
    sees: reads('Minutes of the board'),
    username: USER,
    isAttempt: ({ method, body }) => method === 'POST' && body.includes('do=login'),
  },
  {
    app: DELUGE,
    entry: '/',
    inside: '/',
    sees: (page) =>
      page.evaluate(async () => {
        const body = JSON.stringify({ method: 'auth.check_session', params: [], id: 1 });
        const headers = { 'content-type': 'application/json' };
        const answer = await fetch('/json', { method: 'POST', headers, body });
        return ((await answer.json()) as { result: boolean }).result;
      }),
    username: undefined,
    isAttempt: ({ body }) => body.includes('"auth.login"'),
  },
  {
    app: DJANGO,
    label: 'admin',
    entry: '/admin/login/?next=/admin/',
    inside: '/admin/',
    sees: reads('Site administration'),
    username: USER,
    isAttempt: ({ method, path }) => method === 'POST' && path.startsWith('/admin/login/'),
  },
  {
    app: DJANGO,
    label: 'allauth',
    entry: '/accounts/login/',
    inside: '/accounts/email/',
    sees: reads('ada@example.com'),
    username: 'ada@example.com',
    isAttempt: ({ method, path }) => method === 'POST' && path.startsWith('/accounts/login/'),
  },
  {
    app: FLASK,
    entry: '/login',
    inside: '/account',
    sees: reads('Minutes of the board'),
    username: PEOPLE.password,
    isAttempt: ({ method, path }) => method === 'POST' && path.startsWith('/login'),
  },
  {
    app: REDMINE,
    entry: '/login',
    inside: '/my/account',
    sees: reads('Logged in as'),
    username: USER,
    isAttempt: ({ method, path }) => method === 'POST' && path.startsWith('/login'),
  },
];

let opened: Awaited<ReturnType<typeof openLogin>>;
let login: TestLogin;
let browser: Browser;
beforeAll(async () => {
  opened = await openLogin();
  ({ login, browser } = opened);
});
afterAll(() => opened.close());

describe.each(CASES.filter(({ app }) => isInstalled(app)).map((each) => ({ label: each.app.name, ...each })))(
  '$label',
  ({ app, entry, inside, sees, username, isAttempt }) => {
    let running: RunningApp;
    beforeAll(async () => {
      running = await startApp(app);
    });
    afterAll(() => running.stop());

    test('lets the right password in, and its session into a browser that has never been there', async () => {
      const answer = await login.post('/api/login', byPassword(running.url + entry, username, PASSWORD));
      expect([answer.status, answer.body['error'], answer.body['details']]).toEqual([200, undefined, undefined]);
      expect(countAttempts(running, isAttempt)).toBe(1);
      await expect.poll(() => visit(browser, undefined, running.url + inside, sees)).toBe(false);
      await expect.poll(() => visit(browser, answer, running.url + inside, sees)).toBe(true);
      expect(countAttempts(running, isAttempt)).toBe(1);
    });

    test('refuses a wrong password once', async () => {
      const before = countAttempts(running, isAttempt);
      const { status, body } = await login.post(
        '/api/login',
        byPassword(running.url + entry, username, 'Wrong-horse8'),
      );
      expect([status, body['error']]).toEqual([422, 'invalid_credentials']);
      expect(countAttempts(running, isAttempt) - before).toBe(1);
    });
  },
);
