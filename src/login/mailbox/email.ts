import type { Parser } from 'htmlparser2';
import { says } from '../detection/captions.ts';
import { normalizeText } from '../detection/match.ts';
import { findRegistrableDomain } from '../site.ts';
import type { Site } from '../site.ts';

/** An email, as far as codes and links need it. */
export type Email = {
  /** lower-case addresses that it was sent to */
  to: readonly string[];
  /** lower-case domain of the sender; empty where there is none */
  from: string;
  subject: string;
  text: string;
  links: readonly string[];
};

const MAX_TEXT = 100_000;
const MAX_ADDRESSES = 10_000;
const ADDRESS = /(?<![\w.+'-])[\w.+'-]+@[\w-]+(?:\.[\w-]+)*/g;
const RECIPIENT_HEADERS = new Set(['delivered-to', 'x-original-to', 'envelope-to']);

/** Parses a raw email. Input that is not an email has no text and no links. */
export async function readEmail(source: Uint8Array): Promise<Email> {
  // On first use: most logins read no email.
  const { default: PostalMime } = await import('postal-mime');
  const { from, to = [], cc = [], headers, subject = '', text = '', html = '' } = await PostalMime.parse(source);
  const named = [...to, ...cc].flatMap((each) => [each, ...(each.group ?? [])]).map(({ address }) => address ?? '');
  const delivered = headers
    .filter(({ key }) => RECIPIENT_HEADERS.has(key))
    .flatMap(({ value }) => value.match(ADDRESS) ?? []);
  return buildEmail({ from: from?.address ?? '', to: [...named, ...delivered], subject, text, html });
}

/** An email from its parts; `from` and `to` may hold names beside the addresses. */
export async function buildEmail(parts: Omit<Email, 'links'> & { html: string }): Promise<Email> {
  const html5 = await import('htmlparser2');
  const page = readHtml(html5.Parser, parts.html.slice(0, MAX_TEXT));
  const plain = parts.text.slice(0, MAX_TEXT);
  const shown = plain.trim() === '' ? page.text : plain;
  const addressesIn = (text: string) => text.slice(0, MAX_ADDRESSES).toLowerCase().match(ADDRESS) ?? [];
  return {
    to: parts.to.flatMap(addressesIn),
    from: addressesIn(parts.from)[0]?.split('@').at(-1) ?? '',
    subject: parts.subject,
    text: shown,
    links: [...new Set([...page.links, ...listAddresses(shown)])],
  };
}

const SKIPPED = new Set(['style', 'script', 'title', 'head']);
const BLOCKS = new Set(['p', 'div', 'td', 'tr', 'br', 'li', 'table', 'h1', 'h2', 'h3', 'h4']);

function readHtml(HtmlParser: typeof Parser, html: string): { text: string; links: string[] } {
  const links: string[] = [];
  let text = '';
  let skipped = 0;
  const parser = new HtmlParser({
    onopentag(name, { href }) {
      if (SKIPPED.has(name)) skipped += 1;
      if (BLOCKS.has(name)) text += '\n';
      if (name === 'a' && href !== undefined) links.push(href.trim());
    },
    ontext(part) {
      if (skipped === 0) text += part;
    },
    onclosetag(name) {
      if (SKIPPED.has(name)) skipped -= 1;
      if (BLOCKS.has(name)) text += '\n';
    },
  });
  parser.end(html);
  return { text, links };
}

function listAddresses(text: string): string[] {
  return (text.match(/https?:\/\/[^\s<>"']+/g) ?? []).map((found) =>
    found.replace(/(?<![).,;:!?\]])[).,;:!?\]]+$/, ''),
  );
}

/** Whether an email is addressed to `address`; one without recipients may be. */
export function isTo({ to }: Email, address: string | undefined): boolean {
  return address === undefined || to.length === 0 || to.includes(address.toLowerCase());
}

/**
 * Whether an email is from the site or mentions its domain. A code of another site must not be typed here, because
 * this site would receive it.
 */
export function isFromSite({ from, subject, text, links }: Email, site: Site): boolean {
  if (from !== '' && site.domains.includes(findRegistrableDomain(from))) return true;
  if (links.some((link) => site.allows(link))) return true;
  const hosts = `${subject}\n${text}`.toLowerCase().match(/(?<![\p{L}\d-])[\p{L}\d-]+(?:\.[\p{L}\d-]+)+/gu) ?? [];
  return hosts.some((host) => site.domains.includes(findRegistrableDomain(host)));
}

const CODE =
  /(?<![\p{L}\d.,:/#=&@_-])(\d{4,8}|\d{3}[ -]\d{3}|(?=[A-Z-]*\d)[A-Z\d]{3,5}-[A-Z\d]{3,5}|(?=[A-Z]*\d)[A-Z\d]{6,8})(?![\p{L}\d/@_-]|[.,:]\d)/gu;
/** In an email the bare word "code" is enough. */
const PLAIN = /\b(?:code|codice|c[oó]digo|kod|PIN)\b[^.\n]{0,30}$|(?:код|コード|验证码|驗證碼|코드)[^.\n]{0,30}$/iu;
const YEAR = /^(?:19|20)\d\d$/;
/** Characters before a code in which a word such as "code" counts. */
const NEAR = 80;
/** Characters around a code, on its line, in which a word such as "code" counts. */
const LINE = 400;
/** Maximum number of code candidates in one email. */
const MAX_CODES = 200;

/** The text that is most likely the code. */
export function findCode({ subject, text }: Email): string | undefined {
  const whole = `${subject}\n${text.replaceAll(/https?:\/\/\S+/g, ' ')}`;
  const codes = [...whole.matchAll(CODE)].slice(0, MAX_CODES);
  const found = codes.map((match) => {
    const [, code = ''] = match;
    const before = whole.slice(Math.max(0, match.index - NEAR), match.index);
    const near = whole.slice(Math.max(0, match.index - LINE), match.index);
    const after = whole.slice(match.index, match.index + LINE).split('\n', 1)[0] ?? '';
    const line = near.slice(near.lastIndexOf('\n') + 1) + after;
    const isNamed = PLAIN.test(before) || says.code(normalizeText(before)) || says.code(normalizeText(line));
    const isAlone = line.trim() === code;
    const isSix = /^\d{6}$/.test(code.replaceAll(/[ -]/g, ''));
    return { code, rating: (isNamed ? 3 : 0) + (isAlone ? 2 : 0) + (isSix ? 1 : 0) - (YEAR.test(code) ? 3 : 0) };
  });
  const [best] = found.toSorted((left, right) => right.rating - left.rating);
  if (best === undefined || best.rating < 1) return undefined;
  return /^[\d -]+$/.test(best.code) ? best.code.replaceAll(/[ -]/g, '') : best.code;
}

const WANTED = /verif|confirm|activ|magic|log-?in|sign-?in|auth|token|code|key|invit|welcome|one-?time|passwordless/i;
const UNWANTED =
  /unsub|preferences|settings|privacy|terms|legal|help|support|faq|report|block|reset|forgot|\.(?:png|gif|jpe?g|svg|css)$/i;
const TOKEN = /[\w.~%-]{16,}/;

/** The link to the site that most likely proves the address; never one to another site. */
export function findLink({ links }: Email, site: Site): string | undefined {
  const rated = links
    .filter((link) => site.allows(link))
    .map((link) => {
      const { pathname, search, hash } = new URL(link);
      const parts = `${pathname}${search}${hash}`;
      const isToken = parts.split(/[/?&=#]/).some((part) => TOKEN.test(part));
      return { link, rating: (WANTED.test(parts) ? 2 : 0) + (isToken ? 2 : 0) - (UNWANTED.test(parts) ? 3 : 0) };
    });
  const [best] = rated.toSorted((left, right) => right.rating - left.rating);
  return best !== undefined && best.rating > 0 ? best.link : undefined;
}

/** The code or link of the newest email that has one: it invalidates those of older ones. */
export function pickAnswer(
  emails: readonly Email[],
  wanted: 'code' | 'link',
  site: Site,
): { code: string } | { link: string } | undefined {
  for (const email of emails.toReversed()) {
    const code = wanted === 'code' ? findCode(email) : undefined;
    if (code !== undefined) return { code };
    const link = findLink(email, site);
    if (link !== undefined) return { link };
  }
  return undefined;
}
