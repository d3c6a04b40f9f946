import type { BrowserContext } from 'playwright-core';
import { omitUndefined } from '../../platform/records.ts';
import type { SessionCookie, SiteSession, StorageState } from '../contract/shapes.ts';
import type { Site } from '../site.ts';
import { mayCarrySession } from './cookies.ts';
import type { SuccessSignal } from './evidence.ts';

/** The session of a login, before it is stored. */
export type CollectedSession = Pick<SiteSession, 'cookies' | 'origins' | 'storageState'> & {
  /** the final page of the login */
  url: string;
  /** user agent of the browser: some sites bind the session to it; absent in sessions of earlier versions */
  userAgent?: string;
  /** the signals that prove the login */
  signs?: readonly SuccessSignal[];
};

/** Values of `sameSite` that all browsers know. */
const SAME_SITE = new Set(['Strict', 'Lax', 'None']);

/** Collects the session of the site in a context: its cookies and storage, and nothing of other sites. */
export async function collectSession(
  context: BrowserContext,
  site: Site,
  visited: Iterable<string>,
  url: string,
): Promise<CollectedSession> {
  const state = await context.storageState({ indexedDB: true });
  const cookies = state.cookies.filter(({ domain }) => site.ownsCookie(domain)).map(readCookie);
  const stored = state.origins.filter(({ origin }) => site.allows(origin));
  const held = [...visited].filter((origin) => site.allows(origin) && hasCookies(origin, cookies));
  return {
    cookies,
    origins: [...new Set([...held, ...stored.map(({ origin }) => origin)])],
    storageState: { cookies, origins: stored } satisfies StorageState,
    url,
  };
}

/** Whether a session is empty. It may still be valid if every request carries user name and password. */
export function isEmpty({ cookies, storageState }: Pick<CollectedSession, 'cookies' | 'storageState'>): boolean {
  return cookies.length === 0 && storageState.origins.length === 0;
}

function readCookie(cookie: Awaited<ReturnType<BrowserContext['cookies']>>[number]): SessionCookie {
  const { name, value, domain, path, expires, httpOnly, secure, sameSite, partitionKey } = cookie;
  return {
    name,
    value,
    domain,
    path,
    expires,
    httpOnly,
    secure,
    sameSite: SAME_SITE.has(sameSite) ? sameSite : 'Lax',
    ...omitUndefined({ partitionKey }),
  };
}

function hasCookies(origin: string, cookies: readonly SessionCookie[]): boolean {
  const host = URL.parse(origin)?.hostname ?? '';
  return cookies.some(({ domain }) =>
    domain.startsWith('.') ? host === domain.slice(1) || host.endsWith(domain) : host === domain,
  );
}

const MAX_AGE_MS = 24 * 3600_000;

/** The latest possible end of a session: 24 hours, or the expiry of its first session cookie. */
export function findExpiry(cookies: readonly SessionCookie[], now: Date): Date {
  const ends = cookies
    .filter((cookie) => cookie.expires > 0 && mayCarrySession(cookie))
    .map(({ expires }) => expires * 1000)
    .filter((end) => end > now.getTime());
  return new Date(Math.min(now.getTime() + MAX_AGE_MS, ...ends));
}
