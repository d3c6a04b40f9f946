import type { LoginErrorCode } from '../contract/errors.ts';
import type { Interstitial } from '../detection/interstitials.ts';
import type { FailureCause } from '../detection/login-plan.ts';
import { LoginError } from '../login-error.ts';
import { weighEvidence } from './evidence.ts';
import type { Attempt, Evidence, PageSnapshot, SuccessSignal } from './evidence.ts';

/** The last submitted form. */
export type SubmittedStep = 'username' | 'password' | 'code' | 'link' | 'choice' | 'passkey' | 'registration';

/**
 * The verdict of one observation on a submit. `tentative`: it follows from the absence of a reaction, so it counts
 * only once the page had time to run its scripts.
 */
export type Verdict =
  /** `doubt`: what a message on the page says, unless a session is proven */
  | { is: 'proven'; signals: SuccessSignal[]; doubt: FailureCause | undefined }
  | { is: 'failed'; error: LoginError; tentative: boolean }
  /** the next form is shown */
  | { is: 'next' }
  /** an interstitial page that is not a login form */
  | { is: 'interstitial'; found: Interstitial }
  /** the site rejected the code and shows the form for it again */
  | { is: 'wrong-code'; tentative: boolean }
  /** `likely`: it would be proven if the network were idle; `interstitial`: such a page is still loading */
  | { is: 'pending'; likely: boolean; interstitial?: boolean };

export type Idle = {
  /** ms without any request, up to the observation; 0 while a request is in flight */
  networkIdleMs: number;
  /** ms between the submit and the observation */
  sinceSubmitMs: number;
  /** The page has loaded and waits for no answer, so a visible form will stay. */
  settled: boolean;
};

export const IDLE_MS = 100;
/** A form that stays this long will stay: pages empty their fields before they navigate. */
export const FORM_STAYS_MS = 700;
/** After a password was accepted, a page that prompts to sign in may still be about to navigate. */
const REPEATED_LOGIN_MS = 3000;

const LOGIN_KINDS = ['login', 'username-first', 'password-step'];
const NEXT_KINDS: Record<SubmittedStep, readonly string[]> = {
  username: ['username-first', 'password-step', 'login', 'one-time-code', 'captcha'],
  password: ['one-time-code'],
  code: ['password-step'],
  choice: ['username-first', 'password-step', 'login', 'one-time-code'],
  passkey: ['username-first', 'password-step', 'login', 'one-time-code'],
  link: ['one-time-code'],
  registration: ['one-time-code'],
};
const CODE_FAILURES: readonly FailureCause[] = ['wrong-code', 'wrong-credentials', 'error', 'field-rejected'];

const FAILURES: Record<FailureCause, { code: LoginErrorCode; reason: string }> = {
  'wrong-credentials': { code: 'invalid_credentials', reason: 'wrong_credentials' },
  locked: { code: 'account_locked', reason: 'locked' },
  suspended: { code: 'account_suspended', reason: 'suspended' },
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
  account_suspended: 'The site reports that the account is suspended, disabled or under review.',
  account_locked: 'The site reports that the account is locked or not yet usable.',
  rate_limited: 'The site requires a wait before the next attempt.',
  captcha_required: 'The site requires a check that only a person can pass.',
  invalid_code: 'The site refused the code.',
  account_exists: 'The site reports that the account already exists.',
  login_timeout: 'The site reports that its page has expired.',
  signup_rejected: 'The site refused the registration.',
};

export function buildOutcomeError(cause: FailureCause, step: SubmittedStep): LoginError {
  const { code, reason } = FAILURES[cause];
  const isSignup = step === 'registration' && code === 'invalid_credentials';
  const shown = isSignup ? 'signup_rejected' : code;
  return new LoginError(shown, MESSAGES[shown] ?? 'The site refused.', { details: { reason } });
}

type Case = {
  step: SubmittedStep;
  snapshot: PageSnapshot;
  attempt: Attempt;
  idle: Idle;
  isIdle: boolean;
  /** a visible form will stay */
  stays: boolean;
  evidence: Evidence;
};

const PENDING: Verdict = { is: 'pending', likely: false };
const INTERSTITIAL_PENDING: Verdict = { is: 'pending', likely: false, interstitial: true };
const NEXT: Verdict = { is: 'next' };

/**
 * Judges a submit by one observation. Pure, and independent of when the page was observed: with more time `pending`
 * turns into another verdict, and no other verdict ever changes.
 */
export function assess(step: SubmittedStep, snapshot: PageSnapshot, attempt: Attempt, idle: Idle): Verdict {
  const isIdle = idle.networkIdleMs >= IDLE_MS;
  const stays = idle.settled && idle.networkIdleMs >= FORM_STAYS_MS && idle.sinceSubmitMs >= FORM_STAYS_MS;
  const found = weighEvidence(snapshot, attempt, { ...idle, stays });
  // A new account stays unverified until its email has been answered.
  const isExpected =
    step === 'registration' && found.veto?.cause === 'unverified' && snapshot.signals.messageSentNotice !== undefined;
  const evidence = isExpected ? { ...found, veto: undefined } : found;
  const judged = { step, snapshot, attempt, idle, isIdle, stays, evidence };
  return (
    judgeCode(judged) ??
    judgeInterstitial(judged) ??
    judgeLink(judged) ??
    judgeFailure(judged) ??
    judgeFirstStep(judged) ??
    judgeProgress(judged)
  );
}

/** A statement of the site about the credentials is the outcome, whatever else the page shows. */
const DECISIVE: ReadonlySet<FailureCause> = new Set([
  'wrong-credentials',
  'wrong-code',
  'locked',
  'suspended',
  'rate-limited',
]);

/** Whether the site has stated the outcome, so that an interstitial page of this kind does not matter. */
function isStatedOutcome(kind: Interstitial['kind'], { veto, failedStatus }: Evidence): boolean {
  // A status alone says less than the page that comes with it.
  const isStated =
    veto !== undefined &&
    !veto.byAbsence &&
    veto.byStatus !== true &&
    (DECISIVE.has(veto.cause) || kind === 'site_error');
  return (isStated && kind !== 'password_change') || (failedStatus !== undefined && kind === 'site_error');
}

/** An interstitial page. One that existed before the submit says nothing about it. */
function judgeInterstitial({ snapshot, attempt, idle, isIdle, evidence }: Case): Verdict | undefined {
  const { interstitial: found, document } = snapshot;
  const { before } = attempt;
  if (found === undefined || snapshot.failed) return undefined;
  if (document === before.document && found.kind === before.interstitial?.kind) return undefined;
  if (isStatedOutcome(found.kind, evidence)) return undefined;
  // An application reports errors of what it manages: tickets, machines, builds.
  if (found.kind === 'site_error' && evidence.signals.includes('account')) return undefined;
  // Pages that watch for an approval never stop sending requests.
  const isThere = isIdle || idle.sinceSubmitMs >= REPEATED_LOGIN_MS;
  return isThere && snapshot.loaded ? { is: 'interstitial', found } : INTERSTITIAL_PENDING;
}

/** The form for the code is shown again. */
function judgeCode({ step, snapshot, attempt, isIdle, stays, evidence: { veto } }: Case): Verdict | undefined {
  const { plan } = snapshot;
  if (step !== 'code' || plan.kind !== 'one-time-code' || plan.reason !== 'fill') return undefined;
  if (veto === undefined) {
    const isNewDocument = snapshot.document !== attempt.before.document;
    return stays && isNewDocument ? { is: 'wrong-code', tentative: true } : undefined;
  }
  if (!isIdle || !CODE_FAILURES.includes(veto.cause)) return undefined;
  return { is: 'wrong-code', tentative: veto.byAbsence };
}

/** An accepted link leads past the login. Many sites say nothing about a rejected one. */
function judgeLink({ step, snapshot, idle, stays, evidence: { veto, signals } }: Case): Verdict | undefined {
  const { plan } = snapshot;
  const isAtLogin = plan.reason === 'fill' && LOGIN_KINDS.includes(plan.kind);
  const isRejected = veto === undefined || veto.cause === 'wrong-credentials' || veto.cause === 'error';
  if (step !== 'link' || !isAtLogin || !isRejected || signals.includes('account')) return undefined;
  if (!stays || idle.sinceSubmitMs < REPEATED_LOGIN_MS) return PENDING;
  const error = new LoginError('invalid_code', 'The site did not accept the link.', {
    details: { reason: 'link_refused' },
  });
  return { is: 'failed', error, tentative: true };
}

/** The submit has no answer, or a part of one. */
export function buildSilentError(): LoginError {
  return new LoginError('site_unreachable', 'The site did not answer.', { details: { reason: 'no_answer' } });
}

function judgeFailure({ step, isIdle, evidence: { veto, failedStatus } }: Case): Verdict | undefined {
  if (veto === undefined && failedStatus === undefined) return undefined;
  if (!isIdle) return PENDING;
  if (veto !== undefined) {
    return { is: 'failed', error: buildOutcomeError(veto.cause, step), tentative: veto.byAbsence };
  }
  const error =
    failedStatus === 0
      ? buildSilentError()
      : new LoginError('site_unreachable', 'The site answered with an error.', { details: { status: failedStatus } });
  return { is: 'failed', error, tentative: false };
}

function judgeProgress(judged: Case): Verdict {
  const { step, snapshot, isIdle, stays, evidence } = judged;
  const isLoaded = snapshot.loaded || judged.idle.networkIdleMs >= FORM_STAYS_MS;
  if (isIdle && isNextForm(judged)) return isLoaded ? NEXT : PENDING;
  // After the user name alone nobody is signed in yet. Signs of an account belong to the next page while it loads.
  if (step === 'username' && snapshot.signals.messageSentNotice === undefined) return judgeUsername(judged);
  if (evidence.signals.length < 2 || hasNextStep(step, snapshot)) return PENDING;
  if (!evidence.signals.includes('account')) {
    if (repeatsLogin(step, snapshot)) return judgeRepeatedLogin(judged);
    // While a login form is visible, only a settled page shows the outcome.
    if (evidence.hasForm && !stays) return PENDING;
  }
  return isIdle && isLoaded
    ? { is: 'proven', signals: evidence.signals, doubt: evidence.doubt }
    : { is: 'pending', likely: true };
}

function judgeUsername({ snapshot, stays }: Case): Verdict {
  return isMethodChoice(snapshot) && stays ? NEXT : PENDING;
}

function isNextForm({ step, snapshot: { plan }, attempt }: Case): boolean {
  if (plan.reason !== 'fill' && plan.reason !== 'captcha') return false;
  return NEXT_KINDS[step].includes(plan.kind) && plan.kind !== attempt.before.plan.kind;
}

/** The site goes on with a choice of sign-in methods. */
function isMethodChoice({ plan }: PageSnapshot): boolean {
  return plan.reason === 'open' && plan.loginLinks.some(({ kind }) => kind !== 'sign-in');
}

/** A login form is still visible, or a message was sent: another step is needed. */
function hasNextStep(step: SubmittedStep, snapshot: PageSnapshot): boolean {
  const { plan, signals } = snapshot;
  if (findLinkButton(step, snapshot) !== undefined) return true;
  return plan.kind === 'one-time-code' || plan.kind === 'captcha' || signals.messageSentNotice !== undefined;
}

/** Steps that may sign in. */
const PROVING_STEPS: ReadonlySet<SubmittedStep> = new Set(['password', 'code', 'choice', 'passkey']);

/** A page that prompts to sign in proves nothing, whatever else was observed. */
function repeatsLogin(step: SubmittedStep, { signals }: PageSnapshot): boolean {
  return PROVING_STEPS.has(step) && signals.promptsSignIn;
}

/** The answered password has led back to the user name, as on sites that ask for them one after the other. */
function judgeFirstStep(judged: Case): Verdict | undefined {
  const { step, snapshot, attempt, evidence } = judged;
  const { plan, document } = snapshot;
  const isFirstStep = step === 'password' && plan.reason === 'fill' && plan.kind === 'username-first';
  if (!isFirstStep || evidence.signals.includes('account')) return undefined;
  const isAnswered = attempt.submissions.some(({ carriesSecret, status }) => carriesSecret && status > 0);
  return isAnswered || document !== attempt.before.document ? judgeRepeatedLogin(judged) : undefined;
}

function judgeRepeatedLogin({ snapshot: { plan }, idle, stays }: Case): Verdict {
  if (!stays || idle.sinceSubmitMs < REPEATED_LOGIN_MS) return PENDING;
  const error =
    plan.reason === 'fill'
      ? new LoginError('invalid_credentials', 'The site refused the credentials.', {
          details: { reason: 'asked_again' },
        })
      : new LoginError('login_form_not_found', 'After the password the site asks for an unknown input.', {
          details: { reason: 'unknown_step', page: plan.kind },
        });
  return { is: 'failed', error, tentative: true };
}

/** The button that confirms a link from an email. It keeps link scanners from consuming the link. */
export function findLinkButton(step: SubmittedStep, { signals }: PageSnapshot): string | undefined {
  return step === 'link' && signals.logout === undefined && signals.failures.length === 0 ? signals.confirm : undefined;
}
