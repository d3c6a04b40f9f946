import type { FastifyRequest } from 'fastify';
import { errors } from '../errors.ts';

export const COOKIE_NAME = 'capstan_session';
const TOKEN = /^[A-Za-z0-9_-]{43}$/;
const SAFE_METHODS = new Set(['GET', 'HEAD', 'OPTIONS']);
/** The sign-in itself ends after this; the cookie need not outlive it. */
const MAX_AGE_SECONDS = 7 * 86_400;

/** The value of a cookie, or undefined. */
export function readCookie(headers: FastifyRequest['headers'], name: string): string | undefined {
  for (const part of (headers.cookie ?? '').split(';')) {
    const [key, value] = part.split('=', 2);
    if (key?.trim() === name && value !== undefined) return value.trim();
  }
  return undefined;
}

/** The token of the sign-in that a browser sends; undefined without one that could be valid. */
export function findSessionToken(headers: FastifyRequest['headers']): string | undefined {
  const token = readCookie(headers, COOKIE_NAME);
  return token !== undefined && TOKEN.test(token) ? token : undefined;
}

/** Where cookies apply: the path of the server's public address, and https where browsers reach it so. */
export type CookieScope = { path: string; secure: boolean };

export function findCookieScope(request: FastifyRequest, publicUrl: string | undefined): CookieScope {
  if (publicUrl === undefined) return { path: '/', secure: request.protocol === 'https' };
  const { pathname, protocol } = new URL(publicUrl);
  return { path: pathname.replace(/(?<!\/)\/+$/, '') || '/', secure: protocol === 'https:' };
}

type CookieOptions = CookieScope & { sameSite: 'Strict' | 'Lax'; maxAgeSeconds: number };

/** A `Set-Cookie` header that scripts cannot read. `value` must be free of `;` and spaces. */
export function buildCookie(name: string, value: string, options: CookieOptions): string {
  const { path, secure, sameSite, maxAgeSeconds } = options;
  const attributes = [`Path=${path}`, `Max-Age=${maxAgeSeconds}`, 'HttpOnly', `SameSite=${sameSite}`];
  return [`${name}=${value}`, ...attributes, ...(secure ? ['Secure'] : [])].join('; ');
}

/**
 * `sameSite` is `Lax` for a sign-in at an identity provider: its redirect comes from another site, and the browser would
 * not send a strict cookie with the page that follows.
 */
export function buildSessionCookie(token: string, scope: CookieScope, sameSite: 'Strict' | 'Lax' = 'Strict'): string {
  return buildCookie(COOKIE_NAME, token, { ...scope, sameSite, maxAgeSeconds: MAX_AGE_SECONDS });
}

/** Makes the browser forget the cookie. */
export function clearSessionCookie(scope: CookieScope): string {
  return buildCookie(COOKIE_NAME, '', { ...scope, sameSite: 'Strict', maxAgeSeconds: 0 });
}

/** Whether the page that sent the request came from this server. */
function isSameOrigin({ headers, host }: FastifyRequest): boolean {
  const site = headers['sec-fetch-site'];
  if (site !== undefined) return site === 'same-origin';
  // Browsers leave Sec-Fetch-Site out on plain http, other than on localhost. They always send Origin with unsafe methods.
  const { origin } = headers;
  return origin !== undefined && URL.canParse(origin) && new URL(origin).host === host;
}

/** Throws `forbidden` for a change that another site's page may have sent with the browser's cookie. */
export function checkForgery(request: FastifyRequest): void {
  if (SAFE_METHODS.has(request.method)) return;
  if (isSameOrigin(request) && request.headers['x-capstan-console'] === '1') return;
  throw errors.forbidden(
    'A change with the cookie needs the headers Sec-Fetch-Site: same-origin and X-Capstan-Console: 1.',
  );
}

/** Throws `forbidden` for a sign-in that another site's page has sent. Programs send neither header. */
export function checkForeignPage(request: FastifyRequest): void {
  const { 'sec-fetch-site': site, origin } = request.headers;
  if (site === undefined && origin === undefined) return;
  if (!isSameOrigin(request)) throw errors.forbidden('Another site may not sign this browser in.');
}
