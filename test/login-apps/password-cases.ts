import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { byPassword } from '../login/harness.ts';
import type { TestLogin } from '../login/harness.ts';
import { PASSWORD, countAttempts, isInstalled, startApp } from './app.ts';
import type { App, RunningApp } from './app.ts';
import type { Knock } from './front.ts';
import { openLogin, visit } from './replay.ts';

/** An application with a password, and how to tell that somebody is signed in. */
export type PasswordCase = {
  app: App;
  /** which of the application's logins; default: its name */
  label?: string;
  /** the start page of the login, and the page behind it */
  entry: string;
  inside: string;
  /** the address from which the login is found too, by its links and redirects; default: none */
  root?: string;
  /** visible there only when signed in */
  sees: (page: Page) => Promise<unknown>;
  /** undefined if the application asks for a password alone */
  username: string | undefined;
  /** a request in which the application checked a password */
  isAttempt: (knock: Knock) => boolean;
  /** tests of what else the application has, while it runs; `open` is called within them */
  more?: (open: () => { login: TestLogin; browser: Browser; running: RunningApp }) => void;
};

export const reads = (text: string) => (page: Page) => page.getByText(text).first().isVisible();

/** The page at its own address, without a form to sign in. */
export const staysAt = (path: string) => async (page: Page) =>
  new URL(page.url()).pathname === path && (await page.locator('input[type=password]').count()) === 0;

const WRONG = 'Wrong-horse8';

/** Signs in to each application with the right and with a wrong password, and opens the page behind the login. */
export function testPasswords(cases: readonly PasswordCase[]): void {
  let opened: Awaited<ReturnType<typeof openLogin>>;
  let login: TestLogin;
  let browser: Browser;
  beforeAll(async () => {
    opened = await openLogin();
    ({ login, browser } = opened);
  });
  afterAll(() => opened.close());

  const installed = cases.filter(({ app }) => isInstalled(app)).map((each) => ({ label: each.app.name, ...each }));
  describe.each(installed)('$label', ({ app, entry, inside, root, sees, username, isAttempt, more }) => {
    let running: RunningApp;
    beforeAll(async () => {
      running = await startApp(app);
    });
    afterAll(() => running.stop());

    const signIn = (path: string, password: string) =>
      login.post(
        '/api/login',
        byPassword(running.url + path, username, password, { useCache: false, timeoutSeconds: 180 }),
      );

    const starts = root === undefined ? [entry] : [entry, root];
    test.each(starts)('lets the right password in from %s, and its session into a fresh browser', async (path) => {
      const before = countAttempts(running, isAttempt);
      const answer = await signIn(path, PASSWORD);
      expect([answer.status, answer.body['error'], answer.body['details']]).toEqual([200, undefined, undefined]);
      expect(countAttempts(running, isAttempt) - before).toBe(1);
      expect(answer.body['username']).toBe(username);
      await expect.poll(() => visit(browser, undefined, running.url + inside, sees)).toBe(false);
      await expect.poll(() => visit(browser, answer, running.url + inside, sees)).toBe(true);
      expect(countAttempts(running, isAttempt) - before).toBe(1);
    });

    test('refuses a wrong password once', async () => {
      const before = countAttempts(running, isAttempt);
      const { status, body } = await signIn(entry, WRONG);
      expect([status, body['error']]).toEqual([422, 'invalid_credentials']);
      expect(countAttempts(running, isAttempt) - before).toBe(1);
    });

    more?.(() => ({ login, browser, running }));
  });
}
