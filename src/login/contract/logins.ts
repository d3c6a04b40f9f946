import { z } from 'zod';
import { CursorPage, Timestamp, cursorListOf, queryList } from '../../platform/contract/common.ts';
import { LoginActionKind, LoginErrorBody, LoginOption } from './errors.ts';
import { SiteSession } from './shapes.ts';

export const LoginState = z.enum(['running', 'awaiting_input', 'awaiting_external_action', 'succeeded', 'failed']);
export type LoginState = z.infer<typeof LoginState>;

/** The kinds of input that a login can wait for. */
export const LoginWaiting = z
  .object({
    challengeId: z.string(),
    kind: LoginActionKind,
    hint: z.string().nullable(),
    options: z.array(LoginOption),
    /** the expected format of `input` */
    fields: z.array(z.enum(['code', 'link', 'option', 'done'])),
    /** attempts left after a wrong code */
    attemptsLeft: z.int().optional(),
    expiresAt: Timestamp,
  })
  .meta({ id: 'LoginWaiting' });
export type LoginWaiting = z.infer<typeof LoginWaiting>;

const Challenge = z
  .object({ challengeId: z.string(), kind: z.string(), hint: z.string().nullable(), expiresAt: Timestamp })
  .meta({ id: 'LoginChallengeSummary' });

export const LoginRecord = z
  .object({
    object: z.literal('login'),
    id: z.string(),
    /** the same as `id` */
    loginId: z.string(),
    operation: z.enum(['login', 'signup', 'refresh']),
    origin: z.string(),
    /** the user name, masked except for its beginning and domain */
    usernameHint: z.string().nullable(),
    method: z.string(),
    state: LoginState,
    /** the state in a coarser form */
    status: z.enum(['running', 'waiting', 'succeeded', 'failed']),
    /** the pending challenge */
    action: LoginWaiting.nullable(),
    /** the same in short form */
    challenge: Challenge.nullable(),
    /** a page on which a person can help while the login waits; the address is the only credential */
    helpUrl: z.string().nullable(),
    helpUrlExpiresAt: Timestamp.nullable(),
    error: LoginErrorBody.omit({ requestId: true }).nullable(),
    cache: z.enum(['hit', 'miss', 'revalidated', 'coalesced']).nullable(),
    credentialId: z.string().nullable(),
    /** whether `/picture` returns an image */
    hasPicture: z.boolean(),
    startedAt: Timestamp,
    endedAt: Timestamp.nullable(),
    durationMs: z.int().nullable(),
    /** only for a successful login, while its session is stored; absent in lists */
    session: SiteSession.nullable().optional(),
  })
  .meta({ id: 'Login' });
export type LoginRecord = z.infer<typeof LoginRecord>;

export const LoginList = cursorListOf(LoginRecord);
export const LoginListQuery = CursorPage.extend({
  state: queryList(LoginState).optional(),
  status: z.enum(['running', 'waiting', 'succeeded', 'failed']).optional(),
});

/** One observation of a page: names of signals and kinds, no texts, no values. */
export const LoginTraceEntry = z
  .object({
    /** since the login began */
    atMs: z.int(),
    /** origin and path of the page */
    page: z.string(),
    /** HTTP status of its document; 0 before the first */
    status: z.int(),
    /** the purpose of its forms, and why they were filled or not */
    kind: z.string(),
    reason: z.string(),
    /** detected fields and buttons, by role */
    fields: z.array(z.string()),
    /** signals that decided the kind */
    evidence: z.array(z.string()),
    /** signals for or against success */
    signals: z.array(z.string()),
    /** the interstitial page, if it is one */
    between: z.string().nullable(),
    /** the next action */
    action: z.string(),
  })
  .meta({ id: 'LoginTraceEntry' });
export type LoginTraceEntry = z.infer<typeof LoginTraceEntry>;

export const LoginTrace = z
  .object({
    object: z.literal('login.trace'),
    id: z.string(),
    state: LoginState,
    error: LoginErrorBody.omit({ requestId: true }).nullable(),
    entries: z.array(LoginTraceEntry),
  })
  .meta({ id: 'LoginTrace' });
export type LoginTrace = z.infer<typeof LoginTrace>;
