import type { Interstitial } from '../detection/interstitials.ts';
import type { FailureCause, LoginPlan, OutcomeSignals } from '../detection/login-plan.ts';
import type { Submission } from './traffic.ts';

/** One observation of the page, without the page itself: the input of decisions. */
export type PageSnapshot = {
  url: string;
  /** identifies the document of the top frame: another one after every navigation */
  document: string;
  /** the document has loaded with its images and frames */
  loaded: boolean;
  /** the browser shows its own error page instead of the site's */
  failed: boolean;
  plan: LoginPlan;
  signals: OutcomeSignals;
  /** the interstitial page between password and account, if it is one */
  interstitial: Interstitial | undefined;
};

/** The earlier state that an observation after a submit is compared with. */
export type Attempt = {
  /** the page right before the submit */
  before: PageSnapshot;
  submissions: readonly Submission[];
  /** a session cookie was added or changed since */
  newCookie: boolean;
  /** causes named by texts of `alert` */
  dialogs: readonly FailureCause[];
};

/**
 * Signals of a success. The first four may all come from one redirect, so they never suffice. `account` (a control to
 * sign out, a marker of the account), `member-page` (a difference without the session) and `named` (the caller's own
 * proof) do.
 */
export type SuccessSignal =
  | 'form-gone'
  | 'new-cookie'
  | 'left-path'
  | 'submit-answered'
  | 'account'
  | 'member-page'
  | 'named'
  | 'http-authentication';

/** A cause of failure, and what it rests on: a form that stays, the status of an answer, or what the site said. */
export type Veto = { cause: FailureCause; byAbsence: boolean; byStatus?: boolean };

export type Evidence = {
  signals: SuccessSignal[];
  veto: Veto | undefined;
  /** what a message aside on a page without a form says: a failure, unless something proves a session */
  doubt: FailureCause | undefined;
  /** a login form is visible */
  hasForm: boolean;
  /** the status of a server error in answer to the submit; 0 where no answer came */
  failedStatus: number | undefined;
};

type Timing = {
  /** the page has settled, so a visible form will stay */
  stays: boolean;
  sinceSubmitMs: number;
  networkIdleMs: number;
};

const FORMS = new Set(['login', 'username-first', 'password-step', 'one-time-code']);
/** Forms that set a password: their password fields do not prompt to sign in. */
const NEW_PASSWORD_FORMS = new Set(['change', 'recovery']);
const LOGIN_PATH =
  /(?:^|[/_.?=&-])(?:log-?in|log-?on|sign-?in|signon|auth(?:enticate|entication)?|sessions?(?:\/new)?|2fa|two-?fa|two-?factor|mfa|otp|totp|connexion|anmeld[^\W_]*|acceso|entrar|sso)(?:$|[/_.?=&-])/i;
/** ms without any request after which a form that is still shown is the answer */
const UNMOVED_MS = 6000;
/** ms after which a submit counts as sent although no request for it was seen, as over a WebSocket */
const UNSEEN_SUBMIT_MS = 5000;

/** Whether the page shows a form to sign in with. */
export function hasLoginForm({ plan, signals }: Pick<PageSnapshot, 'plan' | 'signals'>): boolean {
  if (FORMS.has(plan.kind)) return plan.reason !== 'nothing';
  return signals.passwordField && !NEW_PASSWORD_FORMS.has(plan.kind);
}

export function isLoginPath(url: string): boolean {
  const { pathname = '', search = '', hash = '' } = URL.parse(url) ?? {};
  return LOGIN_PATH.test(pathname) || LOGIN_PATH.test(hash) || /[?&](?:login|error|failed)\b/i.test(search);
}

function hasLeftPath(from: string, to: string): boolean {
  const [before, after] = [URL.parse(from), URL.parse(to)];
  if (before === null || after === null) return false;
  const address = ({ origin, pathname, hash }: URL) => origin + pathname.replace(/(?<!\/)\/+$/, '') + hash;
  return address(before) !== address(after) && !isLoginPath(to);
}

/**
 * The requests that carried the typed values; if none is certain, all that may have. A form is sent as a whole: a call
 * beside the document that it leads to, or with fewer of its values, checks a field.
 */
function listSent(submissions: readonly Submission[]): readonly Submission[] {
  const certain = submissions.filter(({ carriesSecret }) => carriesSecret);
  if (certain.length === 0) return submissions;
  const documents = certain.filter(({ isNavigation }) => isNavigation);
  if (documents.length > 0) return documents;
  const most = Math.max(...certain.map(({ secrets }) => secrets));
  return certain.filter(({ secrets }) => secrets === most);
}

/** Markers that existed before the submit prove nothing, nor does "My account" beside "Sign in". */
function hasNewMarker(snapshot: PageSnapshot, before: PageSnapshot): boolean {
  const isNew = (marker: 'logout' | 'account') =>
    snapshot.signals[marker] !== undefined && before.signals[marker] === undefined;
  if (isNew('logout')) return true;
  if (isNew('account')) return !snapshot.plan.loginLinks.some(({ kind }) => kind === 'sign-in');
  return asksForOldPassword(snapshot) && !asksForOldPassword(before);
}

/** Only a signed-in person may change a password that must be entered. */
function asksForOldPassword({ plan }: PageSnapshot): boolean {
  const count = (roles: readonly string[]) => plan.fields.filter(({ role }) => roles.includes(role)).length;
  return plan.kind === 'change' && count(['password']) > 0 && count(['new-password', 'password-again']) > 0;
}

type Failures = OutcomeSignals['failures'];

function listNewFailures({ signals, document }: PageSnapshot, before: PageSnapshot): Failures {
  const isSameDocument = document === before.document;
  const count = (failures: Failures, cause: FailureCause) =>
    failures.filter((failure) => failure.cause === cause).length;
  return signals.failures.filter(({ id, cause }) =>
    isSameDocument
      ? !before.signals.failures.some((old) => old.id === id && old.cause === cause)
      : count(signals.failures, cause) > count(before.signals.failures, cause),
  );
}

function isAccepted(last: Submission | undefined, hasForm: boolean): boolean {
  if (last === undefined || last.status < 200 || last.status >= 400) return false;
  if (last.reportsFailure || last.broken) return false;
  return !last.isNavigation || !hasForm;
}

/** The browser's own error page is not content of the site. It is also shown for an answer without a body. */
function weighErrorPage(last: Submission | undefined, hasForm: boolean): Evidence {
  const cause = last?.carriesSecret === true ? STATUS_CAUSES[last.status] : undefined;
  const none = { signals: [], doubt: undefined, hasForm };
  if (cause === undefined) return { ...none, veto: undefined, failedStatus: last?.status ?? 0 };
  return { ...none, veto: { cause, byAbsence: false, byStatus: true }, failedStatus: undefined };
}

/** Compares an observation with the attempt. Two signals without a veto speak for success; a veto names the failure. */
export function weighEvidence(snapshot: PageSnapshot, attempt: Attempt, timing: Timing): Evidence {
  const { before } = attempt;
  const last = listSent(attempt.submissions).at(-1);
  const hasForm = hasLoginForm(snapshot);
  if (snapshot.failed) return weighErrorPage(last, hasForm);
  const signals = listSignals(snapshot, attempt, last);
  const failures = listNewFailures(snapshot, before);
  const plain = findPlainFailure(snapshot, before);
  const failedStatus = signals.includes('account') && last?.broken === true ? undefined : findFailedStatus(last);
  // Beside a form every message is about it.
  if (!hasForm && snapshot.document !== before.document) {
    const [doubt, own] = [true, false].map((aside) => failures.find((each) => each.aside === aside)?.cause);
    const veto = findStatedFailure(own ?? attempt.dialogs[0] ?? plain, last);
    return { signals, veto, doubt, hasForm, failedStatus };
  }
  const stated = findStatedFailure(failures[0]?.cause ?? attempt.dialogs[0], last);
  const isRejected = !signals.includes('account') && showsFormAgain(snapshot, attempt, { last, timing });
  const byForm = isRejected ? { cause: plain ?? 'wrong-credentials', byAbsence: true } : undefined;
  return { signals, veto: stated ?? byForm, doubt: undefined, hasForm, failedStatus };
}

function listSignals(snapshot: PageSnapshot, { before, newCookie }: Attempt, last?: Submission): SuccessSignal[] {
  const hasForm = hasLoginForm(snapshot);
  const isAnswered = isAccepted(last, hasForm);
  const seen: [SuccessSignal, boolean][] = [
    ['form-gone', !hasForm],
    ['new-cookie', newCookie],
    ['left-path', hasLeftPath(before.url, snapshot.url)],
    ['account', hasNewMarker(snapshot, before)],
    ['submit-answered', isAnswered],
    ['http-authentication', isAnswered && !hasForm && last?.byAuthorization === true],
  ];
  return seen.filter(([, isThere]) => isThere).map(([signal]) => signal);
}

/** A refusal in the plain text of a small page, which the page before did not have. */
function findPlainFailure({ signals, interstitial }: PageSnapshot, before: PageSnapshot): FailureCause | undefined {
  if (!signals.clearlyStated || signals.stated === before.signals.stated || interstitial !== undefined)
    return undefined;
  return signals.stated;
}

/** 5xx in answer to what was typed; 0 for an answer that did not come as a whole. */
function findFailedStatus(last: Submission | undefined): number | undefined {
  if (last?.carriesSecret !== true) return undefined;
  return last.status >= 500 ? last.status : last.broken ? 0 : undefined;
}

const STATUS_CAUSES: Readonly<Record<number, FailureCause>> = {
  401: 'wrong-credentials',
  403: 'wrong-credentials',
  429: 'rate-limited',
  423: 'locked',
};

/** A failure that the site states: by a message, a dialog or the status of its answer. */
function findStatedFailure(named: FailureCause | undefined, last: Submission | undefined): Veto | undefined {
  if (named !== undefined && named !== 'error') return { cause: named, byAbsence: false };
  const byStatus = last === undefined ? undefined : STATUS_CAUSES[last.status];
  if (byStatus !== undefined) return { cause: byStatus, byAbsence: false, byStatus: true };
  // A bare answer that reports a failure, instead of a page.
  const byAnswer = last?.isNavigation === true && last.reportsFailure ? 'wrong-credentials' : undefined;
  const cause = byAnswer ?? named;
  return cause && { cause, byAbsence: false };
}

type Answered = { last: Submission | undefined; timing: Timing };

/** Whether the submitted form is shown again, or still, once the page has settled. */
function showsFormAgain(snapshot: PageSnapshot, attempt: Attempt, { last, timing }: Answered): boolean {
  if (!timing.stays || !hasLoginForm(snapshot)) return false;
  const { before } = attempt;
  if (snapshot.plan.kind === before.plan.kind && isRefusedForm(snapshot, attempt, { last, timing })) return true;
  const isNewDocument = snapshot.document !== before.document;
  // Before a request is sent, a script may still process the password, for example hash it.
  const wasSent = isNewDocument || (last?.status ?? 0) > 0 || timing.sinceSubmitMs >= UNSEEN_SUBMIT_MS;
  return wasSent && isPasswordEmptied(snapshot, before);
}

/** Whether a form of the same kind is the answer: in a new document, beside a failure, or after a long silence. */
function isRefusedForm(
  { plan, document }: PageSnapshot,
  { before, newCookie }: Attempt,
  { last, timing }: Answered,
): boolean {
  if (plan.kind !== 'none' && document !== before.document) return true;
  if (last === undefined) return false;
  const isSilent = last.carriesSecret && last.status > 0 && timing.networkIdleMs >= UNMOVED_MS;
  return last.reportsFailure || (isSilent && !newCookie);
}

function isPasswordEmptied({ signals }: PageSnapshot, before: PageSnapshot): boolean {
  return signals.passwordField && signals.passwordEmpty && before.signals.passwordField;
}
