import type { LoginErrorCode } from '../contract/errors.ts';
import type { Interstitial, InterstitialKind } from '../detection/interstitials.ts';
import { LoginError } from '../login-error.ts';
import type { ChallengeKind } from './challenge.ts';

/** Pages that end a login: nothing in this browser can continue it. */
const FATAL: Partial<Record<InterstitialKind, { code: LoginErrorCode; message: string; reason: string }>> = {
  enrolment: {
    code: 'enrolment_required',
    message: 'The site requires another factor to be set up before it signs anyone in.',
    reason: 'enrolment',
  },
  password_change: {
    code: 'password_change_required',
    message: 'The site requires a new password before it signs anyone in.',
    reason: 'password_change',
  },
  suspended: {
    code: 'account_suspended',
    message: 'The site reports that the account is suspended, disabled or under review.',
    reason: 'suspended',
  },
  bot_wall: {
    code: 'captcha_required',
    message: 'The site requires a check that only a person can pass.',
    reason: 'bot_wall',
  },
  site_error: { code: 'site_unreachable', message: 'The site shows an error of its own.', reason: 'error_page' },
};

/** Undefined for pages on which a person can continue. */
export function buildInterstitialError({ kind }: Interstitial): LoginError | undefined {
  const fatal = FATAL[kind];
  return fatal && new LoginError(fatal.code, fatal.message, { details: { reason: fatal.reason } });
}

/** Pages that continue on their own once somebody has acted elsewhere. */
export const EXTERNAL: ReadonlySet<ChallengeKind> = new Set([
  'push',
  'number_match',
  'security_key',
  'captcha',
  'human',
]);
