import type { LoginPlan, LoginLink, SignInMethod } from '../detection/plan.ts';
import type { LoginErrorCode } from '../contract/errors.ts';
import type { Look } from './evidence.ts';

/** What the flow has to work with, without the values. */
export type AvailableMethods = {
  username: boolean;
  password: boolean;
  /** codes can be had: by secret, mailbox or question */
  code: boolean;
  /** what is to be given where the site leaves the choice */
  method: SignInMethod;
};

/** What has been done so far. */
export type Progress = {
  dismissed: number;
  opened: number;
  usernameSent: boolean;
  passwordSent: boolean;
  /** ms since the page last changed in what the plan says of it */
  stillMs: number;
  /** ms since a request that could change the page began or ended; 0 while one is under way */
  quietMs: number;
};

export type Step =
  | { do: 'dismiss'; id: string }
  | { do: 'open'; id: string }
  | { do: 'fill'; plan: LoginPlan }
  /** a way that has something sent: pressed in place of the button, with the name where there is a field for it */
  | { do: 'choose'; plan: LoginPlan }
  | { do: 'code'; plan: LoginPlan }
  | { do: 'wait' }
  | { do: 'fail'; code: LoginErrorCode; reason: string };

/** How often a way is tried before it counts as none. */
const MAX_DISMISSED = 5;
const MAX_OPENED = 5;
/** ms that a page may take to become what it is: a page without a form, a bot check that goes by itself. */
const PATIENCE_MS = { ambiguous: 1200, none: 5000, captcha: 5000, covered: 1500 };

const wait: Step = { do: 'wait' };
const fail = (code: LoginErrorCode, reason: string): Step => ({ do: 'fail', code, reason });

/** What to do with a page on which nothing has been submitted yet, or whose next form has come. Pure. */
export function decideStep({ plan }: Look, available: AvailableMethods, progress: Progress): Step {
  const { stillMs, quietMs } = progress;
  const covering = plan.obstacles.find(({ dismiss }) => dismiss !== undefined);
  if (covering?.dismiss !== undefined && progress.dismissed < MAX_DISMISSED) {
    return { do: 'dismiss', id: covering.dismiss };
  }
  const patient = (ms: number) => stillMs < ms || (quietMs < ms && stillMs < 3 * ms);
  switch (plan.reason) {
    case 'fill':
      return decideFill(plan, available, progress, patient);
    case 'open': {
      const [first] = plan.loginLinks;
      const opener = first?.kind === 'method' ? findMethod(plan, available) : first;
      if (opener !== undefined && progress.opened < MAX_OPENED) return open(plan, opener);
      return patient(PATIENCE_MS.none) ? wait : fail('login_form_not_found', 'no_form');
    }
    case 'ambiguous':
      return patient(PATIENCE_MS.ambiguous) ? wait : fail('ambiguous_form', 'ambiguous');
    case 'unseen':
      return patient(PATIENCE_MS.covered) ? wait : fail('login_form_not_found', 'hidden_fields');
    case 'insecure-action':
      return fail('unsafe_domain', 'insecure_action');
    case 'captcha':
      return patient(PATIENCE_MS.captcha) ? wait : fail('captcha_required', 'captcha');
    case 'other-kind': {
      // A page to search or to sign up on, with the way to the login beside it.
      const found = plan.loginLinks.find(({ kind }) => kind === 'sign-in');
      if (found !== undefined && progress.opened < MAX_OPENED && !patient(PATIENCE_MS.covered)) {
        return open(plan, found);
      }
      return patient(PATIENCE_MS.none) ? wait : fail('login_form_not_found', plan.kind.replaceAll('-', '_'));
    }
    case 'nothing':
      return patient(PATIENCE_MS.none) ? wait : fail('login_form_not_found', plan.kind.replaceAll('-', '_'));
  }
}

function decideFill(
  plan: LoginPlan,
  available: AvailableMethods,
  progress: Progress,
  patient: (ms: number) => boolean,
): Step {
  switch (plan.kind) {
    case 'login':
    case 'username-first':
    case 'password-step':
      // A check that a person has to pass would make the attempt fail for sure, and cost one of the account's tries.
      if (plan.captcha) return patient(PATIENCE_MS.captcha) ? wait : fail('captcha_required', 'captcha');
      if (plan.username !== undefined && !available.username && !progress.usernameSent) {
        return fail('validation_error', 'username_required');
      }
      if (!available.password) {
        const found = progress.opened < MAX_OPENED ? findMethod(plan, available) : undefined;
        // A name may be sent on its own, unless another button says what is asked for.
        if (found !== undefined && (plan.kind !== 'username-first' || found.method === available.method))
          return open(plan, found);
        if (plan.kind !== 'username-first') return fail('validation_error', 'password_required');
      }
      return { do: 'fill', plan };
    case 'one-time-code':
      return available.code ? { do: 'code', plan } : fail('login_form_not_found', 'one_time_code');
    default:
      return patient(PATIENCE_MS.none) ? wait : fail('login_form_not_found', plan.kind.replaceAll('-', '_'));
  }
}

/** The way that says what is to be given, else one that says nothing, else whatever there is. */
function findMethod({ loginLinks }: LoginPlan, { method }: AvailableMethods): LoginLink | undefined {
  const methods = loginLinks.filter(({ kind }) => kind === 'method');
  return (
    methods.find((each) => each.method === method) ?? methods.find((each) => each.method === undefined) ?? methods[0]
  );
}

function open(plan: LoginPlan, { id, method }: LoginLink): Step {
  if (method !== 'code' && method !== 'link') return { do: 'open', id };
  return { do: 'choose', plan: { ...plan, password: undefined, extra: [], submit: id } };
}
