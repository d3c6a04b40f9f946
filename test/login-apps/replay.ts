import { chromium } from 'playwright-core';
import type { Browser, Page } from 'playwright-core';
import { expect } from 'vitest';
import { getChromium, startTestLogin } from '../login/harness.ts';
import type { Answer, TestLogin } from '../login/harness.ts';
import type { StorageState } from '../../src/login/contract/shapes.ts';

/** A browser of the caller's own, that has never seen the login. */
export function openCallersBrowser(): Promise<Browser> {
  return chromium.launch({ executablePath: getChromium(), chromiumSandbox: process.getuid?.() !== 0 });
}

/** The login service, and the browser of its caller. `close` ends both. */
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

/** Looks at a page in a fresh context that has the answer's session, or nothing, and nothing else. */
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

/** The challenge that a call has ended with. */
export function readChallenge(answer: Answer, kind: string): string {
  expect([answer.status, answer.body['error']]).toEqual([409, 'verification_required']);
  const details = answer.body['details'] as { challengeId: string; kind: string };
  expect(details.kind).toBe(kind);
  return `/api/challenges/${details.challengeId}`;
}

/** Those who have the answer's session see the text on the page, strangers do not. */
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
