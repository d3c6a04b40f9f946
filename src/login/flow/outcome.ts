import type { LoginErrorCode } from '../contract/errors.ts';
import type { FailureCause } from '../detection/plan.ts';
import { LoginError } from '../login-error.ts';
import { weigh } from './evidence.ts';
import type { Attempt, Look, SuccessSignal } from './evidence.ts';

/** What was submitted last. */
export type Sent = 'username' | 'password' | 'code' | 'link' | 'registration';

export type Verdict =
  | { is: 'proven'; signals: SuccessSignal[] }
  | { is: 'failed'; fault: LoginError }
  /** the next form has come */
  | { is: 'next' }
  /** the code was wrong, and the form for it is there again */
  | { is: 'wrong-code' }
  /** `likely`: it would be proven if nothing were under way */
  | { is: 'pending'; likely?: true };

export type Calm = {
  /** ms since anything was loaded or sent; 0 while something is under way */
  quietMs: number;
  /** ms since the submit */
  sinceMs: number;
};

export const CALM_MS = 100;
/** A form that stays has to stay this long: pages empty their fields before they go on. */
const STAY_MS = 700;
/** What asks to sign in after a password has been taken may only be on its way to the next page. */
const ASKING_MS = 3000;
const NEXT: Record<Sent, readonly string[]> = {
  username: ['username-first', 'password-step', 'login', 'one-time-code', 'captcha'],
  password: ['one-time-code'],
  code: ['password-step'],
  link: ['one-time-code'],
  registration: ['one-time-code'],
};

const FAULTS: Record<FailureCause, { code: LoginErrorCode; reason: string }> = {
  'wrong-credentials': { code: 'invalid_credentials', reason: 'wrong_credentials' },
  locked: { code: 'account_locked', reason: 'locked' },
  'rate-limited': { code: 'rate_limited', reason: 'site' },
  captcha: { code: 'captcha_required', reason: 'captcha' },
  'wrong-code': { code: 'invalid_code', reason: 'wrong_code' },
  'account-exists': { code: 'account_exists', reason: 'account_exists' },
  'password-rejected': { code: 'invalid_credentials', reason: 'password_rejected' },
  'field-rejected': { code: 'invalid_credentials', reason: 'field_rejected' },
  expired: { code: 'login_timeout', reason: 'page_expired' },
  unverified: { code: 'account_locked', reason: 'unverified' },
  error: { code: 'invalid_credentials', reason: 'error_shown' },
};

const MESSAGES: Partial<Record<LoginErrorCode, string>> = {
  invalid_credentials: 'The site refused the credentials.',
  account_locked: 'The site says that the account is locked or not usable yet.',
  rate_limited: 'The site asks to wait before the next attempt.',
  captcha_required: 'The site asks for a check that only a person can pass.',
  invalid_code: 'The site refused the code.',
  account_exists: 'The site says that the account exists already.',
  login_timeout: 'The site says that its page has expired.',
  signup_rejected: 'The site refused the registration.',
};

export function buildFailure(cause: FailureCause, sent: Sent): LoginError {
  const { code, reason } = FAULTS[cause];
  const inSignup = sent === 'registration' && code === 'invalid_credentials';
  const shown = inSignup ? 'signup_rejected' : code;
  return new LoginError(shown, MESSAGES[shown] ?? 'The site refused.', { details: { reason } });
}

/** What has come of a submit, as far as one look can tell. Pure. */
export function assess(sent: Sent, look: Look, attempt: Attempt, calm: Calm): Verdict {
  const calmNow = calm.quietMs >= CALM_MS;
  const stays = calm.quietMs >= STAY_MS && calm.sinceMs >= STAY_MS;
  const { signals, veto: cause, broken } = weigh(look, attempt, stays);
  // A new account is not verified as long as its letter is on the way.
  const isExpected = sent === 'registration' && cause === 'unverified' && look.signals.sent !== undefined;
  const veto = isExpected ? undefined : cause;
  const codeAgain = look.plan.kind === 'one-time-code' && look.plan.reason === 'fill';
  if (sent === 'code' && codeAgain && (veto !== undefined ? calmNow : stays && isNewOrEmptied(look, attempt))) {
    if (veto === undefined || ['wrong-code', 'wrong-credentials', 'error', 'field-rejected'].includes(veto)) {
      return { is: 'wrong-code' };
    }
  }
  if (sent === 'link' && isLinkRefused(look, veto) && !signals.includes('account')) {
    if (!stays || calm.sinceMs < ASKING_MS) return { is: 'pending' };
    const details = { reason: 'link_refused' };
    return { is: 'failed', fault: new LoginError('invalid_code', 'The site did not take the link.', { details }) };
  }
  if (veto !== undefined && calmNow) return { is: 'failed', fault: buildFailure(veto, sent) };
  if (veto !== undefined) return { is: 'pending' };
  if (broken !== undefined) {
    if (!calmNow) return { is: 'pending' };
    const details = broken === 0 ? { reason: 'no_answer' } : { status: broken };
    const message = broken === 0 ? 'The site did not answer.' : 'The site answered with an error.';
    return { is: 'failed', fault: new LoginError('site_unreachable', message, { details }) };
  }
  if (isNext(sent, look, attempt) && calmNow) return { is: 'next' };
  // Where only a name was sent, nobody has been let in yet; what looks like it is the next page on its way.
  if (sent === 'username' && look.signals.sent === undefined)
    return isMethodChoice(look) && stays ? { is: 'next' } : { is: 'pending' };
  if (signals.length < 2 || asksMore(sent, look)) return { is: 'pending' };
  if (asksAgain(sent, look) && !signals.includes('account')) {
    if (!stays || calm.sinceMs < ASKING_MS) return { is: 'pending' };
    return { is: 'failed', fault: buildPromptError(look) };
  }
  return calmNow ? { is: 'proven', signals } : { is: 'pending', likely: true };
}

function isNewOrEmptied(look: Look, { before }: Attempt): boolean {
  return look.document !== before.document;
}

function isNext(sent: Sent, look: Look, { before }: Attempt): boolean {
  const { plan } = look;
  if (plan.reason !== 'fill' && plan.reason !== 'captcha') return false;
  if (!NEXT[sent].includes(plan.kind)) return false;
  return plan.kind !== before.plan.kind;
}

/** A link that is taken leads past the login; many a site says nothing of one that is not. */
function isLinkRefused({ plan }: Look, veto: FailureCause | undefined): boolean {
  const isAtLogin = plan.reason === 'fill' && ['login', 'username-first', 'password-step'].includes(plan.kind);
  return isAtLogin && (veto === undefined || veto === 'wrong-credentials' || veto === 'error');
}

/** The site goes on with a choice of ways to sign in. */
function isMethodChoice({ plan }: Look): boolean {
  return plan.reason === 'open' && plan.loginLinks.some(({ kind }) => kind !== 'sign-in');
}

/** A form of the login is still in front, or a message was sent out: this is not the end. */
function asksMore(sent: Sent, look: Look): boolean {
  const { plan, signals } = look;
  if (findLinkButton(sent, look) !== undefined) return true;
  return plan.kind === 'one-time-code' || plan.kind === 'captcha' || signals.sent !== undefined;
}

/** Whatever has come with it, a page that asks one to sign in proves nothing. */
function asksAgain(sent: Sent, { signals }: Look): boolean {
  return (sent === 'password' || sent === 'code') && signals.promptsSignIn;
}

function buildPromptError({ plan }: Look): LoginError {
  if (plan.reason === 'fill') {
    return new LoginError('invalid_credentials', 'The site refused the credentials.', {
      details: { reason: 'asked_again' },
    });
  }
  return new LoginError('login_form_not_found', 'After the password the site asks for something that is not known.', {
    details: { reason: 'unknown_step', page: plan.kind },
  });
}

/** The button to press before a link from a letter counts: it keeps programs that look into letters from using it up. */
export function findLinkButton(sent: Sent, { signals }: Look): string | undefined {
  return sent === 'link' && signals.logout === undefined && signals.failures.length === 0 ? signals.confirm : undefined;
}
