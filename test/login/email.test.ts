import { describe, expect, test } from 'vitest';
import { findCode, findLink, isFromSite, isTo, readEmail } from '../../src/login/mailbox/email.ts';
import { buildSite } from '../../src/login/site.ts';

const SITE = buildSite('https://app.example.com/login');

const read = (body: string, headers = '', type = 'text/plain') =>
  readEmail(
    Buffer.from(
      `From: Example <no-reply@mail.example.com>\r\nTo: Ada <Ada@Example.org>\r\n${headers}content-type: ${type}; charset=utf-8\r\n\r\n${body}`,
    ),
  );
const readHtml = (body: string) => read(body, '', 'text/html');

describe('the code', () => {
  test.each([
    ['Your code is 492039.', '492039'],
    ['Your verification code:\r\n\r\n492 039\r\n\r\nIt ends in 10 minutes. Order 20250114.', '492039'],
    ['© 2026 Example, 12345 Berlin\r\nEnter 8 digits\r\n\r\nLogin code: 4920', '4920'],
    ['Use the code G7K-2PX to sign in', 'G7K-2PX'],
    ['Ihr Bestätigungscode lautet 771204. Telefon +49 30 123456-78', '771204'],
    ['确认码 118833，十分钟内有效', '118833'],
    ['https://app.example.com/x?id=123456 Nothing else. 12.50 EUR on 2026-11-22 at 10:30', undefined],
    ['We have received 1024 requests in 2026.', undefined],
  ])('of %j is %j', async (text, code) => {
    expect(findCode(await read(text))).toBe(code);
  });

  test('stands in the subject or in HTML too, and never in a style', async () => {
    expect(findCode(await read('Hello', 'Subject: 492039 is your code\r\n'))).toBe('492039');
    const page = `<html><head><style>#a{color:#123456}</style><title>777777</title></head><body>
      <p>Your code</p><table><tr><td><b>492039</b></td></tr></table></body></html>`;
    expect(findCode(await readHtml(page))).toBe('492039');
  });
});

describe('the link', () => {
  const link = 'https://app.example.com/confirm?token=4f0c9a7be2514';
  test('is the one that proves something, of those to the site', async () => {
    const page = `<a href="https://www.example.com/">Example</a><a href="https://app.example.com/unsubscribe?token=4f0c9a7be2514c">x</a>
      <a href="${link}&amp;x=1">Confirm</a><a href="https://example.com.evil.org/confirm?token=4f0c9a7be2514">Confirm</a>`;
    expect(findLink(await readHtml(page), SITE)).toBe(`${link}&x=1`);
    expect(findLink(await read(`Confirm (${link}).`), SITE)).toBe(link);
  });

  test.each([
    'https://example.com.evil.org/confirm?token=4f0c9a7be2514',
    'https://app.example.com@evil.org/confirm?token=4f0c9a7be2514',
    'http://app.example.com/confirm?token=4f0c9a7be2514',
    'https://click.tracker.net/?to=https://app.example.com/confirm',
    'https://www.example.com/',
    'javascript:confirm(1)',
  ])('is none: %s', async (other) => {
    expect(findLink(await readHtml(`<a href="${other}">Confirm your address</a>`), SITE)).toBeUndefined();
  });
});

test('an email is matched by recipient, and by the site in its sender, links or text', async () => {
  const own = await read('Your code is 492039');
  expect([isTo(own, 'ada@example.org'), isTo(own, 'eve@example.org'), isTo(own, undefined)]).toEqual([
    true,
    false,
    true,
  ]);
  const forwarded = await read('x', 'Delivered-To: eve@example.org\r\n');
  expect(isTo(forwarded, 'eve@example.org')).toBe(true);
  expect(isFromSite(own, SITE)).toBe(true);
  const other = buildSite('https://evil.org/login');
  expect(isFromSite(own, other)).toBe(false);
  expect(isFromSite(await read('Your code for evil.org is 492039'), other)).toBe(true);
  expect(isFromSite(await read('Your code for evil.org.example.net is 492039'), other)).toBe(false);
});
