import type { FastifyReply, FastifyRequest } from 'fastify';
import { onKeysChanged } from '../bus/key-changes.ts';
import { ROLE_SCOPES, expandKeyScopes } from '../contract/roles.ts';
import type { SignedInUser } from '../contract/sign-ins.ts';
import { errors } from '../errors.ts';
import { findActiveKey } from '../store/keys.ts';
import { touchKey } from '../store/key-updates.ts';
import { findActiveSignIn } from '../store/sign-ins.ts';
import { openRequestAllowance, rateLimitHeaders } from './allowance.ts';
import type { Bounds } from './bounds.ts';
import type { Authenticate, Caller, HttpPorts } from './deps.ts';
import { openKeyCache } from './key-cache.ts';
import type { OidcProvider } from './oidc/provider.ts';
import { findTokenOwner } from './oidc/token-caller.ts';
import { isJwt } from './oidc/tokens.ts';
import { checkForgery, findSessionToken } from './session-cookie.ts';

const MAX_KEY_LENGTH = 500;
/** Pages of the console send many requests at once, so each sign-in has its own allowance. */
const SIGN_IN_REQUESTS_PER_MINUTE = 3000;

/** The key that a request carries: the header `x-api-key`, or a bearer token. */
export function findKeyText(headers: FastifyRequest['headers']): string | undefined {
  const own = headers['x-api-key'];
  if (typeof own === 'string' && own !== '') return own;
  return /^bearer +(\S+) *$/i.exec(headers.authorization ?? '')?.[1];
}

async function findKeyCaller({ db }: Pick<HttpPorts, 'db'>, text: string): Promise<Caller | undefined> {
  const key = await findActiveKey(db, text);
  if (key === undefined) return undefined;
  await touchKey(db, key.id);
  return {
    organizationId: key.organizationId,
    organization: key.organization,
    keyId: key.id,
    credentialId: key.id,
    scopes: expandKeyScopes(key.scopes),
    grantedScopes: key.scopes,
    requestsPerMinute: key.requestsPerMinute,
    tokensPerDay: key.tokensPerDay,
    models: key.models,
    user: null,
    actor: { type: 'key', id: key.id, name: key.name },
  };
}

function describePerson(user: SignedInUser) {
  const scopes = ROLE_SCOPES[user.role];
  const name = user.email ?? user.name ?? user.id;
  const actor = { type: 'user' as const, id: user.id, name };
  return { keyId: user.id, scopes, grantedScopes: scopes, user, actor, models: null, tokensPerDay: null };
}

async function findCookieCaller({ db }: Pick<HttpPorts, 'db'>, token: string): Promise<Caller | undefined> {
  const signIn = await findActiveSignIn(db, token);
  if (signIn === undefined) return undefined;
  const { organizationId, organization, owner } = signIn;
  const own = { organizationId, organization, credentialId: signIn.id, requestsPerMinute: SIGN_IN_REQUESTS_PER_MINUTE };
  if (owner.type === 'user') return { ...own, ...describePerson(owner.user) };
  const { id, name, scopes, models, tokensPerDay } = owner.key;
  await touchKey(db, id);
  return {
    ...own,
    keyId: id,
    models,
    tokensPerDay,
    scopes: expandKeyScopes(scopes),
    grantedScopes: scopes,
    user: null,
    actor: { type: 'key', id, name },
  };
}

async function findTokenCaller(
  { db }: Pick<HttpPorts, 'db'>,
  oidc: OidcProvider | undefined,
  token: string,
): Promise<Caller | undefined> {
  const owner = oidc && (await findTokenOwner(db, oidc, token));
  if (owner === undefined) return undefined;
  const { organizationId, organization, user, expiresAt } = owner;
  const requestsPerMinute = SIGN_IN_REQUESTS_PER_MINUTE;
  const own = { organizationId, organization, credentialId: user.id, expiresAt, requestsPerMinute };
  return { ...own, ...describePerson(user) };
}

/**
 * Knows callers by their key, or by the cookie of a browser that is signed in, or by an access
 * token of the identity provider, and counts their requests. One look at the
 * counter per request, none at the database.
 */
export function openAuthenticator(
  ports: Pick<HttpPorts, 'db' | 'bus' | 'limits'>,
  { unknownKeysPerMinute }: Pick<Bounds, 'unknownKeysPerMinute'>,
  oidc?: OidcProvider,
): {
  authenticate: Authenticate;
  start(): Promise<void>;
  close(): Promise<void>;
} {
  const keys = openKeyCache((text) => findKeyCaller(ports, text), unknownKeysPerMinute);
  const cookies = openKeyCache((token) => findCookieCaller(ports, token), unknownKeysPerMinute);
  const tokens = openKeyCache((token) => findTokenCaller(ports, oidc, token), unknownKeysPerMinute);
  const requests = openRequestAllowance(ports.limits);
  let subscription: Awaited<ReturnType<typeof onKeysChanged>> | undefined;

  async function findCaller(request: FastifyRequest): Promise<Caller | undefined> {
    const text = findKeyText(request.headers);
    if (text !== undefined && oidc !== undefined && isJwt(text)) return tokens.find(text, request.ip);
    if (text !== undefined) return text.length > MAX_KEY_LENGTH ? undefined : keys.find(text, request.ip);
    const token = findSessionToken(request.headers);
    if (token === undefined) return undefined;
    const caller = await cookies.find(token, request.ip);
    if (caller !== undefined) checkForgery(request);
    return caller;
  }

  return {
    async authenticate(request: FastifyRequest, reply: FastifyReply) {
      const caller = await findCaller(request);
      if (caller === undefined) throw errors.unauthorized();
      const isRead = request.method === 'GET' || request.method === 'HEAD';
      const allowance = await requests.take(caller.credentialId, caller.requestsPerMinute, isRead);
      void reply.headers(rateLimitHeaders(allowance));
      return caller;
    },
    async start() {
      subscription = await onKeysChanged(ports.bus, () => {
        keys.clear();
        cookies.clear();
        tokens.clear();
      });
    },
    async close() {
      subscription?.close();
    },
  };
}
