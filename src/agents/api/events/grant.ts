// Tests: test/agents/api/events/stream.test.ts, test/people/oidc.test.ts
import type { Db } from '../../../platform/db/db.ts';
import type { Caller } from '../../../platform/http/deps.ts';
import { findCredentialScopes } from '../../../platform/store/sign-ins.ts';

/** What a stream was opened with. It ends with it, and its client asks again with what it may do by then. */
export type Grant = Pick<Caller, 'credentialId' | 'grantedScopes' | 'expiresAt'>;

/** What lasts as long as the stream must not hold the whole caller. */
export function pickGrant({ credentialId, grantedScopes, expiresAt }: Caller): Grant {
  return { credentialId, grantedScopes, ...(expiresAt === undefined ? {} : { expiresAt }) };
}

function isSame(before: readonly string[], now: readonly string[]): boolean {
  return before.length === now.length && before.every((scope) => now.includes(scope));
}

/**
 * Ends the streams of keys that were revoked, of browsers that were signed out, of access tokens that have expired, and of
 * whoever has other scopes or another role by now. Called within the time that a revoked key may go on working anywhere.
 */
export async function endUngranted(db: Db, listeners: readonly { grant: Grant; end(): void }[]): Promise<void> {
  const now = Date.now();
  const left = listeners.filter((listener) => {
    const { expiresAt } = listener.grant;
    const isOver = expiresAt !== undefined && expiresAt.getTime() <= now;
    if (isOver) listener.end();
    return !isOver;
  });
  if (left.length === 0) return;
  const granted = await findCredentialScopes(db, [...new Set(left.map(({ grant }) => grant.credentialId))]);
  for (const listener of left) {
    const scopes = granted.get(listener.grant.credentialId);
    if (scopes === undefined || !isSame(listener.grant.grantedScopes, scopes)) listener.end();
  }
}
