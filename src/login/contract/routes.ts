// Tests: test/login/service.test.ts
import { z } from 'zod';
import { COMMON_ERRORS, buildOpenApi } from '../../platform/contract/openapi.ts';
import type { ErrorCatalogue } from '../../platform/contract/openapi.ts';
import { defineRoute } from '../../platform/contract/route.ts';
import type { Route } from '../../platform/contract/route.ts';
import { asyncLoginRoutes } from './login-routes.ts';
import { LOGIN_ERROR_STATUS, LoginErrorBody, publicLoginCode } from './errors.ts';
import type { LoginErrorCode } from './errors.ts';
import { InboundMailbox, NewInboundMailbox } from './mailboxes.ts';
import { LOGIN_EXAMPLES, listLoginErrorExamples } from './examples.ts';
import { ChallengeAnswer, LoginRequest, RefreshRequest, SignupRequest, SiteSession } from './shapes.ts';
import {
  CredentialChange,
  CredentialList,
  CredentialListQuery,
  NewCredential,
  StoredCredential,
} from './credentials.ts';

const BODY_LIMIT = 64 * 1024;
const CredentialParams = z.object({ credentialId: z.string().min(1).max(256) });
const login = { tag: 'Website login', scope: 'login', bodyLimit: BODY_LIMIT } as const;

const OF_SITES: readonly LoginErrorCode[] = [
  'unsafe_domain',
  'verification_required',
  'action_required',
  'invalid_credentials',
  'invalid_code',
  'login_form_not_found',
  'ambiguous_form',
  'captcha_required',
  'account_locked',
  'account_suspended',
  'password_change_required',
  'enrolment_required',
  'passkey_required',
  'sso_required',
  'login_unproven',
  'site_unreachable',
  'capacity',
  'login_timeout',
];

export const loginRoutes = {
  login: defineRoute({
    ...login,
    id: 'login',
    method: 'POST',
    path: '/api/login',
    summary: 'Sign in to a website and get the session; the header x-session-cache names its source',
    body: LoginRequest,
    responses: { 200: SiteSession },
    errors: [...OF_SITES, 'method_not_available'],
  }),
  signup: defineRoute({
    ...login,
    id: 'signup',
    method: 'POST',
    path: '/api/signup',
    summary: 'Create an account on a website and store its credentials',
    body: SignupRequest,
    responses: { 201: SiteSession },
    errors: [...OF_SITES, 'account_exists', 'signup_rejected', 'method_not_available'],
  }),
  refresh: defineRoute({
    ...login,
    id: 'refresh',
    method: 'POST',
    path: '/api/refresh',
    summary: 'The session of a stored credential: the cached one while it works, else a new one',
    body: RefreshRequest,
    responses: { 200: SiteSession },
    errors: [...OF_SITES, 'not_found'],
  }),
  answerChallenge: defineRoute({
    ...login,
    id: 'answerChallenge',
    method: 'POST',
    path: '/api/challenges/{challengeId}',
    summary: 'Answer the challenge of a login or signup; the response is that of the original call',
    params: z.object({ challengeId: z.string().min(1).max(256) }),
    body: ChallengeAnswer,
    responses: { 200: SiteSession, 201: SiteSession },
    errors: [...OF_SITES, 'account_exists', 'signup_rejected', 'not_found', 'challenge_expired'],
  }),
  listCredentials: defineRoute({
    ...login,
    orScope: 'services:read',
    id: 'listStoredCredentials',
    method: 'GET',
    path: '/api/credentials',
    summary: 'Stored credentials, newest first, without their secrets',
    query: CredentialListQuery,
    responses: { 200: CredentialList },
    errors: [],
  }),
  createCredential: defineRoute({
    ...login,
    id: 'createStoredCredential',
    method: 'POST',
    path: '/api/credentials',
    summary: 'Store an existing account, encrypted, for refresh and for agents; nothing is sent to the site',
    body: NewCredential,
    responses: { 201: StoredCredential },
    errors: ['unsafe_domain', 'method_not_available'],
  }),
  getCredential: defineRoute({
    ...login,
    orScope: 'services:read',
    id: 'getStoredCredential',
    method: 'GET',
    path: '/api/credentials/{credentialId}',
    summary: 'A stored credential and its health, without its secrets',
    params: CredentialParams,
    responses: { 200: StoredCredential },
    errors: ['not_found'],
  }),
  updateCredential: defineRoute({
    ...login,
    id: 'updateStoredCredential',
    method: 'PATCH',
    path: '/api/credentials/{credentialId}',
    summary: 'Change the secrets of a stored credential, and delete its session',
    params: CredentialParams,
    body: CredentialChange,
    responses: { 200: StoredCredential },
    errors: ['not_found', 'method_not_available'],
  }),
  createMailbox: defineRoute({
    ...login,
    id: 'createInboundMailbox',
    method: 'POST',
    path: '/api/mailboxes',
    summary: 'A mailbox that a provider of email or text messages posts to, for codes and links',
    body: NewInboundMailbox,
    responses: { 201: InboundMailbox },
    errors: [],
  }),
  deleteCredential: defineRoute({
    ...login,
    id: 'deleteStoredCredential',
    method: 'DELETE',
    path: '/api/credentials/{credentialId}',
    summary: 'Delete a stored credential and its session',
    params: CredentialParams,
    responses: {
      200: z.object({ object: z.literal('credential.deleted'), credentialId: z.string(), deleted: z.literal(true) }),
    },
    errors: ['not_found'],
  }),
};

const LOGIN_ERRORS: ErrorCatalogue<LoginErrorCode> = {
  status: LOGIN_ERROR_STATUS,
  common: COMMON_ERRORS,
  publicCode: publicLoginCode,
  body: LoginErrorBody,
  listExamples: listLoginErrorExamples,
};

/** The OpenAPI 3.1 document of the website login. */
export function buildLoginDocument(): Record<string, unknown> {
  return buildOpenApi({
    title: 'Capstan website login',
    apiVersion: '1.0.0',
    routes: [
      ...Object.values(loginRoutes),
      ...Object.values(asyncLoginRoutes),
    ] satisfies readonly Route<LoginErrorCode>[],
    examples: LOGIN_EXAMPLES,
    errors: LOGIN_ERRORS,
  });
}
