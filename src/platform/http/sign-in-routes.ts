import type { FastifyInstance, FastifyRequest } from 'fastify';
import { sendKeysChanged } from '../bus/key-changes.ts';
import { SERVICES, signInRoutes } from '../contract/sign-ins.ts';
import type { SignInMethod } from '../contract/sign-ins.ts';
import { VERSION } from '../contract/version.ts';
import { ApiError, errors } from '../errors.ts';
import type { Limits } from '../limits/limits.ts';
import { findActiveKey } from '../store/keys.ts';
import { createSignIn, deleteSignIn } from '../store/sign-ins.ts';
import { PERIOD_MS } from './allowance.ts';
import { clientNetwork } from './client-address.ts';
import type { HttpDeps, HttpPorts } from './deps.ts';
import { registerOpenRoute, registerRoute } from './route.ts';
import {
  buildSessionCookie,
  checkForeignPage,
  clearSessionCookie,
  findCookieScope,
  findSessionToken,
} from './session-cookie.ts';

const FAILURES_PER_MINUTE = 10;
const NO_STORE = { 'cache-control': 'no-store' };

/** Counts an attempt as failed until it is known that it was not. Throws `rate_limited` after too many from one address. */
async function countFailure(limits: Limits, request: FastifyRequest): Promise<() => Promise<void>> {
  const name = `sign-in-failures:${clientNetwork(request.ip)}`;
  const { allowed, resetMs } = await limits.take(name, 1, FAILURES_PER_MINUTE, PERIOD_MS);
  if (!allowed) {
    throw new ApiError('rate_limited', 'Too many sign-ins from this address have failed.', {
      retryAfterSeconds: Math.max(1, Math.ceil(resetMs / 1000)),
    });
  }
  return () => limits.refund(name, 1);
}

/** `GET /v1/me`, and what signs a browser in and out with an API key. */
export function registerSignInRoutes(app: FastifyInstance, deps: HttpPorts & HttpDeps): void {
  const { db, bus, limits, publicUrl } = deps;

  registerRoute(app, deps, signInRoutes.getCaller, async ({ caller }) => {
    const { organization, organizationId, user, requestsPerMinute } = caller;
    const body = { object: 'caller', organization, organizationId, keyId: user === null ? caller.keyId : null, user };
    return {
      status: 200,
      headers: NO_STORE,
      body: {
        ...body,
        scopes: caller.grantedScopes,
        effectiveScopes: caller.scopes,
        requestsPerMinute,
        services: SERVICES,
        version: VERSION,
      },
    };
  });

  registerOpenRoute(app, signInRoutes.createSignIn, async ({ body, request }) => {
    checkForeignPage(request);
    const refund = await countFailure(limits, request);
    const key = await findActiveKey(db, body.key);
    if (key === undefined) throw errors.unauthorized();
    await refund();
    const { organization, organizationId, scopes } = key;
    const before = findSessionToken(request.headers);
    const made = await db.transaction(async (tx) => {
      if (before !== undefined) await deleteSignIn(tx, { token: before });
      return createSignIn(tx, { organizationId, keyId: key.id });
    });
    if (before !== undefined) sendKeysChanged(bus);
    const cookie = buildSessionCookie(made.token, findCookieScope(request, publicUrl));
    return {
      status: 201,
      headers: { ...NO_STORE, 'set-cookie': cookie },
      body: {
        object: 'sign_in',
        id: made.id,
        organization,
        organizationId,
        scopes,
        expiresAt: made.expiresAt.toISOString(),
      },
    };
  });

  registerRoute(app, deps, signInRoutes.deleteSignIn, async ({ caller, request }) => {
    const ended = await deleteSignIn(db, { id: caller.credentialId });
    if (ended === undefined) throw errors.notFound('sign-in');
    sendKeysChanged(bus);
    return {
      status: 200,
      headers: { ...NO_STORE, 'set-cookie': clearSessionCookie(findCookieScope(request, publicUrl)) },
      body: { object: 'sign_in.deleted', id: ended.id, deleted: true, logoutUrl: null },
    };
  });

  registerOpenRoute(app, signInRoutes.listSignInMethods, async () => {
    const data: SignInMethod[] = [{ type: 'key', issuer: null, href: null }];
    return { status: 200, body: { object: 'list', data } };
  });
}
