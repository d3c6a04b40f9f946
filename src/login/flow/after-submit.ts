import type { Interstitial } from '../detection/interstitials.ts';
import { LoginError } from '../login-error.ts';
import type { PageSnapshot, SuccessSignal } from './evidence.ts';
import { buildUnprovenError, buildUnprovenLoginError } from './errors.ts';
import { IDLE_MS, findLinkButton } from './outcome.ts';
import type { Verdict } from './outcome.ts';
import type { SessionState } from './session-check.ts';
import { describePage, startLogin } from './state.ts';
import type { FlowState, Submitted } from './state.ts';

/** Input of a decision after a submit. */
export type SubmitView = {
  snapshot: PageSnapshot;
  verdict: Verdict;
  /** `performance.now()` */
  now: number;
  network: {
    /** ms without any request; 0 while one is in flight */
    idleMs: number;
    sinceLastRequestMs: number;
    hasPending: boolean;
    /** the submit, or the document that it leads to, has no answer yet */
    awaitsResponse: boolean;
    hasSubmissions: boolean;
  };
};

/** Steps while the outcome of a submit is open. */
export type SubmitAction =
  | { do: 'fail'; error: LoginError }
  | { do: 'wait'; ms: number }
  /** let the page run its scripts, then observe it again */
  | { do: 'wait-for-idle' }
  /** the site sent a message: obtain the link in it */
  | { do: 'request-link' }
  /** press the button that confirms a link from an email */
  | { do: 'press-confirm'; id: string }
  /** press Enter, since nothing was sent */
  | { do: 'resubmit' }
  /** signup: request an email that proves the account */
  | { do: 'request-email' }
  /** handle an interstitial page, or report it */
  | { do: 'pass-interstitial'; found: Interstitial };

export type FlowAction =
  | SubmitAction
  | { do: 'finish'; signals: SuccessSignal[] }
  /** the outcome is known, or nothing was submitted: continue with the page as it is */
  | { do: 'act-on-page' };

/** `check-session`: nothing on the page proves yet that the submit has signed in. */
type AfterSubmit = { state: FlowState; action: FlowAction | { do: 'check-session'; signals: SuccessSignal[] } };

export type Transition = { state: FlowState; action: FlowAction };

const OBSERVE_EVERY_MS = 60;
/** ms during which observations must agree before success is reported */
const CONFIRM_MS = { login: 120, signup: 300 };
/** the same for interstitial pages; bot checks often pass on their own */
const INTERSTITIAL_MS = { usual: 500, bot_wall: 5000, passkey: 6000 };
/** ms that a page gets to show an account, after the comparison without the session */
const UNPROVEN_MS = 4000;
/** ms after a submit without any request until it is repeated by Enter */
const RESUBMIT_MS = 2500;
/** ms after a submit until the flow gives up, once the network is idle */
export const GIVE_UP_MS = 15_000;
const MAX_CONFIRMED = 3;
/** Failures of a first login that an unanswered email may explain. */
const UNCONFIRMED: ReadonlySet<string> = new Set(['account_locked', 'invalid_credentials']);

/**
 * ```
 *                    next form, wrong code
 *          ┌──────────────────────────────────────┐
 *          ▼                submit                │
 *     act on page ──────────────────────► submitted ──► finish, fail
 *          ▲                                │   ▲
 *          │ signup: signed out             │   │ link, confirm button
 *          └──────── check session ◄────────┤   │
 *                         │ unknown         ▼   │
 *                         └──────────► request email or link
 * ```
 *
 * What to do about a submit, by the latest observation. Pure; the first line that applies decides.
 */
export function decideAfterSubmit(state: FlowState, submitted: Submitted, view: SubmitView): AfterSubmit {
  const { snapshot, verdict } = view;
  if (state.goal === 'signup' && offersFirstLogin(submitted, view)) return actOnPage(startLogin(state));
  const next = { ...state, likely: trackLikely(state, view) };
  if ('tentative' in verdict && verdict.tentative && state.idlePage !== describePage(snapshot)) {
    return { state: { ...next, idlePage: describePage(snapshot) }, action: { do: 'wait-for-idle' } };
  }
  switch (verdict.is) {
    case 'failed':
      return decideFailure(next, submitted, verdict.error);
    case 'proven':
      return decideSuccess(next, submitted, { view, signals: verdict.signals });
    case 'next':
      return actOnPage({ ...next, submitted: undefined });
    case 'wrong-code':
      return actOnPage({ ...next, submitted: undefined, codeRejected: true });
    case 'interstitial':
      return decideInterstitial(next, view, verdict.found);
    case 'pending':
      return decidePending(next, submitted, view);
  }
}

const actOnPage = (state: FlowState): Transition => ({ state, action: { do: 'act-on-page' } });

/** A signup that leads to a login form: sign in there with the new account. */
function offersFirstLogin({ step, before }: Submitted, { snapshot, network }: SubmitView): boolean {
  const { plan, document } = snapshot;
  const isLogin = (plan.kind === 'login' || plan.kind === 'username-first') && plan.reason === 'fill';
  const hasAnswer = network.hasSubmissions || document !== before.document;
  const isFirst = step !== 'password' && step !== 'username';
  return isFirst && isLogin && hasAnswer && network.idleMs > CONFIRM_MS.signup;
}

function trackLikely({ likely }: FlowState, { snapshot, verdict, now }: SubmitView): FlowState['likely'] {
  const isLikely =
    verdict.is === 'proven' || verdict.is === 'interstitial' || (verdict.is === 'pending' && verdict.likely);
  if (!isLikely) return undefined;
  return likely?.url === snapshot.url ? likely : { url: snapshot.url, at: now };
}

function decideFailure(state: FlowState, { step }: Submitted, error: LoginError): Transition {
  const isFirstLogin = state.goal === 'signup' && (step === 'password' || step === 'username');
  if (isFirstLogin && UNCONFIRMED.has(error.code) && !state.emailRequested) return requestEmail(state);
  return { state, action: { do: 'fail', error } };
}

/** Without an email, or with a second one, the owner of this session is unknown. */
function requestEmail(state: FlowState): Transition {
  if (state.emailRequested) return { state, action: { do: 'fail', error: buildUnprovenError() } };
  return { state: { ...state, emailRequested: true }, action: { do: 'request-email' } };
}

/** A page that asks for a passkey gets time to check the one that was used. */
function findNeededMs({ progress }: FlowState, { kind }: Interstitial): number {
  if (kind === 'bot_wall') return INTERSTITIAL_MS.bot_wall;
  return kind === 'security_key' && progress.passkeySent === true ? INTERSTITIAL_MS.passkey : INTERSTITIAL_MS.usual;
}

function decideInterstitial(state: FlowState, view: SubmitView, found: Interstitial): AfterSubmit {
  const agreedMs = state.likely === undefined ? 0 : view.now - state.likely.at;
  if (agreedMs < findNeededMs(state, found)) return wait(state, view);
  return { state, action: { do: 'pass-interstitial', found } };
}

/** The result of a session check. */
export type Checked = { session: SessionState; signals: SuccessSignal[]; view: SubmitView };

/** The action after an accepted submit, once the session is checked. Pure. */
export function decideAfterCheck(state: FlowState, submitted: Submitted, checked: Checked): Transition {
  const { session, signals, view } = checked;
  if (session === 'signedIn') return { state, action: { do: 'finish', signals } };
  if (isFirstSignIn(state, submitted)) {
    return session === 'signedOut' ? actOnPage(startLogin(state)) : requestEmail(state);
  }
  const page = describePage(view.snapshot);
  if (state.unproven?.page !== page) return wait({ ...state, unproven: { page, at: view.now } }, view);
  const doubt = view.verdict.is === 'proven' ? view.verdict.doubt : undefined;
  return { state, action: { do: 'fail', error: buildUnprovenLoginError({ ...view.snapshot, session, doubt }) } };
}

/** An accepted registration, signed in or not. */
function isFirstSignIn({ goal }: FlowState, { step }: Submitted): boolean {
  return goal === 'signup' && step !== 'password';
}

function decideSuccess(
  state: FlowState,
  submitted: Submitted,
  { view, signals }: { view: SubmitView; signals: SuccessSignal[] },
): AfterSubmit {
  const agreedMs = state.likely === undefined ? 0 : view.now - state.likely.at;
  if (agreedMs < CONFIRM_MS[state.goal]) return wait(state, view);
  const isProven = signals.includes('http-authentication');
  if (isProven && !isFirstSignIn(state, submitted) && !state.isNamed) {
    return { state, action: { do: 'finish', signals } };
  }
  const { unproven } = state;
  const isWaitedFor = unproven?.page === describePage(view.snapshot) && view.now - unproven.at < UNPROVEN_MS;
  return isWaitedFor ? wait(state, view) : { state, action: { do: 'check-session', signals } };
}

/** No sooner than the next observation can decide. */
function wait(state: FlowState, { now, network }: Pick<SubmitView, 'now' | 'network'>): Transition {
  const agreeInMs = state.likely === undefined ? 0 : CONFIRM_MS[state.goal] - (now - state.likely.at);
  const ms = Math.max(IDLE_MS - network.sinceLastRequestMs, agreeInMs);
  return { state, action: { do: 'wait', ms: ms > 0 ? ms + 1 : OBSERVE_EVERY_MS } };
}

/** A notice that a link was sent. The page of a push notification or a number to match says so as well. */
function isMessageSent({ snapshot: { plan, signals }, verdict }: SubmitView): boolean {
  if (verdict.is === 'pending' && verdict.interstitial === true) return false;
  return signals.messageSentNotice !== undefined && plan.kind !== 'one-time-code';
}

/** Fails, once the page had time to draw what it received: on a busy machine it may not have run since. */
function giveUp(state: FlowState, snapshot: PageSnapshot): Transition {
  const page = describePage(snapshot);
  if (state.idlePage !== page) return { state: { ...state, idlePage: page }, action: { do: 'wait-for-idle' } };
  const error = new LoginError('login_timeout', 'The site gave no outcome.', { details: { reason: 'no_outcome' } });
  return { state, action: { do: 'fail', error } };
}

function decidePending(state: FlowState, submitted: Submitted, view: SubmitView): Transition {
  const { snapshot, network, now } = view;
  const { step } = submitted;
  const sinceMs = now - submitted.at;
  const isIdle = network.idleMs > OBSERVE_EVERY_MS * 5;
  if (isMessageSent(view) && step !== 'link' && isIdle) {
    return { state, action: { do: 'request-link' } };
  }
  const button = findLinkButton(step, snapshot);
  if (button !== undefined && state.confirmed < MAX_CONFIRMED && isIdle) {
    return { state: { ...state, confirmed: state.confirmed + 1 }, action: { do: 'press-confirm', id: button } };
  }
  const isUnsent = !network.hasSubmissions && !network.hasPending && snapshot.document === submitted.before.document;
  if (state.goal === 'login' && isUnsent && !submitted.resubmitted && sinceMs > RESUBMIT_MS) {
    return { state: { ...state, submitted: { ...submitted, resubmitted: true } }, action: { do: 'resubmit' } };
  }
  // Waits until the deadline of the login for a site that has not answered yet.
  if (sinceMs > GIVE_UP_MS && network.sinceLastRequestMs > GIVE_UP_MS / 3 && !network.awaitsResponse) {
    return giveUp(state, snapshot);
  }
  return wait(state, view);
}
