import type { Example } from '../../platform/contract/examples/example.ts';
import { LATER, TIME } from '../../platform/contract/examples/example.ts';
import { LOGIN_ERROR_STATUS, publicLoginCode } from './errors.ts';
import type { LoginErrorBody, LoginErrorCode } from './errors.ts';

const MESSAGES: Record<LoginErrorCode, string> = {
  validation_error: 'cred.password: is required',
  unsafe_domain: 'domain: leads to an address that is not on the public internet.',
  unauthorized: 'The API key is missing, invalid or revoked.',
  forbidden: 'The API key lacks the scope login.',
  not_found: 'No such credential.',
  method_not_allowed: 'The path has no such method.',
  conflict: 'The request conflicts with another one.',
  verification_required: 'The site asks for a code.',
  action_required: 'The site requires an action by the caller or a person.',
  account_exists: 'The site reports that the account already exists.',
  challenge_expired: 'The challenge is over: begin the login again.',
  payload_too_large: 'The request body must be at most 65536 bytes.',
  invalid_credentials: 'The site refused the credentials.',
  invalid_code: 'The site refused the code.',
  login_form_not_found: 'No login form was found.',
  ambiguous_form: 'Several forms are equally likely to be the login form.',
  captcha_required: 'The site requires a check that only a person can pass.',
  account_locked: 'The site reports that the account is locked or not yet usable.',
  account_suspended: 'The site reports that the account is suspended, disabled or under review.',
  password_change_required: 'The site requires a new password before it signs anyone in.',
  enrolment_required: 'The site requires another factor to be set up before it signs anyone in.',
  passkey_required: 'The site accepts only a passkey or security key.',
  sso_required: 'The site accepts only sign-ins through other services.',
  login_unproven: 'No proof of a session was found after the login.',
  signup_rejected: 'The site refused the registration.',
  rate_limited: 'Too many failed attempts for this account; wait before the next one.',
  server_error: 'The request failed unexpectedly.',
  method_not_available: 'The method otp_sms is not available here.',
  site_unreachable: 'The site could not be reached.',
  capacity: 'All browsers are busy.',
  unavailable: 'The database cannot be reached.',
  storage_full: 'The storage is full: nothing can be written until space is freed.',
  login_timeout: 'The login timed out.',
};

const CHALLENGE_ID = 'chl_01kg9ej2m3n4p5q6r7s8t9v0wa';
const LOGIN_ID = 'lgn_01kg9ej2m3n4p5q6r7s8t9v0wd';
const CREDENTIAL_ID = 'crd_01kg9ej2m3n4p5q6r7s8t9v0wb';
const REQUEST_ID = 'req_01kg9ej2m3n4p5q6r7s8t9v0wc';

const DETAILS: Partial<Record<LoginErrorCode, Record<string, unknown>>> = {
  verification_required: { challengeId: CHALLENGE_ID, kind: 'otp_email', hint: 'a•••@example.com', expiresAt: LATER },
  action_required: {
    challengeId: CHALLENGE_ID,
    kind: 'choose_factor',
    hint: 'Verify your identity',
    options: [
      { id: '1', label: 'Text +X XXX-XXX-XX42' },
      { id: '2', label: 'Use an authenticator app' },
    ],
    expiresAt: LATER,
  },
  sso_required: { providers: ['google', 'microsoft'] },
  login_unproven: { reason: 'no_proof' },
  login_form_not_found: { reason: 'no_form', page: 'none' },
  invalid_credentials: { reason: 'wrong_credentials' },
};

/** A body for each of the codes that have this status, by its public code. */
export function listLoginErrorExamples(
  codes: Iterable<LoginErrorCode>,
  status: number,
): Record<string, { value: LoginErrorBody }> {
  const ofStatus = [...codes].filter((code) => LOGIN_ERROR_STATUS[code] === status);
  return Object.fromEntries(
    ofStatus.map((code) => {
      const details = DETAILS[code];
      const value = { error: publicLoginCode(code), message: MESSAGES[code], requestId: REQUEST_ID };
      return [publicLoginCode(code), { value: { ...value, ...(details === undefined ? {} : { details }) } }];
    }),
  );
}

const cookies = [
  {
    name: 'sid',
    value: '4f0c…',
    domain: 'app.example.com',
    path: '/',
    expires: -1,
    httpOnly: true,
    secure: true,
    sameSite: 'Lax',
  },
];
const record = {
  object: 'login',
  id: LOGIN_ID,
  loginId: LOGIN_ID,
  operation: 'login',
  origin: 'https://app.example.com',
  usernameHint: 'a•••@example.com',
  method: 'password',
  state: 'running',
  status: 'running',
  action: null,
  challenge: null,
  helpUrl: null,
  helpUrlExpiresAt: null,
  error: null,
  cache: null,
  credentialId: null,
  hasPicture: true,
  startedAt: TIME,
  endedAt: null,
  durationMs: null,
};
const asked = { challengeId: CHALLENGE_ID, kind: 'choose_account', hint: 'Choose an organization', expiresAt: LATER };
const options = [
  { id: '1', label: 'Acme' },
  { id: '2', label: 'Globex' },
];
const waiting = {
  ...record,
  state: 'awaiting_input',
  status: 'waiting',
  action: { ...asked, options, fields: ['option'] },
  challenge: asked,
  helpUrl: 'https://capstan.example.com/login/WyJvcmdf….3f9c…',
  helpUrlExpiresAt: LATER,
};
const failed = {
  error: 'invalid_credentials',
  message: 'The site refused the credentials.',
  details: { reason: 'wrong_credentials' },
};
const traceEntry = {
  atMs: 812,
  page: 'https://app.example.com/login',
  status: 200,
  kind: 'login',
  reason: 'fill',
  fields: ['username', 'password', 'submit'],
  evidence: ['button says sign in'],
  signals: ['passwordField', 'passwordEmpty', 'promptsSignIn'],
  between: null,
  action: 'act-on-page',
};
const session = {
  cookies,
  origins: ['https://app.example.com'],
  storageState: { cookies, origins: [] },
  url: 'https://app.example.com/account',
  userAgent: 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/148.0.0.0 Safari/537.36',
  signs: ['form-gone', 'new-cookie', 'account'],
  username: 'ada@example.com',
  expiresAt: LATER,
};
const account = {
  credentialId: CREDENTIAL_ID,
  domain: 'https://app.example.com/login',
  username: 'ada@example.com',
  collectionId: null,
  method: 'totp',
  health: 'healthy',
  healthCode: null,
  checkedAt: TIME,
  autoRefresh: false,
  nextRefreshAt: null,
  createdAt: TIME,
  expiresAt: LATER,
};
const stored = { ...session, credentialId: CREDENTIAL_ID, expiresAt: LATER };

export const LOGIN_EXAMPLES: Readonly<Record<string, Example>> = {
  login: {
    body: {
      domain: 'https://app.example.com/login',
      loginMethod: 'password',
      cred: { username: 'ada@example.com', password: 'correct horse' },
    },
    answers: { 200: session },
  },
  startLogin: {
    body: {
      domain: 'https://app.example.com/login',
      loginMethod: 'password',
      cred: { username: 'ada@example.com', password: 'correct horse' },
    },
    answers: { 202: record },
  },
  listLogins: {
    answers: { 200: { object: 'list', data: [waiting], pagination: { limit: 50, hasMore: false, nextCursor: null } } },
  },
  getLogin: { answers: { 200: waiting } },
  giveLoginInput: { body: { option: '2' }, answers: { 202: record } },
  deleteLogin: { answers: { 200: { object: 'login.deleted', id: LOGIN_ID, deleted: true } } },
  getLoginTrace: {
    answers: { 200: { object: 'login.trace', id: LOGIN_ID, state: 'failed', error: failed, entries: [traceEntry] } },
  },
  signup: {
    body: {
      domain: 'https://app.example.com/register',
      signup_method: 'email',
      cred: { email: 'ada@example.com' },
    },
    answers: { 201: stored },
  },
  refresh: { body: { credentialId: CREDENTIAL_ID }, answers: { 200: stored } },
  answerChallenge: { body: { code: '492039' }, answers: { 200: session, 201: stored } },
  listStoredCredentials: {
    answers: {
      200: { data: [{ ...account, method: 'email' }], pagination: { limit: 1000, hasMore: false, nextCursor: null } },
    },
  },
  createStoredCredential: {
    body: {
      domain: 'https://app.example.com/login',
      loginMethod: 'totp',
      cred: { username: 'ada@example.com', password: 'correct horse', totpSecret: 'JBSWY3DPEHPK3PXP' },
    },
    answers: { 201: { ...account, health: 'unknown', checkedAt: null, expiresAt: null } },
  },
  getStoredCredential: { answers: { 200: account } },
  updateStoredCredential: {
    body: { cred: { password: 'battery staple' } },
    answers: { 200: { ...account, health: 'unknown', checkedAt: null, expiresAt: null } },
  },
  createInboundMailbox: {
    body: {},
    answers: {
      201: {
        object: 'mailbox',
        mailboxId: 'mbx_01m824b0kdesj8gta4b7etsdmf',
        url: 'https://capstan.example.com/api/inbound/WyJvcmdf….3f9c…',
        address: '01m824b0kaesj8gta1q2w3e4r501m824b0kdesj8gta4b7etsdmf3f9c0a1b2c3d@codes.example.com',
      },
    },
  },
  deleteStoredCredential: {
    answers: { 200: { object: 'credential.deleted', credentialId: CREDENTIAL_ID, deleted: true } },
  },
};
