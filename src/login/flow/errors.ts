import { LoginError } from '../login-error.ts';
import type { PageStep } from './decide.ts';
import type { PageSnapshot } from './evidence.ts';

const MESSAGES: Partial<Record<string, string>> = {
  login_form_not_found: 'No form to sign in with was found.',
  ambiguous_form: 'Several forms are equally likely to be the one to sign in with.',
  captcha_required: 'The site asks for a check that only a person can pass.',
  unsafe_domain: 'The form would send what is typed without encryption.',
  username_required: 'cred.username: is required by the form',
  password_required: 'cred.password: is required by the form',
};

/** `status`: of the latest document, since a server error explains a missing form. */
export function buildStepError(
  step: PageStep & { do: 'fail' },
  { plan }: Pick<PageSnapshot, 'plan'>,
  status: number,
): LoginError {
  if (step.code === 'login_form_not_found' && status >= 500) {
    return new LoginError('site_unreachable', 'The site answered with an error.', { details: { status } });
  }
  const message = MESSAGES[step.reason] ?? MESSAGES[step.code] ?? 'The login failed.';
  return new LoginError(step.code, message, { details: { reason: step.reason, page: plan.kind } });
}

export function buildUnprovenError(): LoginError {
  return new LoginError('signup_rejected', 'Nothing shows that the new account can be used.', {
    details: { reason: 'unproven' },
  });
}
