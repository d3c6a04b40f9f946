import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { sendKeysChanged } from '../../bus/key-changes.ts';
import { ApiError, errorText, errors } from '../../errors.ts';
import type { MasterKeys, Sealed } from '../../master-key.ts';
import { isRecord } from '../../records.ts';
import { createSignIn, deleteIssuerSignIns, deleteSignIn } from '../../store/sign-ins.ts';
import type { HttpDeps, HttpPorts } from '../deps.ts';
import { findBase } from '../public-base.ts';
import { buildCookie, buildSessionCookie, findCookieScope, findSessionToken, readCookie } from '../session-cookie.ts';
import { countFailure } from '../sign-in-failures.ts';
import type { Challenge, OidcProvider } from './provider.ts';
import { findPerson } from './token-caller.ts';

const CHALLENGE_COOKIE = 'capstan_oidc';
const CHALLENGE_SECONDS = 600;
const MAX_RETURN = 2000;
const MAX_LOGGED = 500;
const ID_TOKEN = 'id token of a sign-in';
const NO_STORE = { 'cache-control': 'no-store' };

/** Who takes part in a sign-in at an identity provider. */
export type OidcDeps = HttpPorts & HttpDeps & { masterKeys: MasterKeys };

type Begun = Challenge & { returnTo: string; expiresAt: number };

function sealBegun(masterKeys: MasterKeys, begun: Begun): string {
  const { sealed, dataKey, masterKeyId } = masterKeys.seal(JSON.stringify(begun), CHALLENGE_COOKIE);
  return [sealed, dataKey, masterKeyId].join('~');
}

function openBegun(masterKeys: MasterKeys, cookie: string | undefined): Begun | undefined {
  const [sealed, dataKey, masterKeyId] = (cookie ?? '').split('~');
  if (sealed === undefined || dataKey === undefined || masterKeyId === undefined) return undefined;
  try {
    const begun = JSON.parse(masterKeys.unseal({ sealed, dataKey, masterKeyId }, CHALLENGE_COOKIE)) as Begun;
    return begun.expiresAt > Date.now() ? begun : undefined;
  } catch {
    return undefined;
  }
}

/** A page of this server to go on with; instead of any other address, the console */
function chooseReturn(base: string, wanted: unknown): string {
  const fallback = `${base}/console/`;
  if (typeof wanted !== 'string' || wanted.length > MAX_RETURN || !URL.canParse(wanted, fallback)) return fallback;
  const url = new URL(wanted, fallback);
  return url.href.startsWith(new URL(`${base}/`).href) ? url.href : fallback;
}

/** The id token of a sign-in that has ended; undefined without one, or where the master key has changed. */
export function openIdToken(masterKeys: MasterKeys, stored: unknown): string | undefined {
  if (!isRecord(stored)) return undefined;
  try {
    return masterKeys.unseal(stored as Sealed, ID_TOKEN);
  } catch {
    return undefined;
  }
}

/** What the provider says of a failed sign-in, for the log: its own words name the setting that is wrong. */
function describeAnswer(error: unknown): { providerError?: string; providerDescription?: string } {
  const { error: code, error_description: text } = (error ?? {}) as { error?: unknown; error_description?: unknown };
  return {
    ...(typeof code === 'string' ? { providerError: code.slice(0, MAX_LOGGED) } : {}),
    ...(typeof text === 'string' ? { providerDescription: text.slice(0, MAX_LOGGED) } : {}),
  };
}

/** The page that a browser is shown after a failed sign-in; programs get the error itself. */
function sendFailure(reply: FastifyReply, request: FastifyRequest, base: string, error: unknown): FastifyReply {
  const known =
    error instanceof ApiError ? error : new ApiError('unauthorized', 'The sign-in has failed.', { cause: error });
  if (request.headers.accept?.includes('text/html') !== true) throw known;
  const query = new URLSearchParams({ error: known.body.error, requestId: request.id });
  return reply.headers(NO_STORE).redirect(`${base}/console/signin?${query.toString()}`);
}

async function finishSignIn(deps: OidcDeps, oidc: OidcProvider, request: FastifyRequest, base: string) {
  const begun = openBegun(deps.masterKeys, readCookie(request.headers, CHALLENGE_COOKIE));
  const refund = await countFailure(deps.limits, request);
  if (begun === undefined)
    throw errors.validation('cookie: the sign-in was not begun here, or more than 10 minutes ago');
  const search = request.url.split('?', 2)[1] ?? '';
  const url = new URL(`${base}/v1/sign-ins/oidc/callback?${search}`);
  if (url.searchParams.get('state') !== begun.state)
    throw errors.validation('query.state: is not the one of this sign-in');
  const signedIn = await oidc.finish(url, begun);
  const { groupsClaim, roles } = oidc.config;
  if (signedIn.claims[groupsClaim] === undefined && Object.keys(roles).length > 0) {
    deps.log.warn({ claim: groupsClaim, requestId: request.id }, 'the identity provider sent no groups');
  }
  const person = await findPerson(deps.db, oidc, signedIn.claims, 'sign-in');
  if (person === undefined) throw errors.forbidden('None of your groups has a role here.');
  await refund();
  const before = findSessionToken(request.headers);
  const made = await deps.db.transaction(async (tx) => {
    if (before !== undefined) await deleteSignIn(tx, { token: before });
    const signIn = await createSignIn(tx, {
      organizationId: person.organizationId,
      userId: person.user.id,
      issuerSession: signedIn.issuerSession,
      idToken: deps.masterKeys.seal(signedIn.idToken, ID_TOKEN),
    });
    const { organization, organizationId, user } = person;
    await deps.audit.add(tx, {
      organization,
      organizationId,
      actor: { type: 'user', id: user.id, name: user.email ?? user.name ?? user.id },
      action: 'createSignIn',
      resource: { type: 'sign_in', id: signIn.id },
      request,
    });
    return signIn;
  });
  if (before !== undefined) sendKeysChanged(deps.bus);
  return { token: made.token, returnTo: begun.returnTo };
}

/** Sign-in at the identity provider, and logout by it. These are for browsers and for the provider. */
export function registerOidcRoutes(app: FastifyInstance, deps: OidcDeps, oidc: OidcProvider): void {
  const { db, bus, log, publicUrl } = deps;

  app.get('/v1/sign-ins/oidc', async (request, reply) => {
    const base = findBase(request, publicUrl);
    const { returnTo } = request.query as { returnTo?: unknown };
    try {
      const { url, challenge } = await oidc.begin(`${base}/v1/sign-ins/oidc/callback`);
      const expiresAt = Date.now() + CHALLENGE_SECONDS * 1000;
      const begun = sealBegun(deps.masterKeys, { ...challenge, returnTo: chooseReturn(base, returnTo), expiresAt });
      const scope = findCookieScope(request, publicUrl);
      const cookie = buildCookie(CHALLENGE_COOKIE, begun, {
        ...scope,
        sameSite: 'Lax',
        maxAgeSeconds: CHALLENGE_SECONDS,
      });
      return await reply.headers({ ...NO_STORE, 'set-cookie': cookie }).redirect(url.href);
    } catch (error) {
      return sendFailure(reply, request, base, error);
    }
  });

  app.get('/v1/sign-ins/oidc/callback', async (request, reply) => {
    const base = findBase(request, publicUrl);
    const scope = findCookieScope(request, publicUrl);
    try {
      const { token, returnTo } = await finishSignIn(deps, oidc, request, base);
      const cookies = [
        buildSessionCookie(token, scope, 'Lax'),
        buildCookie(CHALLENGE_COOKIE, '', { ...scope, sameSite: 'Lax', maxAgeSeconds: 0 }),
      ];
      return await reply.headers({ ...NO_STORE, 'set-cookie': cookies }).redirect(returnTo);
    } catch (error) {
      const level = error instanceof ApiError ? 'info' : 'warn';
      log[level]({ error: errorText(error), ...describeAnswer(error), requestId: request.id }, 'sign-in failed');
      return sendFailure(reply, request, base, error);
    }
  });

  void app.register(async (scope) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser('application/x-www-form-urlencoded', { parseAs: 'string' }, (_request, body, done) => {
      done(null, new URLSearchParams(String(body)));
    });
    scope.post('/v1/sign-ins/oidc/backchannel-logout', { bodyLimit: 64 * 1024 }, async (request, reply) => {
      const token = request.body instanceof URLSearchParams ? request.body.get('logout_token') : null;
      const whom = token === null ? undefined : await oidc.tokens.verifyLogoutToken(token);
      if (whom === undefined) throw errors.validation('body.logout_token: must be a logout token of the issuer');
      await deleteIssuerSignIns(db, { issuer: oidc.config.issuer, ...whom });
      sendKeysChanged(bus);
      return reply.headers(NO_STORE).code(200).send('');
    });
  });
}
