import type { StoredCredential } from './contract/credentials.ts';
import type { RefreshRequest, SignupRequest } from './contract/shapes.ts';
import { newId } from '../platform/ids.ts';
import { insertLoginCredential, updateLoginExpiry, updateLoginHealth } from './store/credentials.ts';
import type { Db } from '../platform/db/db.ts';
import type { Secrets } from './stored-secrets.ts';
import { buildAnswers } from './answers.ts';
import { limitAttempts } from './attempts.ts';
import { findSession, storeSession } from './session-cache.ts';
import type { LoginAbout, LoginResponse, Logins } from './logins.ts';
import { openRecorder } from './recorder.ts';
import type { LoginPorts } from './deps.ts';
import { LoginError } from './login-error.ts';
import { checkMailbox, withMailbox } from './mailbox/mailbox.ts';
import {
  beginOrStop,
  describeLogin,
  readAllowedDomains,
  listFields,
  showSession,
  startLimitedJob,
  startLogin,
} from './service.ts';
import type { LoginResult } from './service.ts';
import { buildSite } from './site.ts';
import type { Site } from './site.ts';
import { buildLogin, readSecrets } from './stored-secrets.ts';
import { loginCredentialContext } from './sealed-credentials.ts';

/** Transient errors say nothing about the credential. */
const PASSING: ReadonlySet<string> = new Set([
  'capacity',
  'rate_limited',
  'site_unreachable',
  'login_timeout',
  'conflict',
]);

async function recordFault(
  db: Db,
  { organizationId, credentialId }: { organizationId: string; credentialId: string },
  error: unknown,
): Promise<void> {
  if (!(error instanceof LoginError) || PASSING.has(error.code) || error.status >= 500) return;
  await updateLoginHealth(db, organizationId, credentialId, { health: 'needs_attention', code: error.code });
}

/** A cached session proves as much as a new one. Known values are not written again. */
async function recordSession(
  db: Db,
  { organizationId, stored }: { organizationId: string; stored: StoredCredential },
  expiresAt: Date,
): Promise<void> {
  const { credentialId, health } = stored;
  if (stored.expiresAt !== expiresAt.toISOString())
    await updateLoginExpiry(db, organizationId, credentialId, expiresAt);
  if (health !== 'healthy')
    await updateLoginHealth(db, organizationId, credentialId, { health: 'healthy', code: null });
}

type Shown = { id: string; username: string | undefined };

function showLogin(status: number, { id, username }: Shown, made: LoginResult, state: string): LoginResponse {
  return {
    status,
    body: { ...showSession(made, username), credentialId: id },
    headers: { 'x-session-cache': state },
  };
}

function describeSignup(organizationId: string, { site, body }: { site: Site; body: SignupRequest }): LoginAbout {
  return {
    id: newId('lgn'),
    organizationId,
    operation: 'signup',
    origin: site.url.origin,
    username: body.cred.username ?? body.cred.email,
    method: body.signup_method,
    sessionKey: null,
    recorder: openRecorder(),
  };
}

/** Accounts created here: signing up, and signing in again later. */
export function openCredentialService(ports: LoginPorts, logins: Logins) {
  const { db, masterKeys } = ports;

  const store = async (
    organizationId: string,
    body: SignupRequest,
    { secrets, expiresAt, sessionKey }: { secrets: Secrets; expiresAt: Date; sessionKey: string },
  ) => {
    const id = newId('crd');
    await insertLoginCredential(db, {
      ...masterKeys.seal(JSON.stringify(secrets), loginCredentialContext(id)),
      id,
      organizationId,
      collectionId: body.collectionId ?? null,
      domain: body.domain,
      username: secrets.username ?? null,
      method: body.signup_method,
      sessionKey,
      expiresAt,
    });
    await updateLoginHealth(db, organizationId, id, { health: 'healthy', code: null });
    return id;
  };

  return {
    async signup(organizationId: string, body: SignupRequest): Promise<LoginResponse> {
      if (body.signup_method === 'oauth') {
        throw new LoginError('method_not_available', 'Signing up by another service is switched off.');
      }
      const allowedDomains = readAllowedDomains(body.additionalFields);
      const site = buildSite(body.domain, allowedDomains);
      await ports.egress.check(site.url);
      const { email, username, password, mailbox: box } = body.cred;
      await checkMailbox(ports.egress, box);
      const account = {
        email,
        username,
        password,
        inviteToken: body.invite_token,
        fields: listFields(body.additionalFields),
      };
      const about = describeSignup(organizationId, { site, body });
      const { recorder } = about;
      const job = await startLimitedJob(ports, { ...body, organizationId, key: null }, async (context) => {
        const attempted = { organizationId, origin: site.url.origin, username: username ?? email };
        const done = await limitAttempts(ports, attempted, () =>
          withMailbox(ports, box, { organizationId, site, address: email }, async (mailbox) => {
            const { signUp } = await import('./signup.ts');
            const answers = buildAnswers({ loginMethod: 'otp_email', cred: {} }, { ...context, mailbox });
            const flow = { ...ports, answers, signal: context.signal, recorder };
            return signUp({ ...account, organizationId, site }, flow);
          }),
        );
        const { loginUrl, username: name } = done;
        const secrets = { loginUrl, username: name, password: done.password, allowedDomains, mailbox: box };
        const { key } = buildLogin(ports, organizationId, { secrets, timeoutSeconds: body.timeoutSeconds });
        const made = { session: done.session, expiresAt: await storeSession(ports, organizationId, key, done.session) };
        return {
          ...made,
          username: name,
          id: await store(organizationId, body, { secrets, expiresAt: made.expiresAt, sessionKey: key }),
        };
      });
      if (job === undefined) throw new LoginError('conflict', 'The same signup is under way.');
      const live = await beginOrStop(logins, about, job);
      return logins.follow(live, job, (made) => showLogin(201, { id: made.id, username: made.username }, made, 'miss'));
    },

    async refresh(
      organizationId: string,
      { credentialId, force, timeoutSeconds }: RefreshRequest,
    ): Promise<LoginResponse> {
      const { stored, secrets } = await readSecrets(ports, organizationId, credentialId);
      const order = buildLogin(ports, organizationId, { secrets, timeoutSeconds });
      const allowedDomains = [order.site.url.href, ...secrets.allowedDomains];
      const identity = { organizationId, key: stored.sessionKey, allowedDomains };
      const found = force ? undefined : await findSession(ports, identity, AbortSignal.timeout(timeoutSeconds * 1000));
      const shown = { id: credentialId, username: secrets.username };
      if (found !== undefined) {
        await recordSession(db, { organizationId, stored: stored.shown }, found.expiresAt);
        return showLogin(200, shown, found, found.state);
      }
      await ports.egress.check(order.site.url);
      const renewing = { ...order, key: stored.sessionKey, useCache: !force };
      const about = describeLogin(renewing, 'refresh');
      const job = await startLogin(ports, renewing, about.recorder, async ({ expiresAt }) => {
        await updateLoginExpiry(db, organizationId, credentialId, expiresAt ?? new Date());
        await updateLoginHealth(db, organizationId, credentialId, { health: 'healthy', code: null });
      });
      if (job === undefined) throw new LoginError('conflict', 'A refresh of this credential is under way.');
      const live = await beginOrStop(logins, about, job);
      try {
        return await logins.follow(live, job, (made) => showLogin(200, shown, made, 'miss'));
      } catch (error) {
        await recordFault(db, { organizationId, credentialId }, error);
        throw error;
      }
    },
  };
}

export type CredentialService = ReturnType<typeof openCredentialService>;
