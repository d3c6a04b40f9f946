import { z } from 'zod';
import { Id, Timestamp, deletedBody } from './common.ts';
import { Scope } from './keys.ts';
import { Role } from './roles.ts';
import { defineRoute } from './route.ts';

/** A person, as the identity provider names them. */
export const SignedInUser = z
  .object({
    id: Id,
    email: z.string().nullable(),
    name: z.string().nullable(),
    role: Role,
    groups: z.array(z.string()),
  })
  .meta({ id: 'SignedInUser' });
export type SignedInUser = z.infer<typeof SignedInUser>;

export const SERVICES = ['agents', 'inference', 'video', 'login'] as const;

/**
 * Whose request this is, and what it may do: `effectiveScopes` are `scopes` and what they imply. `keyId` is null for a
 * person, `user` for a key.
 */
export const CallerInfo = z
  .object({
    object: z.literal('caller'),
    organization: z.string(),
    organizationId: Id,
    keyId: Id.nullable(),
    user: SignedInUser.nullable(),
    scopes: z.array(Scope),
    effectiveScopes: z.array(Scope),
    requestsPerMinute: z.int(),
    services: z.array(z.enum(SERVICES)),
    version: z.string(),
  })
  .meta({ id: 'Caller' });

export const SignInCreate = z.object({ key: z.string().min(1).max(500) }).meta({ id: 'SignInCreate' });

/** `expiresAt`: the latest time; 12 hours without a request end it before. */
export const SignIn = z
  .object({
    object: z.literal('sign_in'),
    id: Id,
    organization: z.string(),
    organizationId: Id,
    scopes: z.array(Scope),
    expiresAt: Timestamp,
  })
  .meta({ id: 'SignIn' });
export type SignIn = z.infer<typeof SignIn>;

/** `logoutUrl`: where the browser goes next to end the session at the identity provider too. */
export const SignInDeleted = deletedBody('sign_in.deleted').extend({ logoutUrl: z.string().nullable() });

/** `href`: where the browser goes to sign in; null for a key, which `POST /v1/sign-ins` takes. */
export const SignInMethod = z
  .object({ type: z.enum(['key', 'oidc']), issuer: z.string().nullable(), href: z.string().nullable() })
  .meta({ id: 'SignInMethod' });
export type SignInMethod = z.infer<typeof SignInMethod>;

const tag = 'Sign-in';

export const signInRoutes = {
  getCaller: defineRoute({
    tag,
    id: 'getCaller',
    method: 'GET',
    path: '/v1/me',
    summary: 'Whose key or sign-in this is, and its scopes',
    responses: { 200: CallerInfo },
    errors: [],
  }),
  createSignIn: defineRoute({
    tag,
    open: true,
    id: 'createSignIn',
    method: 'POST',
    path: '/v1/sign-ins',
    summary: 'Sign a browser in with an API key; the answer sets a cookie',
    body: SignInCreate,
    responses: { 201: SignIn },
    errors: [],
  }),
  deleteSignIn: defineRoute({
    tag,
    id: 'deleteSignIn',
    method: 'DELETE',
    path: '/v1/sign-ins/current',
    summary: 'Sign this browser out',
    responses: { 200: SignInDeleted },
    errors: ['not_found'],
  }),
  listSignInMethods: defineRoute({
    tag,
    open: true,
    id: 'listSignInMethods',
    method: 'GET',
    path: '/v1/sign-in-methods',
    summary: 'The ways to sign a browser in',
    responses: { 200: z.object({ object: z.literal('list'), data: z.array(SignInMethod) }) },
    errors: [],
  }),
};
