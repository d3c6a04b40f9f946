import type { FastifyInstance } from 'fastify';
import { loginRoutes } from './contract/routes.ts';
import { registerBodyParser } from '../platform/http/body.ts';
import { findBase } from '../platform/http/public-base.ts';
import { newId } from '../platform/ids.ts';
import { registerRoute } from '../platform/http/route.ts';
import { startPeriodicTasks } from '../platform/jobs/periodic-tasks.ts';
import type { RoutePlugin } from '../platform/http/server.ts';
import { deleteLoginCredential, listCredentialPage } from './store/credentials.ts';
import { clearLoginJobs } from './store/jobs.ts';
import { deleteExpiredLogins, deleteLoginSession } from './store/sessions.ts';
import { openCredentialService } from './credentials.ts';
import type { LoginDeps, LoginPorts } from './deps.ts';
import { sendLoginError } from './errors.ts';
import { LoginError } from './login-error.ts';
import { registerHelpRoutes } from './help/help-routes.ts';
import { registerLoginRoutes } from './login-routes.ts';
import { Logins } from './logins.ts';
import { signAddress, signMailAddress } from './mailbox/address.ts';
import { registerInboundRoutes } from './mailbox/inbound.ts';
import { renewDueCredentials as renew } from './renewal.ts';
import { openLoginService } from './service.ts';
import { deleteOldLoginMessages } from './store/messages.ts';
import { deleteOldLogins, endAllLogins, keepLoginsAlive } from './store/logins.ts';
import { createCredential, readSecrets, updateCredential } from './stored-secrets.ts';
import { readAnswer } from './waiting.ts';

const SWEEP_MS = 10 * 60_000;
const ALIVE_MS = 15_000;
const RENEW_MS = 30_000;

/** Routes of the website login, with the error format of that service. */
export function buildLoginRoutes(ports: LoginPorts): RoutePlugin {
  return (app, http) => {
    const deps: LoginDeps = { ...ports, ...http };
    void app.register(async (scope) => {
      registerBodyParser(scope);
      scope.setErrorHandler((error, request, reply) => sendLoginError(ports.log, error, request, reply));
      registerRoutes(scope, deps);
      // Jobs and logins in the database belong to a process that has ended.
      if (ports.db.embedded) {
        await clearLoginJobs(ports.db);
        await endAllLogins(ports.db);
      }
    });
  };
}

function registerRoutes(app: FastifyInstance, deps: LoginDeps): void {
  const { db } = deps;
  const logins = new Logins(deps, deps.challengeMs);
  const service = openLoginService(deps, logins);
  const credentials = openCredentialService(deps, logins);
  const { measure } = deps.loginMetrics;
  const sweep = async () => {
    await deleteExpiredLogins(db);
    await deleteOldLogins(db);
    await deleteOldLoginMessages(db);
  };
  const renewSessions = async () => {
    if (!deps.closing.aborted) await renew(deps, credentials);
  };
  const tasks = startPeriodicTasks(
    [
      { name: 'delete expired website sessions', periodMs: SWEEP_MS, run: sweep },
      { name: 'renew website sessions', periodMs: deps.renewEveryMs ?? RENEW_MS, run: renewSessions },
      {
        name: 'renew the heartbeats of website logins',
        periodMs: ALIVE_MS,
        run: () => keepLoginsAlive(db, logins.owner),
      },
    ],
    deps.log,
  );
  let drain: NodeJS.Timeout | undefined;
  const beginDrain = () => (drain ??= setTimeout(() => logins.close(), deps.drainMs));
  if (deps.drainMs !== undefined) deps.closing.addEventListener('abort', beginDrain, { once: true });
  app.addHook('onClose', async () => {
    // Calls that wait for a login have been answered by now; others ask for its record, in any process.
    if (drain !== undefined) await logins.whenIdle();
    clearTimeout(drain);
    logins.close();
    await tasks.close();
  });

  registerRoute(app, deps, loginRoutes.login, ({ body, caller }) =>
    measure('login', () => service.login(caller.organizationId, body)),
  );

  registerRoute(app, deps, loginRoutes.signup, ({ body, caller }) =>
    measure('signup', () => credentials.signup(caller.organizationId, body)),
  );
  registerRoute(app, deps, loginRoutes.refresh, ({ body, caller }) =>
    measure('refresh', () => credentials.refresh(caller.organizationId, body)),
  );

  registerRoute(app, deps, loginRoutes.answerChallenge, ({ params, body, caller }) => {
    const answer = readAnswer(body);
    return measure('challenge', () => logins.answer(caller.organizationId, params.challengeId, answer));
  });

  registerLoginRoutes(app, deps, { logins, service });
  registerHelpRoutes(app, deps, logins);
  registerInboundRoutes(app, deps);

  registerRoute(app, deps, loginRoutes.createMailbox, async ({ caller, request }) => {
    const mailboxId = newId('mbx');
    const own = { organizationId: caller.organizationId, mailboxId };
    const url = `${findBase(request, deps.publicUrl)}/api/inbound/${signAddress(deps.masterKeys, own)}`;
    const { mailDomain } = deps;
    const address = mailDomain && { address: signMailAddress(deps.masterKeys, own, mailDomain) };
    return { status: 201, body: { object: 'mailbox', mailboxId, url, ...address } };
  });

  registerRoute(app, deps, loginRoutes.listCredentials, async ({ query, caller }) => {
    const { data, nextCursor } = await listCredentialPage(db, caller.organizationId, query);
    const pagination = { limit: query.limit, hasMore: nextCursor !== null, nextCursor };
    return { status: 200, body: { data, pagination } };
  });

  registerRoute(app, deps, loginRoutes.createCredential, async ({ body, caller }) => {
    const stored = await createCredential(deps, caller.organizationId, body);
    return { status: 201, body: stored, headers: { location: `/api/credentials/${stored.credentialId}` } };
  });

  registerRoute(app, deps, loginRoutes.getCredential, async ({ params, caller }) => {
    const { stored } = await readSecrets(deps, caller.organizationId, params.credentialId);
    return { status: 200, body: stored.shown };
  });

  registerRoute(app, deps, loginRoutes.updateCredential, async ({ params, body, caller }) => ({
    status: 200,
    body: await updateCredential(deps, caller.organizationId, { credentialId: params.credentialId, change: body }),
  }));

  registerRoute(app, deps, loginRoutes.deleteCredential, async ({ params, caller }) => {
    const { credentialId } = params;
    const sessionKey = await deleteLoginCredential(db, caller.organizationId, credentialId);
    if (sessionKey === undefined) throw new LoginError('not_found', 'No such credential.');
    await deleteLoginSession(db, caller.organizationId, sessionKey);
    return { status: 200, body: { object: 'credential.deleted', credentialId, deleted: true } };
  });
}
