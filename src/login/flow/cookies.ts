import type { BrowserContext, Cookie } from 'playwright-core';
import type { Site } from '../site.ts';

/** Cookies that do not tell whether somebody is signed in. */
const NOT_A_SESSION =
  /csrf|xsrf|^_ga|^_gid|^_gcl|^_fbp|^_hj|consent|cookie_?(?:policy|notice|banner)|^(?:lang|locale|language|theme|timezone|tz)$|flash|messages?$|^(?:__cf|cf_|_abck|bm_|ak_bmsc)|notice|alert/i;

export type CookieSnapshot = ReadonlyMap<string, string>;

const nameOf = (cookie: Cookie) => `${cookie.domain}|${cookie.path}|${cookie.name}`;

export function isSessionLike({ name, value }: { name: string; value: string }): boolean {
  return !NOT_A_SESSION.test(name) && value.length >= 8;
}

/** Whether a session may end with the cookie. Short values count where no script can read them. */
export function mayCarrySession(cookie: { name: string; value: string; httpOnly: boolean }): boolean {
  return isSessionLike(cookie) || (cookie.httpOnly && !NOT_A_SESSION.test(cookie.name));
}

export async function snapshotCookies(context: BrowserContext, site: Site): Promise<CookieSnapshot> {
  const cookies = (await context.cookies()).filter(({ domain }) => site.ownsCookie(domain));
  return new Map(cookies.map((cookie) => [nameOf(cookie), cookie.value]));
}

/** Whether a possible session cookie was added or changed since. */
export async function hasNewCookie(context: BrowserContext, site: Site, before: CookieSnapshot): Promise<boolean> {
  const cookies = (await context.cookies()).filter(({ domain }) => site.ownsCookie(domain));
  return cookies.some((cookie) => isSessionLike(cookie) && before.get(nameOf(cookie)) !== cookie.value);
}
