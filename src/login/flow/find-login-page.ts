import type { Page } from 'playwright-core';
import type { Site } from '../site.ts';

/** Below the folder that was named. What is for administrators alone is not among them. */
const USUAL = ['login', 'signin', 'wp-login.php', 'user/login', 'users/sign_in', 'accounts/login/', 'account/login'];

/**
 * Goes to the first of the usual places that is there, from a start page without a login and without a way to one. False:
 * none is. A site that answers everything with one page has shown it already.
 */
export async function seekLogin(page: Page, { url }: Site, signal: AbortSignal): Promise<boolean> {
  if (!url.pathname.endsWith('/')) return false;
  for (const path of USUAL) {
    signal.throwIfAborted();
    const answer = await page.goto(new URL(path, url).href, { waitUntil: 'domcontentloaded' }).catch(() => null);
    if (answer?.ok() === true && URL.parse(page.url())?.pathname !== url.pathname) return true;
  }
  return false;
}
