// Tests: test/login/credentials.test.ts, test/login/passkeys.test.ts
import { setTimeout as sleep } from 'node:timers/promises';
import type { Db } from '../platform/db/db.ts';
import type { StoredCredential } from './contract/credentials.ts';
import type { RefreshRequest } from './contract/shapes.ts';
import type { LoginPorts } from './deps.ts';
import { LoginError } from './login-error.ts';
import type { LoginResponse, Logins } from './logins.ts';
import { beginOrStop, describeLogin, showSession, startLogin } from './service.ts';
import type { LoginJobRequest, LoginResult } from './service.ts';
import { findSession } from './session-cache.ts';
import { updateLoginExpiry, updateLoginHealth } from './store/credentials.ts';
import { isLoginUnderWay } from './store/jobs.ts';
import { usePasskeys } from './stored-passkeys.ts';
import { buildLogin, readSecrets } from './stored-secrets.ts';

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

export function showLogin(status: number, { id, username }: Shown, made: LoginResult, state: string): LoginResponse {
  return {
    status,
    body: { ...showSession(made, username), credentialId: id },
    headers: { 'x-session-cache': state },
  };
}

const LOOK_AGAIN_MS = 100;

type Refresh = { organizationId: string; request: RefreshRequest };

/** Passkeys for a login, obtained when it begins. Undefined if the credential has none and may not have any created. */
function buildPasskeyUse(
  ports: LoginPorts,
  organizationId: string,
  { stored, order }: { stored: StoredCredential; order: LoginJobRequest },
): LoginJobRequest['openPasskeys'] {
  const { credentialId, passkeys, enrolPasskey } = stored;
  if (passkeys === 0 && !enrolPasskey) return undefined;
  const sites = order.provider === undefined ? [order.site] : [order.site, order.provider.site];
  return () => usePasskeys(ports, { organizationId, credentialId }, { mayEnrol: enrolPasskey, sites });
}

/** Returns what to wait for if another login of the same session is under way. */
async function refreshOnce(
  ports: LoginPorts,
  logins: Logins,
  { organizationId, request: { credentialId, force, timeoutSeconds } }: Refresh,
): Promise<LoginResponse | { waitsFor: string; isExclusive: boolean }> {
  const { db } = ports;
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
  const openPasskeys = buildPasskeyUse(ports, organizationId, { stored: stored.shown, order });
  const isExclusive = openPasskeys !== undefined;
  const renewing = {
    ...order,
    key: stored.sessionKey,
    // A passkey counts its signatures, and sites refuse them in another order: its logins run one after another.
    useCache: !force || isExclusive,
    ...(isExclusive && { openPasskeys }),
  };
  const about = describeLogin(renewing, 'refresh');
  const job = await startLogin(ports, renewing, about.recorder, async ({ expiresAt }) => {
    await updateLoginExpiry(db, organizationId, credentialId, expiresAt ?? new Date());
    await updateLoginHealth(db, organizationId, credentialId, { health: 'healthy', code: null });
  });
  if (job === undefined) return { waitsFor: stored.sessionKey, isExclusive };
  const live = await beginOrStop(logins, about, job);
  try {
    return await logins.follow(live, job, (made) => showLogin(200, shown, made, 'miss'));
  } catch (error) {
    await recordFault(db, { organizationId, credentialId }, error);
    throw error;
  }
}

/**
 * Returns the session of a stored credential, signing in again if it has ended. Throws `conflict` if another login of
 * the credential is under way; one with a passkey waits for it first.
 */
export async function refreshCredential(ports: LoginPorts, logins: Logins, refresh: Refresh): Promise<LoginResponse> {
  const timeout = AbortSignal.timeout(refresh.request.timeoutSeconds * 1000);
  for (;;) {
    const made = await refreshOnce(ports, logins, refresh);
    if (!('waitsFor' in made)) return made;
    while (await isLoginUnderWay(ports.db, refresh.organizationId, made.waitsFor)) {
      if (timeout.aborted || !made.isExclusive) break;
      await sleep(LOOK_AGAIN_MS);
    }
    if (timeout.aborted || !made.isExclusive) {
      throw new LoginError('conflict', 'A refresh of this credential is under way.');
    }
  }
}
