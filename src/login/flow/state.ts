import type { CookieSnapshot } from './cookies.ts';
import type { Progress } from './decide.ts';
import type { PageSnapshot } from './evidence.ts';
import type { SubmittedStep } from './outcome.ts';

/** A submit with a pending outcome. */
export type Submitted = {
  step: SubmittedStep;
  /** the page right before */
  before: PageSnapshot;
  cookies: CookieSnapshot;
  /** `performance.now()` of the submit */
  at: number;
  /** it was repeated by Enter, or must not be repeated */
  resubmitted: boolean;
};

/** The progress of a flow. A signup is a login that begins with a submitted registration. */
export type FlowState = {
  goal: 'login' | 'signup';
  progress: Progress;
  submitted: Submitted | undefined;
  /** time since which every observation of this address reports success */
  likely: { url: string; at: number } | undefined;
  /** time since which a page that looks like a success, by `describePage`, has no proof */
  unproven: { page: string; at: number } | undefined;
  /** pressed buttons and choices on interstitial pages */
  passed: number;
  /** the site rejected the last code */
  codeRejected: boolean;
  /** buttons pressed to confirm a link from an email */
  confirmed: number;
  /** the caller has named a proof of success, so nothing else counts */
  isNamed: boolean;
  /** signup: an email was asked for to prove that the new account works */
  emailRequested: boolean;
  /** the common addresses of login pages were tried */
  searched: boolean;
  /** the page, by `describePage`, that had time to run its scripts since it was observed */
  idlePage: string | undefined;
};

const INITIAL_PROGRESS: Progress = { dismissed: 0, opened: 0, usernameSent: false, passwordSent: false };

/** `submitted`: the registration of a signup; absent for a login. */
export function startFlow(submitted?: Submitted, isNamed = false): FlowState {
  return {
    goal: submitted === undefined ? 'login' : 'signup',
    progress: INITIAL_PROGRESS,
    submitted,
    isNamed,
    likely: undefined,
    unproven: undefined,
    passed: 0,
    codeRejected: false,
    confirmed: 0,
    emailRequested: false,
    searched: false,
    idlePage: undefined,
  };
}

/** The identity of a page for the flow: while it stays the same, the page is unchanged. */
export function describePage({ plan, url, document, interstitial }: PageSnapshot): string {
  const { kind, reason, username, password, code, loginLinks } = plan;
  const between = interstitial && [interstitial.kind, interstitial.hint, interstitial.options.length];
  return JSON.stringify([document, url, kind, reason, username, password, code, loginLinks.length, between]);
}

export function recordSubmit(state: FlowState, submitted: Submitted): FlowState {
  return { ...state, submitted, likely: undefined, unproven: undefined, idlePage: undefined };
}

export function countProgress(state: FlowState, what: 'dismissed' | 'opened'): FlowState {
  return { ...state, progress: { ...state.progress, [what]: state.progress[what] + 1 } };
}

/** A passkey was used, or one was created. */
export function markPasskey(state: FlowState, use: 'sign' | 'enrol'): FlowState {
  const done = use === 'sign' ? { passkeySent: true } : { enrolmentSent: true };
  return { ...state, progress: { ...state.progress, ...done } };
}

/** Goes on to sign in on the page as it is. */
export function startLogin(state: FlowState): FlowState {
  return { ...state, progress: INITIAL_PROGRESS, submitted: undefined, likely: undefined };
}

/** The user name was typed and sent, with or without the password. */
export function markSent(state: FlowState, withPassword: boolean): FlowState {
  const passwordSent = state.progress.passwordSent || withPassword;
  return { ...state, progress: { ...state.progress, usernameSent: true, passwordSent } };
}
