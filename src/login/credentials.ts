import type { RefreshRequest, SignupRequest } from './contract/shapes.ts';
import { newId } from '../platform/ids.ts';
import { insertLoginCredential, updateLoginHealth } from './store/credentials.ts';
import { buildAnswers } from './answers.ts';
import { limitAttempts } from './attempts.ts';
import { storeSession } from './session-cache.ts';
import type { LoginAbout, LoginResponse, Logins } from './logins.ts';
import { openRecorder } from './recorder.ts';
import type { LoginPorts } from './deps.ts';
import { LoginError } from './login-error.ts';
import { checkMailbox, withMailbox } from './mailbox/mailbox.ts';
import { refreshCredential, showLogin } from './refresh.ts';
import { beginOrStop, readAllowedDomains, listFields, startLimitedJob } from './service.ts';
import { buildSite } from './site.ts';
import type { Site } from './site.ts';
import { buildLogin } from './stored-secrets.ts';
import { sealSecrets } from './sealed-credentials.ts';
import type { Secrets } from './sealed-credentials.ts';

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
  const { db } = ports;

  const store = async (
    organizationId: string,
    body: SignupRequest,
    { secrets, expiresAt, sessionKey }: { secrets: Secrets; expiresAt: Date; sessionKey: string },
  ) => {
    const id = newId('crd');
    await insertLoginCredential(db, {
      ...sealSecrets(ports, id, secrets),
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

    refresh: (organizationId: string, request: RefreshRequest): Promise<LoginResponse> =>
      refreshCredential(ports, logins, { organizationId, request }),
  };
}

export type CredentialService = ReturnType<typeof openCredentialService>;
