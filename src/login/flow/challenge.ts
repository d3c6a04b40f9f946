import type { LoginActionKind, LoginChallengeKind, LoginOption } from '../contract/errors.ts';
import type { LoginMethod } from '../contract/shapes.ts';

export type ChallengeKind = LoginChallengeKind | LoginActionKind;

/** What the site requires besides user name and password. */
export type Challenge = {
  kind: ChallengeKind;
  /** the destination of the code as the page shows it: `j•••@example.com`, `•••42`; or another text of the page */
  hint: string | null;
  /**
   * What the page accepts. `link`: only if it has no field for a code. `choice`: one of the options. `external`: the
   * page continues on its own once somebody has acted elsewhere.
   */
  expects: 'code' | 'link' | 'choice' | 'external';
  options?: readonly LoginOption[];
};

/** The email that confirms a new account. */
export const EMAIL_LINK: Challenge = { kind: 'email_verification', hint: null, expects: 'link' };

/** `done`: somebody reports that they acted elsewhere, or the page continued on its own. */
export type Answer = { code: string } | { link: string } | { option: string } | { done: true };

/** Where codes and links come from: a secret, a mailbox, or the caller. */
export type PageAnswers = {
  /** whether codes can be obtained */
  readonly available: boolean;
  /**
   * `wrong`: the site rejected the last answer. `moved` resolves when the page has continued without an answer. Throws
   * a `LoginError` if there is no answer.
   */
  get(ask: Challenge, wrong: boolean, moved?: Promise<void>): Promise<Answer>;
  /** Resolves once answers are ready: a mailbox only counts emails that arrive after that. */
  ready(): Promise<void>;
};

/** `release` runs work that waits for a person while the slot is lent. */
export type Waiting = { release: <T>(work: () => Promise<T>) => Promise<T>; moved: Promise<void> | undefined };

/** Answers that are not bound to a page yet. */
export type AnswerSource = Omit<PageAnswers, 'get'> & {
  get(ask: Challenge, wrong: boolean, waiting: Waiting): Promise<Answer>;
};

const ADDRESS = /(?<![\p{L}\d._*•·…-])[\p{L}\d._*•·…-]{1,64}@[\p{L}\d.*•-]*[\p{L}\d*•]/gu;
/** A masked local part of an address, before the `@`. */
const MASKED = /[*•·…xX]{2}[^@·…]*@/u;
const MASKED_PHONE = /(?:\+?\d{0,3}[ -]?)?(?<![*•·xX])[*•·xX]{2,20}[ *•·xX\d-]{0,30}\d{2,4}\b/u;
/** "Ending in 42", "endet auf 42", "se termine par 42", "termina en 42". */
const ENDING = /(?:\bending|\bends|\bendet|\bendend|\btermin\w{0,6}|\bfinal|\beindigt)\D{1,20}(\d{2,4})\b/iu;
const APP = /authenticator|authentication app|TOTP|2FA app|Authentifizierungs|autenticaci[oó]n|認証アプリ/i;
const PHONE = /\bSMS\b|text message|phone|mobile|téléphone|telefon|teléfono|celular|短信|手机|携帯/i;
const MAIL = /e-?mail|inbox|correo|courriel|post(?:fach|eingang)|邮箱|メール/i;

/** The second factor that the words of a page name. */
export function namesFactor(label: string, kind: 'totp' | 'otp_email' | 'otp_sms'): boolean {
  if (/push|notification|approv|genehmig|demande|solicit|benachricht/i.test(label)) return false;
  if (kind === 'totp') return APP.test(label) || /\bapp\b/i.test(label);
  if (kind === 'otp_email') return MAIL.test(label);
  return PHONE.test(label) && !APP.test(label) && !/\bcall\b|anruf|appel|llama|ligar|chamada/i.test(label);
}

/** The challenge of a page that asks for a code or mentions a link, by the requested method and its text. */
export function describeChallenge(text: string, sent: 'code' | 'link' | undefined, method: LoginMethod): Challenge {
  const mail = text.match(ADDRESS)?.find((address) => MASKED.test(address));
  const phone = mail === undefined ? MASKED_PHONE.exec(text)?.[0] : undefined;
  const ending = mail ?? phone ?? ENDING.exec(text)?.[1]?.padStart(5, '•');
  const hint = ending?.trim() ?? null;
  if (sent === 'link' || method === 'magic_link') return { kind: 'magic_link', hint, expects: 'link' };
  const expects = 'code';
  if (method === 'otp_email' || method === 'otp_sms' || method === 'totp') return { kind: method, hint, expects };
  if (mail !== undefined) return { kind: 'otp_email', hint, expects };
  if (phone !== undefined) return { kind: 'otp_sms', hint, expects };
  if (APP.test(text)) return { kind: 'totp', hint, expects };
  if (MAIL.test(text)) return { kind: 'otp_email', hint, expects };
  return { kind: PHONE.test(text) ? 'otp_sms' : 'totp', hint, expects };
}

/** A signup proves its address until the new account signs in. */
export function describeStep(
  { text, signals }: { text: string; signals: { messageSentNotice: 'code' | 'link' | undefined } },
  { method, provesAddress }: { method: LoginMethod; provesAddress: boolean },
  expects: 'code' | 'link',
): Challenge {
  const described = describeChallenge(text, signals.messageSentNotice, method);
  if (provesAddress) return { kind: 'email_verification', hint: described.hint, expects };
  if (expects === 'link' || described.kind !== 'magic_link') return described;
  return { ...described, kind: 'otp_email', expects: 'code' };
}
