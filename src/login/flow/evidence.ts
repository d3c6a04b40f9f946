import type { FailureCause, LoginPlan, OutcomeSignals } from '../detection/plan.ts';
import type { Submission } from './traffic.ts';

/** One look at the page. */
export type Look = {
  url: string;
  /** grows with every document of the top frame */
  document: number;
  /** the browser shows a page of its own: the site's did not come */
  failed: boolean;
  plan: LoginPlan;
  signals: OutcomeSignals;
};

/** What a look after a submit is held against. */
export type Attempt = {
  /** the page as it was right before */
  before: Look;
  submissions: readonly Submission[];
  /** a session cookie has come or changed since */
  newCookie: boolean;
  /** causes that texts of `alert` named */
  dialogs: readonly FailureCause[];
};

/** The five positive signals of the contract. */
export type SuccessSignal = 'form-gone' | 'new-cookie' | 'left-path' | 'account' | 'submit-answered';

export type Proof = {
  signals: SuccessSignal[];
  veto: FailureCause | undefined;
  /** the status with which the site broke down over what was typed; 0 where it did not answer */
  broken: number | undefined;
};

const FORMS = new Set(['login', 'username-first', 'password-step', 'one-time-code']);
const LOGIN_PATH =
  /(?:^|[/_.?=&-])(?:log-?in|log-?on|sign-?in|signon|auth(?:enticate|entication)?|sessions?(?:\/new)?|2fa|two-?fa|two-?factor|mfa|otp|totp|connexion|anmeld\w*|acceso|entrar|sso)(?:$|[/_.?=&-])/i;

/** A form to sign in with is on the page. */
export function hasLoginForm({ plan, signals }: Look): boolean {
  return signals.passwordField || (FORMS.has(plan.kind) && plan.reason !== 'nothing');
}

export function isLoginPath(url: string): boolean {
  const { pathname = '', search = '', hash = '' } = URL.parse(url) ?? {};
  return LOGIN_PATH.test(pathname) || LOGIN_PATH.test(hash) || /[?&](?:login|error|failed)\b/i.test(search);
}

function hasLeft(from: string, to: string): boolean {
  const [before, after] = [URL.parse(from), URL.parse(to)];
  if (before === null || after === null) return false;
  const place = ({ origin, pathname, hash }: URL) => origin + pathname.replace(/\/+$/, '') + hash;
  return place(before) !== place(after) && !isLoginPath(to);
}

/** The requests that sent what was typed; where none can be told for certain, the ones that could have. */
function listSent(submissions: readonly Submission[]): readonly Submission[] {
  const certain = submissions.filter(({ carriesSecret }) => carriesSecret);
  return certain.length > 0 ? certain : submissions;
}

/** What a page shows to everybody proves nothing. */
function isNew(look: Look, before: Look, marker: 'logout' | 'account'): boolean {
  return look.signals[marker] !== undefined && before.signals[marker] === undefined;
}

function findFresh({ signals, document }: Look, before: Look): FailureCause | undefined {
  const sameDocument = document === before.document;
  const fresh = signals.failures.find(({ id, cause }) =>
    sameDocument
      ? !before.signals.failures.some((old) => old.id === id && old.cause === cause)
      : signals.failures.filter((failure) => failure.cause === cause).length >
        before.signals.failures.filter((failure) => failure.cause === cause).length,
  );
  return fresh?.cause;
}

/**
 * Holds a look against the attempt before it. Two signals and no veto prove success; a veto names the failure. `settled`:
 * nothing is under way, so a form that is still there is there to stay.
 */
export function weigh(look: Look, attempt: Attempt, settled: boolean): Proof {
  const { before } = attempt;
  const sent = listSent(attempt.submissions);
  const last = sent.at(-1);
  const form = hasLoginForm(look);
  const signals: SuccessSignal[] = [];
  if (!form) signals.push('form-gone');
  if (attempt.newCookie) signals.push('new-cookie');
  if (hasLeft(before.url, look.url)) signals.push('left-path');
  if (isNew(look, before, 'logout') || isNew(look, before, 'account')) signals.push('account');
  if (
    last !== undefined &&
    last.status >= 200 &&
    last.status < 400 &&
    !last.reportsFailure &&
    (!last.isNavigation || !form)
  ) {
    signals.push('submit-answered');
  }
  // What the browser says of a failure is nothing that the site says.
  if (look.failed) return { signals: [], veto: undefined, broken: last?.status ?? 0 };
  const broken = last?.carriesSecret === true && last.status >= 500 ? last.status : undefined;
  return { signals, veto: findVeto(look, attempt, last, settled && form), broken };
}

function findVeto(
  look: Look,
  { before, dialogs }: Attempt,
  last: Submission | undefined,
  formStays: boolean,
): FailureCause | undefined {
  const named = findFresh(look, before) ?? dialogs[0];
  if (named !== undefined && named !== 'error') return named;
  if (last !== undefined && (last.status === 401 || last.status === 403)) return 'wrong-credentials';
  if (last?.status === 429) return 'rate-limited';
  if (last?.status === 423) return 'locked';
  if (named !== undefined) return named;
  const samePart = look.plan.kind === before.plan.kind;
  const emptied = look.signals.passwordField && look.signals.passwordEmpty && before.signals.passwordField;
  const again = look.document !== before.document && samePart && look.plan.kind !== 'none';
  if (formStays && (emptied || again || (last?.reportsFailure === true && samePart))) return 'wrong-credentials';
  return undefined;
}
