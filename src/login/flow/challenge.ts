import type { LoginChallengeKind } from '../contract/errors.ts';
import type { LoginMethod } from '../contract/shapes.ts';

/** What the site requires besides user name and password. */
export type Challenge = {
  kind: LoginChallengeKind;
  /** where the code was sent, as far as the page shows it: `j•••@example.com`, `•••42` */
  hint: string | null;
  /** what the page accepts: `link` only where it has no field for a code */
  expects: 'code' | 'link';
};

export type Answer = { code: string } | { link: string };

/** Where codes and links come from: a secret, a mailbox, or the caller. */
export type PageAnswers = {
  /** whether codes can be obtained */
  readonly available: boolean;
  /** `wrong`: the site rejected the last answer. Throws a `LoginError` when there is none. */
  get(ask: Challenge, wrong: boolean): Promise<Answer>;
  /** Resolves once answers are ready: a mailbox only counts emails that arrive after that. */
  ready(): Promise<void>;
};

/** Answers that are not bound to a page yet. `release` runs work that waits for a person while the slot is lent. */
export type AnswerSource = Omit<PageAnswers, 'get'> & {
  get(ask: Challenge, wrong: boolean, release: <T>(work: () => Promise<T>) => Promise<T>): Promise<Answer>;
};

const ADDRESS = /(?<![\p{L}\d._*•·…-])[\p{L}\d._*•·…-]{1,64}@[\p{L}\d.*•-]*[\p{L}\d*•]/gu;
/** What a mask leaves of the part of an address before the `@`. */
const MASKED = /[*•·…xX]{2}[^@·…]*@/u;
const MASKED_PHONE = /(?:\+?\d{0,3}[ -]?)?(?<![*•·xX])[*•·xX]{2,20}[ *•·xX\d-]{0,30}\d{2,4}\b/u;
const APP = /authenticator|authentication app|TOTP|2FA app|Authentifizierungs|autenticaci[oó]n|認証アプリ/i;
const PHONE = /\bSMS\b|text message|phone|mobile|téléphone|telefon|teléfono|celular|短信|手机|携帯/i;
const MAIL = /e-?mail|inbox|correo|courriel|post(?:fach|eingang)|邮箱|メール/i;

/** The challenge of a page that asks for a code or mentions a link, by the requested method and its text. */
export function describeChallenge(text: string, sent: 'code' | 'link' | undefined, method: LoginMethod): Challenge {
  const mail = text.match(ADDRESS)?.find((address) => MASKED.test(address));
  const phone = mail === undefined ? MASKED_PHONE.exec(text)?.[0] : undefined;
  const hint = (mail ?? phone ?? null)?.trim() ?? null;
  if (sent === 'link' || method === 'magic_link') return { kind: 'magic_link', hint, expects: 'link' };
  const expects = 'code';
  if (method === 'otp_email' || method === 'otp_sms' || method === 'totp') return { kind: method, hint, expects };
  if (mail !== undefined) return { kind: 'otp_email', hint, expects };
  if (phone !== undefined) return { kind: 'otp_sms', hint, expects };
  if (APP.test(text)) return { kind: 'totp', hint, expects };
  if (MAIL.test(text)) return { kind: 'otp_email', hint, expects };
  return { kind: PHONE.test(text) ? 'otp_sms' : 'totp', hint, expects };
}
