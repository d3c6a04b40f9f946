import type { Db } from '../platform/db/db.ts';
import type { Passkey } from './contract/passkeys.ts';
import type { LoginRequest } from './contract/shapes.ts';
import { sha256 } from '../platform/crypto.ts';
import type { MasterKeys } from '../platform/master-key.ts';
import { UnsealError } from '../platform/master-key.ts';
import { deleteLoginSession, findLoginSession, putLoginSession } from './store/sessions.ts';
import { findExpiry } from './flow/collect.ts';
import type { CollectedSession } from './flow/collect.ts';
import { probeSession } from './session-probe.ts';
import type { ProbePorts } from './session-probe.ts';
import { buildSite } from './site.ts';
import type { Site } from './site.ts';

export type CacheState = 'hit' | 'miss' | 'revalidated' | 'coalesced';

/** What identifies a session: equal requests share one. */
export type SessionIdentity = Pick<LoginRequest, 'cred' | 'loginMethod' | 'collectionId' | 'additionalFields'> & {
  organizationId: string;
  site: Site;
  passkeys?: readonly Pick<Passkey, 'credentialId'>[];
};

export type CachePorts = ProbePorts & { db: Db; masterKeys: MasterKeys };

/** How long a session is returned from the cache without another check. */
const FRESH_MS = 60_000;

/** The login URL in one canonical form. */
export function normalizeLoginUrl(url: URL): string {
  return url.origin + (url.pathname.replace(/(?<!\/)\/+$/, '') || '/') + url.search;
}

export function buildSessionKey(masterKeys: MasterKeys, identity: SessionIdentity): string {
  const { organizationId, collectionId, site, loginMethod, cred, passkeys, additionalFields = {} } = identity;
  const fields = Object.entries(additionalFields).sort(([left], [right]) => (left < right ? -1 : 1));
  const parts = [
    organizationId,
    collectionId ?? '',
    normalizeLoginUrl(site.url),
    loginMethod,
    cred.username ?? '',
    sha256(cred.password ?? ''),
    fields,
    ...(cred.identityProvider === undefined ? [] : [cred.identityProvider]),
    ...(passkeys === undefined ? [] : [passkeys.map(({ credentialId }) => credentialId)]),
  ];
  return masterKeys.fingerprint('login-session', JSON.stringify(parts));
}

const contextOf = (key: string) => `login-session/${key}`;

/** Returns the latest time at which the session expires. */
export async function storeSession(
  { db, masterKeys }: CachePorts,
  organizationId: string,
  key: string,
  session: CollectedSession,
): Promise<Date> {
  const expiresAt = findExpiry(session.cookies, new Date());
  const sealed = masterKeys.seal(JSON.stringify(session), contextOf(key));
  await putLoginSession(db, organizationId, key, { ...sealed, expiresAt });
  return expiresAt;
}

/** A stored session, without checking it at the site. */
export async function readStoredSession(
  { db, masterKeys }: Pick<CachePorts, 'db' | 'masterKeys'>,
  organizationId: string,
  key: string,
): Promise<{ session: CollectedSession; expiresAt: Date } | undefined> {
  const kept = await findLoginSession(db, organizationId, key);
  if (kept === undefined) return undefined;
  try {
    const session = JSON.parse(masterKeys.unseal(kept, contextOf(key))) as CollectedSession;
    return { session, expiresAt: kept.expiresAt };
  } catch (error) {
    if (error instanceof UnsealError) return undefined;
    throw error;
  }
}

/** A cached session that still works, or undefined. `allowedDomains`: further domains of the site. */
export async function findSession(
  ports: CachePorts,
  { organizationId, key, allowedDomains }: { organizationId: string; key: string; allowedDomains: readonly string[] },
  signal: AbortSignal,
): Promise<{ session: CollectedSession; expiresAt: Date; state: CacheState } | undefined> {
  const { db, masterKeys } = ports;
  const kept = await findLoginSession(db, organizationId, key);
  if (kept === undefined) return undefined;
  let session: CollectedSession;
  try {
    session = JSON.parse(masterKeys.unseal(kept, contextOf(key))) as CollectedSession;
  } catch (error) {
    // Encrypted with a master key that was removed: a login replaces it.
    if (error instanceof UnsealError) return undefined;
    throw error;
  }
  if (Date.now() - kept.checkedAt.getTime() < FRESH_MS) return { session, expiresAt: kept.expiresAt, state: 'hit' };
  const site = buildSite(session.url, allowedDomains);
  const probed = await probeSession(ports, { organizationId, site, session }, signal);
  if (probed === undefined) {
    await deleteLoginSession(db, organizationId, key);
    return undefined;
  }
  const expiresAt = await storeSession(ports, organizationId, key, probed);
  return { session: probed, expiresAt, state: 'revalidated' };
}
