import type { BrowserContext, Page } from 'playwright-core';
import type { Egress } from '../../platform/egress/egress.ts';
import type { Site } from '../site.ts';
import { isLoginPath } from './evidence.ts';
import type { PageSnapshot, SuccessSignal } from './evidence.ts';
import type { ObservedPage } from './page-observer.ts';
import { isShownToStrangers } from './stranger-view.ts';

/** Whether a login or an accepted registration has led to a session. */
export type SessionState =
  /** The page shows an account, or part of the site is visible only with the session. */
  | 'signedIn'
  /** The page offers to sign in. */
  | 'signedOut'
  /** No difference without the session. */
  | 'unknown';

/** The site's answer to a request for an address. */
type View = { status: number; redirected: boolean; hasPasswordField: boolean };
type Views = { own: View; anonymous: View };

/** Bytes of an answer that are read. */
const MAX_BYTES = 512 * 1024;
const TIMEOUT_MS = 8000;
const PASSWORD_FIELD = /<input\b[^<>]*\btype\s*=\s*["']?password\b/i;
/** Calls of the page that are repeated without the session. */
const MAX_CALLS = 3;

/** Runs in the page, so that its requests are the page's own. Undefined where the page may not send them. */
async function viewFromPage({ url, timeoutMs }: { url: string; timeoutMs: number }): Promise<Views | undefined> {
  const view = async (credentials: 'include' | 'omit'): Promise<View> => {
    const signal = AbortSignal.timeout(timeoutMs);
    const response = await fetch(url, {
      credentials,
      redirect: 'manual',
      cache: 'no-store',
      signal,
      headers: { accept: 'text/html,application/json;q=0.9,*/*;q=0.8' },
    });
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

/** Runs in the page: where an address leads in the end. */
async function followFromPage({ url, timeoutMs }: { url: string; timeoutMs: number }) {
  try {
    const signal = AbortSignal.timeout(timeoutMs);
    const response = await fetch(url, { credentials: 'include', cache: 'no-store', signal });
    const hasPasswordField = /<input\b[^<>]*\btype\s*=\s*["']?password\b/i.test(await response.text());
    return { url: response.url, hasPasswordField };
  } catch {
    return undefined;
  }
}

function isShown({ status, redirected, hasPasswordField }: View): boolean {
  return !redirected && !hasPasswordField && status >= 200 && status < 300;
}

/** Resources of a check. Without `egress` only requests of the page itself are sent. */
export type CheckPorts = { context: BrowserContext; egress?: Egress | undefined };

/** From this process, for addresses that the page may not request. */
async function viewFromHere(
  { context, egress }: CheckPorts,
  url: string,
  userAgent: string,
): Promise<Views | undefined> {
  if (egress === undefined) return undefined;
  const cookies = (await context.cookies(url)).map(({ name, value }) => `${name}=${value}`).join('; ');
  const view = async (headers: Record<string, string>): Promise<View> => {
    const response = await egress.fetch(url, {
      redirect: 'manual',
      maxBytes: MAX_BYTES,
      timeoutMs: TIMEOUT_MS,
      headers: { accept: 'text/html,*/*;q=0.8', 'user-agent': userAgent, ...headers },
    });
    const text = response.ok ? await response.text() : '';
    if (!response.ok) await response.body?.cancel().catch(() => undefined);
    const redirected = response.status >= 300 && response.status < 400;
    return { status: response.status, redirected, hasPasswordField: PASSWORD_FIELD.test(text) };
  };
  try {
    return { own: await view(cookies === '' ? {} : { cookie: cookies }), anonymous: await view({}) };
  } catch {
    return undefined;
  }
}

async function viewBoth(ports: CheckPorts, page: Page, url: string): Promise<Views | undefined> {
  const own = await page.evaluate(viewFromPage, { url, timeoutMs: TIMEOUT_MS }).catch(() => undefined);
  if (own !== undefined) return own;
  return viewFromHere(ports, url, await readUserAgent(page));
}

const readUserAgent = (page: Page) => page.evaluate<string>('navigator.userAgent').catch(() => '');

/** The page itself is visible only with the session. */
async function needsSession(ports: CheckPorts, page: Page, loginUrl: string | undefined): Promise<boolean> {
  const url = page.url();
  const views = await viewBoth(ports, page, url);
  if (views === undefined || !isShown(views.own) || isShown(views.anonymous)) return false;
  return !(await isShownToStrangers({ egress: ports.egress, userAgent: await readUserAgent(page) }, url, loginUrl));
}

/** The login page asks anonymous visitors to sign in; with the session it redirects or shows something else. */
async function knowsSession(ports: CheckPorts, page: Page, loginUrl: string): Promise<boolean> {
  const views = await viewBoth(ports, page, loginUrl);
  if (views === undefined) return false;
  const { own, anonymous } = views;
  const asks = !anonymous.redirected && anonymous.status >= 200 && anonymous.status < 300;
  if (!asks) return false;
  // A site may also send whoever has failed to another form.
  if (own.redirected) return !(await leadsToLogin(page, loginUrl));
  return anonymous.hasPasswordField && isShown(own);
}

/** Whether the address leads to a form to sign in, with the session. False where the page may not see where it leads. */
async function leadsToLogin(page: Page, url: string): Promise<boolean> {
  const end = await page.evaluate(followFromPage, { url, timeoutMs: TIMEOUT_MS }).catch(() => undefined);
  return end !== undefined && (end.hasPasswordField || isLoginPath(end.url));
}

/** Anonymous visitors are refused what the page loaded by script after the login. */
async function callsNeedSession(ports: CheckPorts, page: Page, calls: readonly string[]): Promise<boolean> {
  for (const url of calls.slice(0, MAX_CALLS)) {
    const views = await viewBoth(ports, page, url);
    // The page itself got an answer, perhaps by a token in a header that is not sent here.
    if (views?.anonymous.status === 401) return true;
    if (views?.anonymous.status === 403 && isShown(views.own)) return true;
  }
  return false;
}

/**
 * The compared addresses. `calls`: those that the page's scripts have read since the submit. `isStep`: the page looks
 * like another step of the login, which is visible halfway through it.
 */
export type Compared = { loginUrl: string | undefined; calls: readonly string[]; isStep: boolean };

/** Whether any part of the site differs with and without the session. Bounded: five addresses at most. */
export async function findMemberDifference(
  ports: CheckPorts,
  observed: ObservedPage,
  { loginUrl, calls, isStep }: Compared,
): Promise<boolean> {
  const { page } = observed;
  // What is shown after a refusal may also be kept from strangers, as long as it leads back to the login.
  const mayBeAccount = !isStep && !offersSignIn(observed);
  if (mayBeAccount && (await needsSession(ports, page, loginUrl))) return true;
  if (mayBeAccount && (await callsNeedSession(ports, page, calls))) return true;
  return loginUrl !== undefined && (await knowsSession(ports, page, loginUrl));
}

/** Whether the page leads to a login form. */
export function offersSignIn({ plan }: Pick<PageSnapshot, 'plan'>): boolean {
  return plan.loginLinks.some(({ kind }) => kind === 'sign-in');
}

/**
 * A missing form and a new cookie show that a registration was accepted, not that it signed in. `signals`: observed
 * since then.
 */
export async function checkSession(
  ports: CheckPorts,
  observed: ObservedPage,
  signals: readonly SuccessSignal[],
): Promise<SessionState> {
  if (signals.includes('account')) return 'signedIn';
  if (offersSignIn(observed)) return 'signedOut';
  return (await needsSession(ports, observed.page, undefined)) ? 'signedIn' : 'unknown';
}

/** The caller's proof: only a successful login shows it. */
export type NamedProof = { successSelector?: string | undefined; successUrl?: string | undefined };

/** Whether an address matches the caller's: origin, path and named parameters; `*` at the end matches anything. */
export function isNamedUrl(url: string, named: string, site: Site): boolean {
  const wanted = URL.parse(named, site.url.href)?.href;
  if (wanted === undefined) return false;
  if (wanted.endsWith('*')) return url.startsWith(wanted.slice(0, -1));
  const [left, right] = [URL.parse(url), URL.parse(wanted)];
  if (left === null || right === null || left.origin !== right.origin) return false;
  const path = ({ pathname }: URL) => pathname.replace(/(?<!\/)\/+$/, '');
  if (path(left) !== path(right) || (right.hash !== '' && left.hash !== right.hash)) return false;
  return [...right.searchParams].every(([name, value]) => left.searchParams.get(name) === value);
}

/** Whether the page shows the caller's proof, all parts of it; undefined without a proof. */
export async function findNamedProof(
  { page, url }: ObservedPage,
  site: Site,
  { successSelector, successUrl }: NamedProof,
): Promise<boolean | undefined> {
  if (successSelector === undefined && successUrl === undefined) return undefined;
  if (successUrl !== undefined && !isNamedUrl(url, successUrl, site)) return false;
  if (successSelector === undefined) return true;
  return page
    .locator(successSelector)
    .first()
    .isVisible()
    .catch(() => false);
}
