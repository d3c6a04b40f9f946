import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { byPassword } from '../login/harness.ts';
import type { Answer, TestLogin } from '../login/harness.ts';
import { PASSWORD, countAttempts, isInstalled, startApp } from './app.ts';
import type { RunningApp } from './app.ts';
import { EDITOR, STRAPI, STRAPI_NEW } from './apps/strapi.ts';
import { posts } from './front.ts';
import { openLogin, visit } from './replay.ts';

describe.skipIf(!isInstalled(STRAPI))('strapi', () => {
  let opened: Awaited<ReturnType<typeof openLogin>>;
  let login: TestLogin;
  let browser: Browser;
  beforeAll(async () => {
    opened = await openLogin();
    ({ login, browser } = opened);
  });
  afterAll(() => opened.close());

  /** The panel's heading, once the script has drawn one. */
  const readHeading = async (page: Page) => {
    await page.getByRole('heading', { level: 1 }).first().waitFor();
    return page.getByRole('heading', { level: 1 }).first().textContent();
  };
  const lookInside = ({ url }: RunningApp, session: Answer | undefined) =>
    visit(browser, session, `${url}/admin/me`, readHeading);
  const isAttempt = posts('/admin/login');

  describe('with an administrator', () => {
    let running: RunningApp;
    beforeAll(async () => {
      running = await startApp(STRAPI);
    });
    afterAll(() => running.stop());

    test('lets the right password in, and its session into a browser that has never been there', async () => {
      const answer = await login.post('/api/login', byPassword(`${running.url}/admin`, EDITOR, PASSWORD));
      expect([answer.status, answer.body['error'], answer.body['details']]).toEqual([200, undefined, undefined]);
      expect(await lookInside(running, undefined)).not.toContain('Ada');
      expect(await lookInside(running, answer)).toContain('Ada');
      expect(countAttempts(running, isAttempt)).toBe(1);
    });

    test('refuses a wrong password once', async () => {
      const before = countAttempts(running, isAttempt);
      const ask = byPassword(`${running.url}/admin`, EDITOR, 'Wrong-horse8');
      const { status, body } = await login.post('/api/login', ask);
      expect([status, body['error']]).toEqual([422, 'invalid_credentials']);
      expect(countAttempts(running, isAttempt) - before).toBe(1);
    });
  });

  describe('that is unused', () => {
    let running: RunningApp;
    beforeAll(async () => {
      running = await startApp(STRAPI_NEW);
    });
    afterAll(() => running.stop());

    test('makes the first administrator, and signs in with it anew', async () => {
      const done = await login.post('/api/signup', {
        signup_method: 'email',
        domain: `${running.url}/admin`,
        cred: { email: EDITOR },
        additionalFields: { firstname: 'Ada', lastname: 'Example' },
      });
      expect([done.status, done.body['error'], done.body['details']]).toEqual([201, undefined, undefined]);
      expect(await lookInside(running, done)).toContain('Ada');
      expect(countAttempts(running, posts('/admin/register-admin'))).toBe(1);

      const { credentialId } = done.body as { credentialId: string };
      const anew = await login.post('/api/refresh', { credentialId, force: true });
      expect([anew.status, anew.body['error']]).toEqual([200, undefined]);
      expect(await lookInside(running, anew)).toContain('Ada');
      expect(countAttempts(running, isAttempt)).toBe(1);
    });
  });
});
