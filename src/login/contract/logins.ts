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
    /** what `input` takes */
    fields: z.array(z.enum(['code', 'link', 'option', 'done'])),
    /** tries that are left after a wrong code */
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
    /** the user name but for its beginning and domain */
    usernameHint: z.string().nullable(),
    method: z.string(),
    state: LoginState,
    /** the state in fewer words */
    status: z.enum(['running', 'waiting', 'succeeded', 'failed']),
    /** what it waits for */
    action: LoginWaiting.nullable(),
    /** the same, shorter */
    challenge: Challenge.nullable(),
    /** a page on which a person may help, while it waits; whoever has the address needs no key */
    helpUrl: z.string().nullable(),
    helpUrlExpiresAt: Timestamp.nullable(),
    error: LoginErrorBody.omit({ requestId: true }).nullable(),
    cache: z.enum(['hit', 'miss', 'revalidated', 'coalesced']).nullable(),
    credentialId: z.string().nullable(),
    /** whether `/picture` shows something */
    hasPicture: z.boolean(),
    startedAt: Timestamp,
    endedAt: Timestamp.nullable(),
    durationMs: z.int().nullable(),
    /** of a login that succeeded, while the session is stored; in lists absent */
    session: SiteSession.nullable().optional(),
  })
  .meta({ id: 'Login' });
export type LoginRecord = z.infer<typeof LoginRecord>;

export const LoginList = cursorListOf(LoginRecord);
export const LoginListQuery = CursorPage.extend({
  state: queryList(LoginState).optional(),
  status: z.enum(['running', 'waiting', 'succeeded', 'failed']).optional(),
});

/** One look at a page: names of signals and kinds, no texts, no values. */
export const LoginTraceEntry = z
  .object({
    /** since the login began */
    atMs: z.int(),
    /** origin and path of the page */
    page: z.string(),
    /** HTTP status of its document; 0 before the first */
    status: z.int(),
    /** what its forms are for, and why they were filled or not */
    kind: z.string(),
    reason: z.string(),
    /** fields and buttons that were found, by their part */
    fields: z.array(z.string()),
    /** what led to the kind */
    evidence: z.array(z.string()),
    /** what speaks for or against a success */
    signals: z.array(z.string()),
    /** the page in between, where it is one */
    between: z.string().nullable(),
    /** what was done next */
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
