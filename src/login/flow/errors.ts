import { LoginError } from '../login-error.ts';
import type { FailureCause } from '../detection/login-plan.ts';
import type { PageStep } from './decide.ts';
import type { PageSnapshot } from './evidence.ts';
import { buildOutcomeError } from './outcome.ts';
import type { SessionState } from './session-check.ts';

/** Addresses by which sites tell their own pages of a refusal: `?error=1`, `?login_failed`. */
const FAILED_ADDRESS =
  /[?&](?:[a-z]{0,20}[_-]?)(?:error|errors|err|fail|failed|failure|invalid|denied|incorrect)(?:[_-][a-z]{1,20})?(?:=(?!(?:0|false|none|no|)(?:&|$))|&|$)/i;

const MESSAGES: Partial<Record<string, string>> = {
  login_form_not_found: 'No login form was found.',
  ambiguous_form: 'Several forms are equally likely to be the login form.',
  captcha_required: 'The site requires a check that only a person can pass.',
  sso_required: 'The site accepts only sign-ins through other services.',
  passkey_required: 'The site accepts only a passkey.',
  unsafe_domain: 'The form would send the credentials without encryption.',
  username_required: 'cred.username: is required by the form',
  password_required: 'cred.password: is required by the form',
};

/** `status`: of the latest document, since a server error explains a missing form. */
export function buildStepError(
  step: PageStep & { do: 'fail' },
  { plan, signals }: Pick<PageSnapshot, 'plan' | 'signals'>,
  status: number,
): LoginError {
  if (step.code === 'login_form_not_found' && status >= 500) {
    return new LoginError('site_unreachable', 'The site answered with an error.', { details: { status } });
  }
  const message = MESSAGES[step.reason] ?? MESSAGES[step.code] ?? 'The login failed.';
  const { providers } = signals.otherWays;
  const details = { reason: step.reason, page: plan.kind };
  return new LoginError(step.code, message, {
    details: step.code === 'sso_required' ? { ...details, providers } : details,
  });
}

/** After a submit that the site accepted by all signals, without proof of a session. */
export function buildUnprovenLoginError({
  signals,
  plan,
  url,
  session,
  doubt,
}: Pick<PageSnapshot, 'signals' | 'plan' | 'url'> & {
  session: SessionState;
  doubt?: FailureCause | undefined;
}): LoginError {
  const cause = signals.stated ?? doubt ?? (FAILED_ADDRESS.test(URL.parse(url)?.search ?? '') ? 'error' : undefined);
  if (cause !== undefined) return buildOutcomeError(cause, 'password');
  if (session === 'signedOut') {
    return new LoginError('invalid_credentials', 'The site refused the credentials.', {
      details: { reason: 'signed_out' },
    });
  }
  return new LoginError('login_unproven', 'No proof of a session was found after the login.', {
    details: { reason: 'no_proof', page: plan.kind },
  });
}

/** The site shows one page after another. */
export function buildEndlessError(): LoginError {
  return new LoginError('login_unproven', 'The site keeps showing further pages, and no account.', {
    details: { reason: 'too_many_steps' },
  });
}

/** A login with an empty session. */
export function buildEmptySessionError(): LoginError {
  return new LoginError('login_unproven', 'The login has left neither a cookie nor anything in storage.', {
    details: { reason: 'empty_session' },
  });
}

export function buildUnprovenError(): LoginError {
  return new LoginError('signup_rejected', 'Nothing shows that the new account can be used.', {
    details: { reason: 'unproven' },
  });
}

/** A link from an email that does not belong to the site. */
export function buildForeignLinkError(): LoginError {
  return new LoginError('unsafe_domain', 'The link leads to another site.', { details: { reason: 'link' } });
}
