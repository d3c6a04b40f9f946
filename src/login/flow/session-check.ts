import type { Page } from 'playwright-core';
import type { SuccessSignal } from './evidence.ts';
import type { ObservedPage } from './page-observer.ts';

/** Whether an accepted registration signed in, judged by the page that it led to. */
export type SessionState =
  /** The page shows an account, or is not shown without the session. */
  | 'signedIn'
  /** The page offers to sign in. */
  | 'signedOut'
  /** The page is the same without the session. */
  | 'unknown';

/** How the site answers a request for the page. */
type View = { status: number; redirected: boolean; hasPasswordField: boolean };

/** Runs in the page, so that its requests are the page's own. Undefined where the page may not send them. */
async function viewWithAndWithoutSession(url: string): Promise<{ own: View; anonymous: View } | undefined> {
  const view = async (credentials: 'include' | 'omit'): Promise<View> => {
    const response = await fetch(url, { credentials, redirect: 'manual', cache: 'no-store' });
    const text = response.ok ? await response.text() : '';
    return {
      status: response.status,
      redirected: (response.type as string) === 'opaqueredirect',
      hasPasswordField: /<input\b[^<>]*\btype\s*=\s*["']?password\b/i.test(text),
    };
  };
  try {
    return { own: await view('include'), anonymous: await view('omit') };
  } catch {
    return undefined;
  }
}

function isShown({ status, redirected, hasPasswordField }: View): boolean {
  return !redirected && !hasPasswordField && status >= 200 && status < 300;
}

async function needsSession(page: Page): Promise<boolean> {
  const views = await page.evaluate(viewWithAndWithoutSession, page.url());
  return views !== undefined && isShown(views.own) && !isShown(views.anonymous);
}

/**
 * A form that is gone and a new cookie show that a registration was accepted, not that it signed in. `signals`: what
 * was observed since.
 */
export async function checkSession(
  { page, plan }: ObservedPage,
  signals: readonly SuccessSignal[],
): Promise<SessionState> {
  if (signals.includes('account')) return 'signedIn';
  if (plan.loginLinks.some(({ kind }) => kind === 'sign-in')) return 'signedOut';
  return (await needsSession(page)) ? 'signedIn' : 'unknown';
}
