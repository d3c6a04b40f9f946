import type { FailureCause, LoginPlan, OutcomeSigns } from '../detection/plan.ts';
import type { Submission } from './traffic.ts';

/** One look at the page. */
export type Look = {
  url: string;
  /** grows with every document of the top frame */
  document: number;
  /** the browser shows a page of its own: the site's did not come */
  failed: boolean;
  plan: LoginPlan;
  signs: OutcomeSigns;
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

/** The five positive signs of the contract. */
export type ProofSign = 'form-gone' | 'new-cookie' | 'left-path' | 'account' | 'submit-answered';

export type Proof = {
  signs: ProofSign[];
  veto: FailureCause | undefined;
  /** the status with which the site broke down over what was typed; 0 where it did not answer */
  broken: number | undefined;
};

const FORMS = new Set(['login', 'username-first', 'password-step', 'one-time-code']);
const LOGIN_PATH =
  /(?:^|[/_.?=&-])(?:log-?in|log-?on|sign-?in|signon|auth(?:enticate|entication)?|sessions?(?:\/new)?|2fa|two-?fa|two-?factor|mfa|otp|totp|connexion|anmeld\w*|acceso|entrar|sso)(?:$|[/_.?=&-])/i;

/** A form to sign in with is on the page. */
export function hasLoginForm({ plan, signs }: Look): boolean {
  return signs.passwordField || (FORMS.has(plan.kind) && plan.reason !== 'nothing');
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
  const certain = submissions.filter(({ carries }) => carries);
  return certain.length > 0 ? certain : submissions;
}

/** What a page shows to everybody proves nothing. */
function isNew(look: Look, before: Look, marker: 'logout' | 'account'): boolean {
  return look.signs[marker] !== undefined && before.signs[marker] === undefined;
}

function findFresh({ signs, document }: Look, before: Look): FailureCause | undefined {
  const sameDocument = document === before.document;
  const fresh = signs.failures.find(({ id, cause }) =>
    sameDocument
      ? !before.signs.failures.some((old) => old.id === id && old.cause === cause)
      : signs.failures.filter((failure) => failure.cause === cause).length >
        before.signs.failures.filter((failure) => failure.cause === cause).length,
  );
  return fresh?.cause;
}

/**
 * Holds a look against the attempt before it. Two signs and no veto prove success; a veto names the failure. `settled`:
 * nothing is under way, so a form that is still there is there to stay.
 */
export function weigh(look: Look, attempt: Attempt, settled: boolean): Proof {
  const { before } = attempt;
  const sent = listSent(attempt.submissions);
  const last = sent.at(-1);
  const form = hasLoginForm(look);
  const signs: ProofSign[] = [];
  if (!form) signs.push('form-gone');
  if (attempt.newCookie) signs.push('new-cookie');
  if (hasLeft(before.url, look.url)) signs.push('left-path');
  if (isNew(look, before, 'logout') || isNew(look, before, 'account')) signs.push('account');
  if (last !== undefined && last.status >= 200 && last.status < 400 && !last.refuses && (!last.navigates || !form)) {
    signs.push('submit-answered');
  }
  // What the browser says of a failure is nothing that the site says.
  if (look.failed) return { signs: [], veto: undefined, broken: last?.status ?? 0 };
  const broken = last?.carries === true && last.status >= 500 ? last.status : undefined;
  return { signs, veto: findVeto(look, attempt, last, settled && form), broken };
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
  const emptied = look.signs.passwordField && look.signs.passwordEmpty && before.signs.passwordField;
  const again = look.document !== before.document && samePart && look.plan.kind !== 'none';
  if (formStays && (emptied || again || (last?.refuses === true && samePart))) return 'wrong-credentials';
  return undefined;
}
