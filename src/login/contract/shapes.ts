import { z } from 'zod';
import { NO_CONTROL_CHARACTERS, Timestamp } from '../../platform/contract/common.ts';

export const LOGIN_METHODS = [
  'password',
  'totp',
  'otp_email',
  'magic_link',
  'otp_sms',
  'oauth_google',
  'oauth_github',
  'oauth_microsoft',
  'oauth',
] as const;
export const LoginMethod = z.enum(LOGIN_METHODS);
export type LoginMethod = z.infer<typeof LoginMethod>;

/** Signing in on another service's pages. What they need is checked once it is known that they are switched on. */
const BY_PROVIDER: readonly LoginMethod[] = ['oauth_google', 'oauth_github', 'oauth_microsoft', 'oauth'];

/** The methods enabled by default; the others answer 501. */
export const DEFAULT_LOGIN_METHODS: readonly LoginMethod[] = ['password', 'totp', 'otp_email', 'magic_link'];

export const Secret = z.string().min(1).max(1024);
export const Username = z.string().min(1).max(320);

/** Full http(s) URL of a page. */
export const SiteUrl = z
  .string()
  .max(2048)
  .refine((text) => {
    const url = URL.parse(text);
    return url !== null && (url.protocol === 'http:' || url.protocol === 'https:');
  }, 'must be a full URL of http or https');

export const TotpSecret = z.string().min(8).max(2048);

/** A mailbox that is read over IMAP while a login or signup waits for a code or link. */
export const ImapMailbox = z
  .object({
    type: z.literal('imap'),
    host: z
      .string()
      .max(253)
      .regex(/^[^\s!-,/;-@\\^`{-\u009f]+$/, 'must be the name or address of a server'),
    port: z.int().min(1).max(65_535).default(993),
    /** TLS from the first byte; without it, as soon as the server offers it */
    secure: z.boolean().default(true),
    username: Username,
    password: Secret,
    folder: z
      .string()
      .min(1)
      .max(200)
      .regex(NO_CONTROL_CHARACTERS, 'must not contain control characters')
      .default('INBOX'),
  })
  .meta({ id: 'ImapMailbox' });
export type ImapMailbox = z.infer<typeof ImapMailbox>;

/** Where codes and links come from: a mailbox, or `webhook`: one that providers post to, else the client that answers. */
export const LoginMailbox = z.discriminatedUnion('type', [
  ImapMailbox,
  z
    .object({
      type: z.literal('webhook'),
      /** of `POST /api/mailboxes` */
      mailboxId: z.string().min(1).max(64).optional(),
    })
    .meta({ id: 'WebhookMailbox' }),
]);
export type LoginMailbox = z.infer<typeof LoginMailbox>;

/** The service on whose pages one signs in: required by `oauth`, and known for the other methods of that kind. */
export const IdentityProviderRef = z
  .object({
    url: SiteUrl,
    /** words of its button on the site; by default its name */
    name: z.string().min(1).max(60).optional(),
  })
  .meta({ id: 'IdentityProvider' });
export type IdentityProviderRef = z.infer<typeof IdentityProviderRef>;

/** Fields that the method asks for; others are ignored. */
export const LoginCred = z
  .object({
    username: Username.optional(),
    password: Secret.optional(),
    /** base-32 or an `otpauth://` URI */
    totpSecret: TotpSecret.optional(),
    totpCode: z
      .string()
      .regex(/^\d{4,10}$/, 'must be 4 to 10 digits')
      .optional(),
    phone: z.string().min(3).max(40).optional(),
    mailbox: LoginMailbox.optional(),
    identityProvider: IdentityProviderRef.optional(),
  })
  .meta({ id: 'LoginCred' });
export type LoginCred = z.infer<typeof LoginCred>;

export const CollectionId = z
  .string()
  .min(1)
  .max(128)
  .regex(NO_CONTROL_CHARACTERS, 'must not contain control characters');

/** Extra fields of the form by name, id or label; the names below have meanings of their own. */
export const AdditionalFields = z.record(z.string().min(1).max(200), z.unknown()).superRefine((fields, context) => {
  const { allowedDomains, successSelector, successUrl } = fields;
  for (const [name, value] of Object.entries({ successSelector, successUrl })) {
    const isFine = value === undefined || (typeof value === 'string' && value !== '' && value.length <= 1000);
    if (!isFine)
      context.addIssue({ code: 'custom', path: [name], message: 'must be text of at most 1,000 characters' });
  }
  const isList = Array.isArray(allowedDomains) && allowedDomains.every((item) => typeof item === 'string');
  if (allowedDomains !== undefined && (!isList || allowedDomains.length > 20)) {
    context.addIssue({ code: 'custom', path: ['allowedDomains'], message: 'must be at most 20 domains' });
  }
  for (const [name, value] of Object.entries(fields)) {
    if (name === 'allowedDomains' || ['string', 'number', 'boolean'].includes(typeof value)) continue;
    context.addIssue({ code: 'custom', path: [], message: 'must hold text, numbers and booleans' });
    return;
  }
  if (Object.keys(fields).length > 50) {
    context.addIssue({ code: 'custom', path: [], message: 'must be at most 50 entries' });
  }
});

const timeoutSeconds = z.int().min(5).max(180);

/** The parts of `cred` that a method needs. */
export function checkCred(
  { cred, loginMethod }: { cred: LoginCred & { passkeys?: unknown }; loginMethod: LoginMethod },
  context: z.RefinementCtx,
): void {
  if (BY_PROVIDER.includes(loginMethod)) return;
  const need = (field: 'username' | 'password') => {
    if (cred[field] === undefined) context.addIssue({ code: 'custom', path: ['cred', field], message: 'is required' });
  };
  const passwordOnly = loginMethod === 'password' || loginMethod === 'totp';
  // Some sites have a password and no user name.
  if (!passwordOnly) need('username');
  if (passwordOnly && cred.passkeys === undefined) need('password');
  if (loginMethod === 'totp' && cred.totpSecret === undefined && cred.totpCode === undefined) {
    context.addIssue({
      code: 'custom',
      path: ['cred', 'totpSecret'],
      message: 'is required unless totpCode is given',
    });
  }
}

export const HelpScope = z.enum(['none', 'captcha', 'any']);
export type HelpScope = z.infer<typeof HelpScope>;

export const LoginRequest = z
  .object({
    cred: LoginCred,
    loginMethod: LoginMethod,
    domain: SiteUrl,
    collectionId: CollectionId.optional(),
    additionalFields: AdditionalFields.optional(),
    useCache: z.boolean().default(true),
    /** which pages wait for a person instead of failing: none, captchas, or all that the login cannot pass */
    help: HelpScope.optional(),
    /** for the whole login; default 60 */
    timeoutSeconds: timeoutSeconds.default(60),
  })
  .superRefine(checkCred)
  .meta({ id: 'LoginRequest' });
export type LoginRequest = z.infer<typeof LoginRequest>;

export const SIGNUP_METHODS = ['email', 'oauth', 'invitation'] as const;

export const SignupRequest = z
  .object({
    signup_method: z.enum(SIGNUP_METHODS),
    domain: SiteUrl,
    cred: z
      .object({
        email: z.email().max(320).optional(),
        password: Secret.optional(),
        username: Username.optional(),
        mailbox: LoginMailbox.optional(),
      })
      .meta({ id: 'SignupCred' }),
    invite_token: z.string().min(1).max(1024).optional(),
    collectionId: CollectionId.optional(),
    additionalFields: AdditionalFields.optional(),
    timeoutSeconds: timeoutSeconds.default(60),
  })
  .superRefine((request, context) => {
    if (request.signup_method === 'invitation' && request.invite_token === undefined) {
      context.addIssue({ code: 'custom', path: ['invite_token'], message: 'is required for the method invitation' });
    }
    if (request.signup_method === 'oauth') return;
    if (request.cred.email === undefined && request.cred.username === undefined) {
      context.addIssue({ code: 'custom', path: ['cred', 'email'], message: 'is required unless username is given' });
    }
  })
  .meta({ id: 'SignupRequest' });
export type SignupRequest = z.infer<typeof SignupRequest>;

export const RefreshRequest = z
  .object({
    credentialId: z.string().min(1).max(256),
    /** log in again even if the stored session still works */
    force: z.boolean().default(false),
    timeoutSeconds: timeoutSeconds.default(60),
  })
  .meta({ id: 'RefreshRequest' });
export type RefreshRequest = z.infer<typeof RefreshRequest>;

export const ChallengeAnswer = z
  .object({
    code: z.string().trim().min(1).max(64).optional(),
    link: SiteUrl.optional(),
    /** id or label of one of the options */
    option: z.string().trim().min(1).max(200).optional(),
    /** the caller has acted elsewhere: observe the page again now */
    done: z.literal(true).optional(),
  })
  .refine((answer) => Object.values(answer).filter((value) => value !== undefined).length === 1, {
    path: ['code'],
    message: 'is required unless link, option or done is given; one of them alone',
  })
  .meta({ id: 'ChallengeAnswer' });
export type ChallengeAnswer = z.infer<typeof ChallengeAnswer>;

export const SessionCookie = z
  .object({
    name: z.string(),
    value: z.string(),
    domain: z.string(),
    path: z.string(),
    /** Unix seconds; -1 for a cookie that lasts as long as the browser */
    expires: z.number(),
    httpOnly: z.boolean(),
    secure: z.boolean(),
    sameSite: z.enum(['Strict', 'Lax', 'None']),
    partitionKey: z.string().optional(),
  })
  .meta({ id: 'SessionCookie' });
export type SessionCookie = z.infer<typeof SessionCookie>;

/** As Playwright's `storageState` takes it. */
export const StorageState = z
  .object({
    cookies: z.array(SessionCookie),
    origins: z.array(
      z
        .object({ origin: z.string(), localStorage: z.array(z.object({ name: z.string(), value: z.string() })) })
        .loose(),
    ),
  })
  .meta({ id: 'StorageState' });
export type StorageState = z.infer<typeof StorageState>;

export const SiteSession = z
  .object({
    cookies: z.array(SessionCookie),
    origins: z.array(z.string()),
    storageState: StorageState,
    /** the final page of the login */
    url: z.string().optional(),
    /** user agent of the browser that signed in: some sites bind the session to it */
    userAgent: z.string().optional(),
    /** the signals that prove the login */
    signs: z.array(z.string()).optional(),
    username: z.string().optional(),
    /** of the stored credential: answers of signup and refresh */
    credentialId: z.string().optional(),
    /** when the first authentication cookie expires, 24 hours after the login at most */
    expiresAt: Timestamp.optional(),
  })
  .meta({ id: 'SiteSession' });
export type SiteSession = z.infer<typeof SiteSession>;
