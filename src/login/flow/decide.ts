import type { LoginErrorCode } from '../contract/errors.ts';
import type { LoginLink, LoginPlan, SignInMethod } from '../detection/login-plan.ts';
import type { PageSnapshot } from './evidence.ts';

/** What the caller can provide, without the values. */
export type AvailableMethods = {
  username: boolean;
  password: boolean;
  /** a code can be obtained: from a secret, a mailbox or the caller */
  code: boolean;
  /** the account has a passkey */
  passkey?: boolean;
  /** a page may create one */
  enrolment?: boolean;
  /** the method to choose where the site offers several */
  method: SignInMethod;
};

/** What has been done so far. */
export type Progress = {
  dismissed: number;
  opened: number;
  usernameSent: boolean;
  passwordSent: boolean;
  /** a passkey was used, or one was created */
  passkeySent?: boolean;
  enrolmentSent?: boolean;
};

export type PageIdle = {
  /** ms since the plan for the page last changed */
  unchangedMs: number;
  /** ms since a request that could change the page began or ended; 0 while one is in flight */
  networkIdleMs: number;
};

export type PageStep =
  | { do: 'dismiss'; id: string }
  | { do: 'open'; id: string }
  | { do: 'fill'; plan: LoginPlan }
  /** a method that sends a message: press its button instead of the form's, after filling in the user name */
  | { do: 'choose-method'; plan: LoginPlan }
  | { do: 'code'; plan: LoginPlan }
  /** `plan`: fill in the user name first; without `id` the page asks for the passkey by itself */
  | { do: 'passkey'; id?: string; plan?: LoginPlan }
  | { do: 'wait' }
  | { do: 'fail'; code: LoginErrorCode; reason: string };

const MAX_DISMISSED = 5;
const MAX_OPENED = 5;
/** ms that a page gets to change: scripts draw forms late, and some bot checks pass by themselves. */
const PATIENCE_MS = { ambiguous: 1200, none: 5000, captcha: 5000, covered: 1500 };

/** ms without a change or a request before a button for a passkey is pressed */
const SCRIPT_MS = 300;

const WAIT: PageStep = { do: 'wait' };
const fail = (code: LoginErrorCode, reason: string): PageStep => ({ do: 'fail', code, reason });

type Patience = (ms: number) => boolean;

function buildPatience({ unchangedMs, networkIdleMs }: PageIdle): Patience {
  return (ms) => unchangedMs < ms || (networkIdleMs < ms && unchangedMs < 3 * ms);
}

/** What to do on a page with nothing submitted yet, or whose next form is shown. Pure. */
export function decidePageStep(
  snapshot: PageSnapshot,
  available: AvailableMethods,
  { progress, idle }: { progress: Progress; idle: PageIdle },
): PageStep {
  const { plan } = snapshot;
  const dismiss = plan.obstacles.find((obstacle) => obstacle.dismiss !== undefined)?.dismiss;
  if (dismiss !== undefined && progress.dismissed < MAX_DISMISSED) return { do: 'dismiss', id: dismiss };
  const isPatient = buildPatience(idle);
  const passkey = decidePasskey(snapshot, available, { progress, idle });
  if (passkey !== undefined) return passkey;
  if (plan.reason === 'fill') return decideFill(snapshot, available, { progress, isPatient });
  return decideLink(plan, available, { progress, isPatient }) ?? decideRefusal(snapshot, isPatient);
}

/** Uses the account's passkey, unless the page takes its password. */
function decidePasskey(
  { plan, signals, interstitial }: PageSnapshot,
  available: AvailableMethods,
  { progress, idle }: { progress: Progress; idle: PageIdle },
): PageStep | undefined {
  if (available.passkey !== true || progress.passkeySent === true) return undefined;
  if (available.password && plan.reason === 'fill') return undefined;
  const id = signals.otherWays.passkeyButton;
  if (id === undefined && interstitial?.kind !== 'security_key') return undefined;
  // The page may still be loading the script behind its button.
  if (Math.min(idle.unchangedMs, idle.networkIdleMs) < SCRIPT_MS) return WAIT;
  if (id === undefined) return { do: 'passkey' };
  const takesName = plan.reason === 'fill' && plan.username !== undefined && available.username;
  return { do: 'passkey', id, ...(takesName && { plan: { ...plan, password: undefined, extra: [], submit: id } }) };
}

/** Follows a login link or chooses a method, where the page has no form to fill. */
function decideLink(
  plan: LoginPlan,
  available: AvailableMethods,
  { progress, isPatient }: { progress: Progress; isPatient: Patience },
): PageStep | undefined {
  if (progress.opened >= MAX_OPENED) return undefined;
  if (plan.reason === 'open') {
    const [first] = plan.loginLinks;
    const link = first?.kind === 'method' ? findMethod(plan, available) : first;
    return link && open(plan, link);
  }
  // A page for searching or signing up that also links to the login.
  const link = plan.reason === 'other-kind' ? plan.loginLinks.find(({ kind }) => kind === 'sign-in') : undefined;
  return link === undefined || isPatient(PATIENCE_MS.covered) ? undefined : open(plan, link);
}

/** A page without a form that offers other sign-in methods. */
function decideOtherWay({ signals, interstitial }: PageSnapshot): PageStep | undefined {
  if (interstitial?.kind === 'bot_wall') return fail('captcha_required', 'bot_wall');
  const { providers, passkey } = signals.otherWays;
  if (providers.length > 0) return fail('sso_required', 'no_form');
  return passkey ? fail('passkey_required', 'no_form') : undefined;
}

function decideRefusal(snapshot: PageSnapshot, isPatient: Patience): PageStep {
  const { plan } = snapshot;
  const after = (ms: number, refusal: PageStep) => (isPatient(ms) ? WAIT : refusal);
  switch (plan.reason) {
    case 'ambiguous':
      return after(PATIENCE_MS.ambiguous, fail('ambiguous_form', 'ambiguous'));
    case 'unseen':
      return after(PATIENCE_MS.covered, fail('login_form_not_found', 'hidden_fields'));
    case 'insecure-action':
      return fail('unsafe_domain', 'insecure_action');
    case 'captcha':
      return after(PATIENCE_MS.captcha, fail('captcha_required', 'captcha'));
    case 'open':
      return after(PATIENCE_MS.none, decideOtherWay(snapshot) ?? fail('login_form_not_found', 'no_form'));
    default:
      return after(
        PATIENCE_MS.none,
        decideOtherWay(snapshot) ?? fail('login_form_not_found', plan.kind.replaceAll('-', '_')),
      );
  }
}

function decideFill(
  snapshot: PageSnapshot,
  available: AvailableMethods,
  { progress, isPatient }: { progress: Progress; isPatient: Patience },
): PageStep {
  const { plan } = snapshot;
  if (plan.kind === 'one-time-code') {
    return available.code ? { do: 'code', plan } : fail('login_form_not_found', 'one_time_code');
  }
  if (plan.kind !== 'login' && plan.kind !== 'username-first' && plan.kind !== 'password-step') {
    return decideRefusal(snapshot, isPatient);
  }
  // A check for a person would make the attempt fail for certain, and cost one of the account's attempts.
  if (plan.captcha) return isPatient(PATIENCE_MS.captcha) ? WAIT : fail('captcha_required', 'captcha');
  if (plan.username !== undefined && !available.username && !progress.usernameSent) {
    return fail('validation_error', 'username_required');
  }
  if (available.password) return { do: 'fill', plan };
  const link = progress.opened < MAX_OPENED ? findMethod(plan, available) : undefined;
  // The user name may be sent alone, unless another button names the requested method.
  if (link !== undefined && (plan.kind !== 'username-first' || link.method === available.method)) {
    return open(plan, link);
  }
  return plan.kind === 'username-first' ? { do: 'fill', plan } : fail('validation_error', 'password_required');
}

/** The link that names the requested method, else one that names none, else the first. */
function findMethod({ loginLinks }: LoginPlan, { method }: AvailableMethods): LoginLink | undefined {
  const links = loginLinks.filter(({ kind }) => kind === 'method');
  return links.find((each) => each.method === method) ?? links.find((each) => each.method === undefined) ?? links[0];
}

function open(plan: LoginPlan, { id, method }: LoginLink): PageStep {
  if (method !== 'code' && method !== 'link') return { do: 'open', id };
  return { do: 'choose-method', plan: { ...plan, password: undefined, extra: [], submit: id } };
}
