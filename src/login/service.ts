import { setTimeout as sleep } from 'node:timers/promises';
import type { PasskeyUse } from './browser/passkeys.ts';
import type { Passkey } from './contract/passkeys.ts';
import type { LoginRequest, SiteSession } from './contract/shapes.ts';
import { newId } from '../platform/ids.ts';
import { omitUndefined } from '../platform/records.ts';
import { claimLoginJob, markLoginJobWaiting, isLoginUnderWay, releaseLoginJob, resumeLoginJob } from './store/jobs.ts';
import { buildAnswers } from './answers.ts';
import { limitAttempts } from './attempts.ts';
import { findSession, storeSession, buildSessionKey } from './session-cache.ts';
import type { CacheState } from './session-cache.ts';
import type { LiveLogin, LoginAbout, LoginResponse, Logins } from './logins.ts';
import { openRecorder } from './recorder.ts';
import type { Recorder } from './recorder.ts';
import type { LoginPorts } from './deps.ts';
import { LoginError } from './login-error.ts';
import { readIdentityProvider } from './identity-providers.ts';
import type { IdentityProvider } from './identity-providers.ts';
import { isEmpty } from './flow/collect.ts';
import type { CollectedSession } from './flow/collect.ts';
import type { NamedProof } from './flow/session-check.ts';
import { startJob } from './job.ts';
import type { Job } from './job.ts';
import { checkMailbox, withMailbox } from './mailbox/mailbox.ts';
import { buildSite } from './site.ts';
import type { Site } from './site.ts';

/** Concurrent logins of an organization, across all replicas. */
const MAX_JOBS = 10;
/** Logins of an organization that wait for a code or link; they do not count as concurrent. */
const MAX_WAITING = 10;
const CHALLENGE_MS = 5 * 60_000;
/** How long a claim outlives the deadline of its job. */
const SLACK_MS = 15_000;
const LOOK_AGAIN_MS = 250;

/** The result of a login job. */
export type LoginResult = {
  session: CollectedSession;
  /** undefined for an empty session, which is not stored */
  expiresAt: Date | undefined;
};

export type LoginJobRequest = LoginRequest & {
  /** obtains the passkeys of a stored credential; absent: it has none, and may not have any created */
  openPasskeys?: () => Promise<PasskeyUse>;
  organizationId: string;
  site: Site;
  key: string;
  /** on whose pages the credentials are typed; absent: on those of the site */
  provider?: IdentityProvider;
};

/** The record of a job. */
export function describeLogin(
  { organizationId, site, cred, loginMethod, key }: LoginJobRequest,
  operation: LoginAbout['operation'] = 'login',
): LoginAbout {
  return {
    id: newId('lgn'),
    organizationId,
    operation,
    origin: site.url.origin,
    username: cred.username,
    method: loginMethod,
    sessionKey: key,
    recorder: openRecorder(),
  };
}

/** Adds the site and the session key to a request. Throws `unsafe_domain` and `method_not_available`. */
export function readLoginRequest(
  { masterKeys, methods }: LoginPorts,
  organizationId: string,
  body: LoginRequest & { passkeys?: readonly Passkey[] },
): LoginJobRequest {
  if (!methods.includes(body.loginMethod)) {
    throw new LoginError('method_not_available', `The method ${body.loginMethod} is not available here.`);
  }
  const site = buildSite(body.domain, readAllowedDomains(body.additionalFields));
  const provider = readIdentityProvider(body.loginMethod, body.cred);
  const key = buildSessionKey(masterKeys, { ...body, organizationId, site });
  return { ...body, organizationId, site, key, ...omitUndefined({ provider }) };
}

export function readAllowedDomains(fields: Record<string, unknown> | undefined): string[] {
  return (fields?.['allowedDomains'] as string[] | undefined) ?? [];
}

/** The caller's values for fields of the form, without the reserved names. */
export function listFields(fields: Record<string, unknown> | undefined): Record<string, string | number | boolean> {
  const { allowedDomains: _affiliates, successSelector: _selector, successUrl: _url, ...own } = fields ?? {};
  return own as Record<string, string | number | boolean>;
}

/** The caller's proof of a successful login. */
function readProof(fields: Record<string, unknown> = {}): NamedProof {
  const read = (name: string) => (typeof fields[name] === 'string' ? fields[name] : undefined);
  return { successSelector: read('successSelector'), successUrl: read('successUrl') };
}

/**
 * Starts a job within the limits of its organization. Throws `rate_limited` if too many are running. Returns undefined
 * if another replica works on the same key.
 */
export async function startLimitedJob<T>(
  { db }: LoginPorts,
  order: { organizationId: string; key: string | null; timeoutSeconds: number },
  work: Parameters<typeof startJob<T>>[1],
): Promise<Job<T> | undefined> {
  const { organizationId, key, timeoutSeconds } = order;
  const id = newId('job');
  const holdMs = timeoutSeconds * 1000 + CHALLENGE_MS + SLACK_MS;
  const claim = await claimLoginJob(db, { id, organizationId, key, limit: MAX_JOBS, holdMs });
  if (claim === 'under-way') return undefined;
  if (claim === 'too-many') {
    throw new LoginError('rate_limited', `At most ${MAX_JOBS} logins of an organization run at a time.`, {
      details: { reason: 'concurrent_logins' },
      retryAfterSeconds: 5,
    });
  }
  return startJob<T>(timeoutSeconds * 1000, async ({ ask, ...context }) => {
    const hold: typeof ask = async (...asked) => {
      if (!(await markLoginJobWaiting(db, organizationId, id, MAX_WAITING))) {
        throw new LoginError('rate_limited', `At most ${MAX_WAITING} logins of an organization wait for answers.`, {
          details: { reason: 'open_challenges' },
        });
      }
      const given = await ask(...asked);
      await resumeLoginJob(db, organizationId, id);
      return given;
    };
    try {
      return await work({ ...context, ask: hold });
    } finally {
      await releaseLoginJob(db, organizationId, id);
    }
  });
}

/** Signs in again and stores the session. `whenDone` runs before the job ends, whoever waits for it. */
export function startLogin(
  ports: LoginPorts,
  order: LoginJobRequest,
  recorder: Recorder,
  whenDone: (made: LoginResult) => Promise<void> = async () => undefined,
): Promise<Job<LoginResult> | undefined> {
  const { organizationId, site, cred, loginMethod, key } = order;
  const { username } = cred;
  const claimKey = order.useCache ? key : null;
  return startLimitedJob(ports, { ...order, key: claimKey }, async (job) => {
    // On first use: the flows and the detection of pages are a third of the service.
    const { logIn } = await import('./login.ts');
    const { signal } = job;
    const passkeys = await order.openPasskeys?.();
    const session = await limitAttempts(ports, { organizationId, origin: site.url.origin, username }, () =>
      withMailbox(ports, cred.mailbox, { organizationId, site, address: username }, (mailbox) => {
        const answers = buildAnswers(order, { ...job, mailbox });
        const values = { username, password: cred.password, fields: listFields(order.additionalFields) };
        const { fleet, egress, readForm } = ports;
        const proof = readProof(order.additionalFields);
        const common = { ...values, organizationId, method: loginMethod, proof, help: order.help, passkeys };
        return logIn({ ...common, ...nameSites(order) }, { fleet, egress, answers, signal, readForm, recorder });
      }),
    );
    // If every request carries user name and password, the session may be empty.
    const expiresAt = isEmpty(session) ? undefined : await storeSession(ports, organizationId, key, session);
    await whenDone({ session, expiresAt });
    return { session, expiresAt };
  });
}

/** The pages that a login may use: with an identity provider, those of both. */
function nameSites({ site, provider, domain, additionalFields }: LoginJobRequest) {
  if (provider === undefined) return { site };
  const { url, domains } = provider.site;
  const affiliates = [...readAllowedDomains(additionalFields), url.href, ...domains.slice(1)];
  return { site: buildSite(domain, affiliates), ownSite: site, provider };
}

/** Records a job. If recording fails, the job does not run. */
export async function beginOrStop(logins: Logins, about: LoginAbout, job: Job<unknown>): Promise<LiveLogin> {
  try {
    return await logins.begin(about);
  } catch (error) {
    job.stop(error);
    throw error;
  }
}

export type LoginService = ReturnType<typeof openLoginService>;

/** A session as callers see it. */
export function showSession({ session, expiresAt }: LoginResult, username: string | undefined): SiteSession {
  const { cookies, origins, storageState, url, userAgent, signs } = session;
  return {
    cookies,
    origins,
    storageState,
    url,
    ...omitUndefined({ userAgent, signs: signs && [...signs], username, expiresAt: expiresAt?.toISOString() }),
  };
}

function answer(made: LoginResult, username: string | undefined, state: CacheState): LoginResponse {
  return { status: 200, body: showSession(made, username), headers: { 'x-session-cache': state } };
}

/** Logins with a session cache: concurrent requests for the same session share one login. */
export function openLoginService(ports: LoginPorts, logins: Logins) {
  const flights = new Map<string, Promise<LoginResponse>>();

  /** `given`: the record of the login; absent: created when a browser signs in. */
  const logInOnce = async (order: LoginJobRequest, given?: LiveLogin): Promise<LoginResponse> => {
    const { organizationId, key } = order;
    const { username } = order.cred;
    const about = given ?? describeLogin(order);
    const allowedDomains = [order.site.url.href, ...readAllowedDomains(order.additionalFields)];
    for (let waited = false; ; waited = true) {
      const timeout = AbortSignal.timeout(order.timeoutSeconds * 1000);
      const found = order.useCache
        ? await findSession(ports, { organizationId, key, allowedDomains }, timeout)
        : undefined;
      if (found !== undefined) return answer(found, username, waited ? 'coalesced' : found.state);
      await ports.egress.check(order.site.url);
      await checkMailbox(ports.egress, order.cred.mailbox);
      const job = await startLogin(ports, order, about.recorder);
      if (job !== undefined) {
        const live = given ?? (await beginOrStop(logins, about, job));
        return logins.follow(live, job, (made) => answer(made, username, 'miss'));
      }
      // Another replica works on it and will store the session in the cache.
      while (await isLoginUnderWay(ports.db, organizationId, key)) {
        if (timeout.aborted) throw new LoginError('login_timeout', 'The login timed out.');
        await sleep(LOOK_AGAIN_MS);
      }
    }
  };

  return {
    /** Starts a login and returns its record, which later shows the outcome. */
    async start(organizationId: string, body: LoginRequest): Promise<LiveLogin> {
      // A person can be asked for help, because no open call waits.
      const order = { help: 'captcha' as const, ...omitUndefined(readLoginRequest(ports, organizationId, body)) };
      await ports.egress.check(order.site.url);
      const live = await logins.begin(describeLogin(order));
      ports.loginMetrics
        .measure('login', () => logInOnce(order, live))
        // The record already shows the outcome or the challenge of the job.
        .then((response) => logins.end(live, { response }))
        .catch((error: unknown) => (live.job === undefined ? logins.end(live, { error }) : undefined))
        .catch((error: unknown) => ports.log.error({ err: error }, 'could not end a login'));
      return live;
    },

    async login(organizationId: string, body: LoginRequest): Promise<LoginResponse> {
      const order = readLoginRequest(ports, organizationId, body);
      if (!order.useCache) return logInOnce(order);
      const flying = flights.get(order.key);
      if (flying !== undefined) {
        const first = await flying;
        return { ...first, headers: { ...first.headers, 'x-session-cache': 'coalesced' } };
      }
      const flight = logInOnce(order).finally(() => flights.delete(order.key));
      flights.set(order.key, flight);
      return flight;
    },
  };
}
