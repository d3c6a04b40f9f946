import type { Page } from 'playwright-core';
import type { LoginPlan } from '../detection/login-plan.ts';
import type { Site } from '../site.ts';

/** Paths below the given address. Logins for administrators are left out. */
const USUAL_PATHS = [
  'login',
  'signin',
  'wp-login.php',
  'user/login',
  'users/sign_in',
  'accounts/login/',
  'account/login',
];

const MISSING: ReadonlySet<string> = new Set(['login_form_not_found', 'sso_required', 'passkey_required']);

/** Whether a page that fails with this code may simply not be the login page. */
export function mayBeElsewhere(code: string, { reason }: LoginPlan): boolean {
  return MISSING.has(code) && reason !== 'fill' && reason !== 'unseen';
}

/**
 * Goes to the first common address of a login page that exists, from a start page without a login or a link to one.
 * False if none exists. A site that answers every address with the same page has shown it already.
 */
export async function findLoginPage(page: Page, { url }: Site, signal: AbortSignal): Promise<boolean> {
  if (!url.pathname.endsWith('/')) return false;
  for (const path of USUAL_PATHS) {
    signal.throwIfAborted();
    const response = await page.goto(new URL(path, url).href, { waitUntil: 'domcontentloaded' }).catch(() => null);
    if (response?.ok() === true && URL.parse(page.url())?.pathname !== url.pathname) return true;
  }
  return false;
}
