import type { FastifyInstance, FastifyRequest } from 'fastify';
import { sendKeysChanged } from '../bus/key-changes.ts';
import { SERVICES, signInRoutes } from '../contract/sign-ins.ts';
import type { SignInMethod } from '../contract/sign-ins.ts';
import { VERSION } from '../contract/version.ts';
import { errorText, errors } from '../errors.ts';
import { findActiveKey } from '../store/keys.ts';
import { createSignIn, deleteSignIn } from '../store/sign-ins.ts';
import type { EndedSignIn } from '../store/sign-ins.ts';
import { openIdToken, registerOidcRoutes } from './oidc/oidc-routes.ts';
import type { OidcDeps } from './oidc/oidc-routes.ts';
import { findBase } from './public-base.ts';
import { countFailure } from './sign-in-failures.ts';
import { registerOpenRoute, registerRoute } from './route.ts';
import {
  buildSessionCookie,
  checkForeignPage,
  clearSessionCookie,
  findCookieScope,
  findSessionToken,
} from './session-cookie.ts';

const NO_STORE = { 'cache-control': 'no-store' };

/**
 * Where a person's browser ends its session at the identity provider; null for a key, or while that cannot be asked.
 */
async function findLogoutUrl(deps: OidcDeps, ended: EndedSignIn, request: FastifyRequest): Promise<string | null> {
  const { oidc, log, masterKeys, publicUrl } = deps;
  if (oidc === undefined || ended.userId === null) return null;
  try {
    const returnTo = `${findBase(request, publicUrl)}/console/signin`;
    return await oidc.findLogoutUrl(returnTo, openIdToken(masterKeys, ended.idToken));
  } catch (error) {
    log.warn({ error: errorText(error) }, 'could not notify the identity provider of a logout');
    return null;
  }
}

/** `GET /v1/me`, and what signs a browser in and out. */
export function registerSignInRoutes(app: FastifyInstance, deps: OidcDeps): void {
  const { db, bus, limits, publicUrl, oidc, audit } = deps;

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
      const signIn = await createSignIn(tx, { organizationId, keyId: key.id });
      await audit.add(tx, {
        organization,
        organizationId,
        actor: { type: 'key', id: key.id, name: key.name },
        action: signInRoutes.createSignIn.id,
        resource: { type: 'sign_in', id: signIn.id },
        request,
      });
      return signIn;
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
      body: {
        object: 'sign_in.deleted',
        id: ended.id,
        deleted: true,
        logoutUrl: await findLogoutUrl(deps, ended, request),
      },
    };
  });

  registerOpenRoute(app, signInRoutes.listSignInMethods, async ({ request }) => {
    const data: SignInMethod[] = [{ type: 'key', issuer: null, href: null }];
    if (oidc !== undefined) {
      data.unshift({
        type: 'oidc',
        issuer: oidc.config.issuer,
        href: `${findBase(request, publicUrl)}/v1/sign-ins/oidc`,
      });
    }
    return { status: 200, body: { object: 'list', data } };
  });

  if (oidc !== undefined) registerOidcRoutes(app, deps, oidc);
}
