import { chromium } from 'playwright-core';
import type { Browser, Page } from 'playwright-core';
import { getChromium, startTestLogin } from '../login/harness.ts';
import type { Answer, TestLogin } from '../login/harness.ts';
import type { StorageState } from '../../src/contract/login/shapes.ts';

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
