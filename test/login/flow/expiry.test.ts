import { expect, test } from 'vitest';
import type { SessionCookie } from '../../../src/login/contract/shapes.ts';
import { findExpiry } from '../../../src/login/flow/collect.ts';

const NOW = new Date('2026-01-01T00:00:00.000Z');
const HOUR = 3600;

function makeCookie(name: string, seconds: number, more: Partial<SessionCookie> = {}): SessionCookie {
  const expires = seconds === -1 ? -1 : NOW.getTime() / 1000 + seconds;
  return {
    name,
    value: 'd41d8cd98f00b204',
    domain: 'example.com',
    path: '/',
    expires,
    httpOnly: true,
    secure: true,
    sameSite: 'Lax',
    ...more,
  };
}

const hoursOf = (...cookies: SessionCookie[]) => (findExpiry(cookies, NOW).getTime() - NOW.getTime()) / (HOUR * 1000);

test('a session ends with its first cookie, after 24 hours at the latest', () => {
  expect(hoursOf()).toBe(24);
  expect(hoursOf(makeCookie('sid', -1))).toBe(24);
  expect(hoursOf(makeCookie('sid', 48 * HOUR))).toBe(24);
  expect(hoursOf(makeCookie('sid', 8 * HOUR), makeCookie('remember_token', 12 * HOUR))).toBe(8);
  expect(hoursOf(makeCookie('sid', 8 * HOUR, { value: 'ok' }))).toBe(8);
  expect(hoursOf(makeCookie('sid', 8 * HOUR, { httpOnly: false }))).toBe(8);
});

test.each(['__cf_bm', '_csrf', 'XSRF-TOKEN', 'cookie_consent', 'flash'])('a session outlives the cookie %s', (name) => {
  expect(hoursOf(makeCookie('sid', 8 * HOUR), makeCookie(name, HOUR))).toBe(8);
});
