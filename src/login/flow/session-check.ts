import type { Page } from 'playwright-core';
import type { SuccessSignal } from './evidence.ts';
import type { ObservedPage } from './page-observer.ts';

/** Where somebody stands whose registration has been taken, going by the page that it led to. */
export type Standing =
  /** Signed in: the page says so, or is not shown to strangers. */
  | 'inside'
  /** The page offers to sign in. */
  | 'outside'
  /** A stranger sees the same. */
  | 'unclear';

/** What a request of the page's own was answered with. */
type View = { status: number; redirected: boolean; asksPassword: boolean };

/** Runs in the page, so that it goes the way of all that the page asks for. Nothing where the page may not ask. */
async function viewAsBoth(url: string): Promise<{ own: View; stranger: View } | undefined> {
  const view = async (credentials: 'include' | 'omit'): Promise<View> => {
    const response = await fetch(url, { credentials, redirect: 'manual', cache: 'no-store' });
    const text = response.ok ? await response.text() : '';
    return {
      status: response.status,
      redirected: (response.type as string) === 'opaqueredirect',
      asksPassword: /<input\b[^>]*\btype\s*=\s*["']?password\b/i.test(text),
    };
  };
  try {
    return { own: await view('include'), stranger: await view('omit') };
  } catch {
    return undefined;
  }
}

function isShown({ status, redirected, asksPassword }: View): boolean {
  return !redirected && !asksPassword && status >= 200 && status < 300;
}

async function isHiddenFromStrangers(page: Page): Promise<boolean> {
  const views = await page.evaluate(viewAsBoth, page.url());
  return views !== undefined && isShown(views.own) && !isShown(views.stranger);
}

/**
 * A form that is gone and a cookie say that a registration was taken, not that it let anybody in. `signals`: what the
 * page was found to show since.
 */
export async function findStanding({ page, plan }: ObservedPage, signals: readonly SuccessSignal[]): Promise<Standing> {
  if (signals.includes('account')) return 'inside';
  if (plan.loginLinks.some(({ kind }) => kind === 'sign-in')) return 'outside';
  return (await isHiddenFromStrangers(page)) ? 'inside' : 'unclear';
}
