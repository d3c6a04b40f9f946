import type { CookieSnapshot } from './cookies.ts';
import type { Progress } from './decide.ts';
import type { PageSnapshot } from './evidence.ts';
import type { SubmittedStep } from './outcome.ts';

/** A submit whose outcome is awaited. */
export type Submitted = {
  step: SubmittedStep;
  /** the page right before */
  before: PageSnapshot;
  cookies: CookieSnapshot;
  /** `performance.now()` of the submit */
  at: number;
  /** it was repeated by Enter, or must not be */
  resubmitted: boolean;
};

/** How far a flow has come. A signup is a login that begins with a submitted registration. */
export type FlowState = {
  goal: 'login' | 'signup';
  progress: Progress;
  submitted: Submitted | undefined;
  /** since when every observation of this address says that the flow has succeeded */
  likely: { url: string; at: number } | undefined;
  /** since when a page that looks like a success, as `describePage` puts it, is without a proof */
  unproven: { page: string; at: number } | undefined;
  /** buttons pressed on pages in between, and choices made */
  passed: number;
  /** the site rejected the last code */
  codeRejected: boolean;
  /** buttons pressed to confirm a link from an email */
  confirmed: number;
  /** the caller has named what proves a success, so nothing else does */
  isNamed: boolean;
  /** signup: an email was asked for to prove that the new account works */
  emailRequested: boolean;
  /** the usual addresses of login pages were tried */
  searched: boolean;
  /** the page that had time to run its scripts since it was observed, as `describePage` puts it */
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

/** What a page looks like to the flow: as long as it stays the same, the page is unchanged. */
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

/** Goes on to sign in on the page as it is. */
export function startLogin(state: FlowState): FlowState {
  return { ...state, progress: INITIAL_PROGRESS, submitted: undefined, likely: undefined };
}

/** The user name was typed and sent, with the password or without. */
export function markSent(state: FlowState, withPassword: boolean): FlowState {
  const passwordSent = state.progress.passwordSent || withPassword;
  return { ...state, progress: { ...state.progress, usernameSent: true, passwordSent } };
}
