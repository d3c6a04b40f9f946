import { z } from 'zod';

/** Stable codes of the website login and the HTTP status of each. */
export const LOGIN_ERROR_STATUS = {
  validation_error: 400,
  unsafe_domain: 400,
  unauthorized: 401,
  forbidden: 403,
  not_found: 404,
  method_not_allowed: 405,
  conflict: 409,
  verification_required: 409,
  action_required: 409,
  account_exists: 409,
  challenge_expired: 410,
  payload_too_large: 413,
  invalid_credentials: 422,
  invalid_code: 422,
  login_form_not_found: 422,
  ambiguous_form: 422,
  captcha_required: 422,
  account_locked: 422,
  account_suspended: 422,
  password_change_required: 422,
  enrolment_required: 422,
  passkey_required: 422,
  sso_required: 422,
  login_unproven: 422,
  signup_rejected: 422,
  rate_limited: 429,
  server_error: 500,
  method_not_available: 501,
  site_unreachable: 502,
  capacity: 503,
  unavailable: 503,
  storage_full: 503,
  login_timeout: 504,
} as const;
export type LoginErrorCode = keyof typeof LOGIN_ERROR_STATUS;

export type LoginPublicCode = Exclude<LoginErrorCode, 'unavailable'>;

/** The values of `error` in the body. */
export function publicLoginCode(code: LoginErrorCode): LoginPublicCode {
  return code === 'unavailable' ? 'server_error' : code;
}

export const LoginChallengeKind = z.enum(['otp_email', 'otp_sms', 'totp', 'magic_link', 'email_verification']);
export type LoginChallengeKind = z.infer<typeof LoginChallengeKind>;

export type MailboxFailure = NonNullable<LoginChallengeDetails['mailbox']>;

/** Details of `verification_required`. */
export const LoginChallengeDetails = z
  .object({
    challengeId: z.string(),
    kind: LoginChallengeKind,
    /** how the page describes the destination of the code; never the code itself */
    hint: z.string().nullable(),
    expiresAt: z.iso.datetime(),
    /** why the mailbox gave no answer: unreachable, login refused, no email in time, or a wrong code */
    mailbox: z.enum(['unreachable', 'refused', 'nothing', 'wrong']).optional(),
  })
  .meta({ id: 'LoginChallenge' });
export type LoginChallengeDetails = z.infer<typeof LoginChallengeDetails>;

/** The input that an `action_required` requests. A login that waits for a code or link has these kinds, too. */
export const LoginActionKind = z.enum([
  'choose_factor',
  'push',
  'number_match',
  'security_key',
  'choose_account',
  'consent',
  'terms',
  'email_code',
  'sms_code',
  'totp',
  'magic_link',
  'captcha',
  'human',
]);
export type LoginActionKind = z.infer<typeof LoginActionKind>;

export const LoginOption = z
  .object({
    /** to send back as `option` */
    id: z.string(),
    /** the label on the page */
    label: z.string(),
  })
  .meta({ id: 'LoginOption' });
export type LoginOption = z.infer<typeof LoginOption>;

/** Details of `action_required`. */
export const LoginActionDetails = z
  .object({
    challengeId: z.string(),
    kind: LoginActionKind,
    /** text of the page, such as the number to match */
    hint: z.string().nullable(),
    /** only if there is a choice */
    options: z.array(LoginOption).optional(),
    expiresAt: z.iso.datetime(),
  })
  .meta({ id: 'LoginAction' });
export type LoginActionDetails = z.infer<typeof LoginActionDetails>;

export const LoginErrorBody = z
  .object({
    error: z.enum(Object.keys(LOGIN_ERROR_STATUS).map((code) => publicLoginCode(code as LoginErrorCode))),
    message: z.string(),
    requestId: z.string(),
    details: z.record(z.string(), z.unknown()).optional(),
  })
  .meta({ id: 'LoginError' });
export type LoginErrorBody = z.infer<typeof LoginErrorBody>;
