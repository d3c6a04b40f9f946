import { chromium } from 'playwright-core';
import type { Browser, Page } from 'playwright-core';
import { expect } from 'vitest';
import { getChromium, startTestLogin } from '../login/harness.ts';
import type { Answer, TestLogin } from '../login/harness.ts';
import type { StorageState } from '../../src/login/contract/shapes.ts';

/** The caller's own browser, which has never seen the login. */
export function openCallersBrowser(): Promise<Browser> {
  return chromium.launch({ executablePath: getChromium(), chromiumSandbox: process.getuid?.() !== 0 });
}

/** The login service, and its caller's browser. `close` closes both. */
export async function openLogin(): Promise<{ login: TestLogin; browser: Browser; close(): Promise<void> }> {
  const login = await startTestLogin();
  const browser = await openCallersBrowser();
  return {
    login,
    browser,
    async close() {
      await browser.close();
      await login.close();
    },
  };
}

/** Opens a page in a fresh context with the session of the answer, or with none. */
export async function visit<T>(
  browser: Browser,
  session: Answer | undefined,
  url: string,
  look: (page: Page) => Promise<T>,
): Promise<T> {
  const storageState = session?.body['storageState'] as StorageState | undefined;
  const context = await browser.newContext(storageState === undefined ? {} : { storageState });
  try {
    const page = await context.newPage();
    await page.goto(url);
    return await look(page);
  } finally {
    await context.close();
  }
}

/** The challenge with which a call has ended. */
export function readChallenge(answer: Answer, kind: string): string {
  expect([answer.status, answer.body['error']]).toEqual([409, 'verification_required']);
  const details = answer.body['details'] as { challengeId: string; kind: string };
  expect(details.kind).toBe(kind);
  return `/api/challenges/${details.challengeId}`;
}

/** With the session of the answer the text is on the page, without it is not. */
export async function expectSession(
  browser: Browser,
  answer: Answer,
  { status, url, text }: { status: number; url: string; text: string },
): Promise<void> {
  expect([answer.status, answer.body['error'], answer.body['details']]).toEqual([status, undefined, undefined]);
  const reads = (page: Page) => page.getByText(text).first().isVisible();
  expect(await visit(browser, undefined, url, reads)).toBe(false);
  expect(await visit(browser, answer, url, reads)).toBe(true);
}
