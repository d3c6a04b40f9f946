import type { LoginChallengeKind } from '../contract/errors.ts';
import type { LoginMethod } from '../contract/shapes.ts';

/** What the site expects to know beside user name and password. */
export type Challenge = {
  kind: LoginChallengeKind;
  /** where the code went, as far as the page shows it: `j•••@example.com`, `•••42` */
  hint: string | null;
  /** what the page takes: a link only where nothing on it takes a code */
  expects: 'code' | 'link';
};

export type Answer = { code: string } | { link: string };

/** Where codes and links come from: a secret, a mailbox, or the caller. */
export type PageAnswers = {
  /** whether codes may be had for forms that ask for one */
  readonly available: boolean;
  /** `wrong`: the site has refused the last one. Throws a `LoginError` when there is none to be had. */
  get(ask: Challenge, wrong: boolean): Promise<Answer>;
  /** Resolves once what is sent from now on can be answered for: a mailbox counts newer letters alone. */
  ready(): Promise<void>;
};

/** Answers for a page that is not open yet. `release` runs what waits for a person, while the page's place is lent. */
export type AnswerSource = Omit<PageAnswers, 'get'> & {
  get(ask: Challenge, wrong: boolean, release: <T>(work: () => Promise<T>) => Promise<T>): Promise<Answer>;
};

const MASKED_MAIL = /[\p{L}\d._-]*[*•·…xX]{2,}[\p{L}\d._*•-]*@[\p{L}\d.*•-]*[\p{L}\d*•]/u;
const MASKED_PHONE = /(?:\+?\d{0,3}[ -]?)?[*•·xX]{2,}[ *•·xX\d-]*\d{2,4}\b/u;
const APP = /authenticator|authentication app|TOTP|2FA app|Authentifizierungs|autenticaci[oó]n|認証アプリ/i;
const PHONE = /\bSMS\b|text message|phone|mobile|téléphone|telefon|teléfono|celular|短信|手机|携帯/i;
const MAIL = /e-?mail|inbox|correo|courriel|post(?:fach|eingang)|邮箱|メール/i;

/** What a page that asks for a code or names a link means, by the method asked for and its own words. */
export function describeChallenge(text: string, sent: 'code' | 'link' | undefined, method: LoginMethod): Challenge {
  const mail = MASKED_MAIL.exec(text)?.[0];
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
