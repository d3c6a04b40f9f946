import { setTimeout as sleep } from 'node:timers/promises';
import type { Db } from '../../platform/db/db.ts';
import type { Egress } from '../../platform/egress/egress.ts';
import { newId } from '../../platform/ids.ts';
import type { Logger } from '../../platform/log.ts';
import type { MasterKeys } from '../../platform/master-key.ts';
import { omitUndefined } from '../../platform/records.ts';
import { findStored, writeSecrets } from '../store/credentials.ts';
import type { StoredCredential } from '../store/credentials.ts';
import { failRefresh, acquireRefresh } from '../store/refreshes.ts';
import { sealSecrets, unsealSecrets } from './secrets.ts';
import { refreshTokens } from './token-endpoint.ts';

export type VaultDeps = { db: Db; egress: Egress; masterKeys: MasterKeys; log: Logger };

/** Longer than a token endpoint may take. */
const LEASE_SECONDS = 30;
const PATIENCE_MS = 40_000;
const POLL_MS = 100;
/** How long an unreachable endpoint is not called again. */
const BACKOFF_SECONDS = 5;

/**
 * Gets new tokens for a credential, whoever asks and however often: one request to the token endpoint, in this process
 * by sharing, across replicas by a lease in the row. Resolves with the credential as it is then; undefined when it is
 * gone. Throws `UnsealError`.
 */
export type Refresher = { refresh(credential: StoredCredential): Promise<StoredCredential | undefined> };

export function openRefresher(deps: VaultDeps): Refresher {
  const owner = newId('wrk');
  const running = new Map<string, Promise<StoredCredential | undefined>>();
  return {
    refresh(credential) {
      const key = `${credential.id}/${credential.revision}`;
      const shared = running.get(key);
      if (shared !== undefined) return shared;
      const work = refreshOrWait(credential, owner, deps).finally(() => running.delete(key));
      running.set(key, work);
      return work;
    },
  };
}

async function refreshOrWait(
  credential: StoredCredential,
  owner: string,
  deps: VaultDeps,
): Promise<StoredCredential | undefined> {
  const { id, revision } = credential;
  const until = performance.now() + PATIENCE_MS;
  while (performance.now() < until) {
    const current = await findStored(deps.db, id);
    if (current === undefined || current.revision !== revision || current.health === 'refused') return current;
    const failedJustNow = current.health === 'unavailable' && (current.healthAge ?? Infinity) < BACKOFF_SECONDS;
    if (failedJustNow) return current;
    if (!current.refreshing && (await acquireRefresh(deps.db, { id, revision, owner }, LEASE_SECONDS))) {
      await refreshOnce(current, owner, deps);
      return await findStored(deps.db, id);
    }
    await sleep(POLL_MS * (0.5 + Math.random()));
  }
  return await findStored(deps.db, id);
}

async function refreshOnce(credential: StoredCredential, owner: string, deps: VaultDeps): Promise<void> {
  const { db, egress, masterKeys, log } = deps;
  const { id, revision, auth } = credential;
  if (auth.type !== 'mcp_oauth' || auth.refresh === null) return;
  const secrets = unsealSecrets(masterKeys, id, credential);
  const answer = await refreshTokens(egress, auth.refresh, secrets);
  if (answer.outcome !== 'granted') {
    log.warn({ credentialId: id, outcome: answer.outcome, reason: answer.reason }, 'a credential was not refreshed');
    return await failRefresh(db, { id, revision, owner }, answer.outcome);
  }
  const { accessToken, expiresIn, refreshToken } = answer;
  const expiresAt = expiresIn === null ? null : new Date(Date.now() + expiresIn * 1000).toISOString();
  const next = { ...secrets, token: accessToken, ...omitUndefined({ refreshToken }) };
  await writeSecrets(db, id, revision, { auth: { ...auth, expiresAt }, ...sealSecrets(masterKeys, id, next) });
}
