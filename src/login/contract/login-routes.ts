import { z } from 'zod';
import { defineRoute } from '../../platform/contract/route.ts';
import { LoginList, LoginListQuery, LoginRecord, LoginTrace } from './logins.ts';
import { ChallengeAnswer, LoginRequest } from './shapes.ts';

const BODY_LIMIT = 64 * 1024;
const login = { tag: 'Website login', scope: 'login', bodyLimit: BODY_LIMIT } as const;
const params = z.object({ loginId: z.string().min(1).max(256) });

/** Logins that run without an open call. */
export const asyncLoginRoutes = {
  startLogin: defineRoute({
    ...login,
    id: 'startLogin',
    method: 'POST',
    path: '/api/logins',
    summary: 'Start a website login; its record shows the challenge or the outcome',
    body: LoginRequest,
    responses: { 202: LoginRecord },
    errors: ['unsafe_domain', 'site_unreachable', 'method_not_available'],
  }),
  listLogins: defineRoute({
    ...login,
    orScope: 'services:read',
    id: 'listLogins',
    method: 'GET',
    path: '/api/logins',
    summary: 'Logins, signups and refreshes for which a browser signed in, newest first; kept for 7 days',
    query: LoginListQuery,
    responses: { 200: LoginList },
    errors: [],
  }),
  getLogin: defineRoute({
    ...login,
    id: 'getLogin',
    method: 'GET',
    path: '/api/logins/{loginId}',
    summary: 'A login, and its session once it has succeeded',
    params,
    responses: { 200: LoginRecord },
    errors: ['not_found'],
  }),
  giveLoginInput: defineRoute({
    ...login,
    id: 'giveLoginInput',
    method: 'POST',
    path: '/api/logins/{loginId}/input',
    summary: 'Answer the challenge of a login with a code, link or choice',
    params,
    body: ChallengeAnswer,
    responses: { 202: LoginRecord },
    errors: ['not_found', 'conflict', 'challenge_expired'],
  }),
  deleteLogin: defineRoute({
    ...login,
    id: 'deleteLogin',
    method: 'DELETE',
    path: '/api/logins/{loginId}',
    summary: 'End a login and delete its record; its session is kept',
    params,
    responses: {
      200: z.object({ object: z.literal('login.deleted'), id: z.string(), deleted: z.literal(true) }),
    },
    errors: ['not_found'],
  }),
  streamLogin: defineRoute({
    ...login,
    id: 'streamLogin',
    method: 'GET',
    path: '/api/logins/{loginId}/events',
    summary: 'Server-sent events `login.updated` with the record, at once and at every change, until the login ends',
    params,
    responses: { 200: 'stream' },
    errors: ['not_found'],
  }),
  getLoginTrace: defineRoute({
    ...login,
    orScope: 'services:read',
    id: 'getLoginTrace',
    method: 'GET',
    path: '/api/logins/{loginId}/trace',
    summary: 'Observations and actions of a login, without texts and values of its pages',
    params,
    responses: { 200: LoginTrace },
    errors: ['not_found'],
  }),
  getLoginPicture: defineRoute({
    ...login,
    id: 'getLoginPicture',
    method: 'GET',
    path: '/api/logins/{loginId}/picture',
    summary: 'JPEG of the live page of a login, with its fields covered',
    params,
    responses: { 200: 'binary' },
    errors: ['not_found'],
  }),
};
