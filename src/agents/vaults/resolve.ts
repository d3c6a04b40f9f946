import type { Queryable } from '../../platform/db/db.ts';
import { normalizeServerUrl } from '../contract/server-url.ts';
import type { ConnectionStatus } from '../contract/vaults.ts';
import { listMatches } from '../store/credentials.ts';
import type { StoredCredential } from '../store/credentials.ts';
import { openReadRecorder } from './reads.ts';
import { openRefresher } from './refresh.ts';
import type { VaultDeps } from './refresh.ts';
import { unsealSecrets } from './secrets.ts';
import { decideStatus, isExpired } from './status.ts';

/** A token as it was used, so that its refusal can be told from that of an older one. */
export type UsedToken = { credentialId: string; revision: number; token: string };

export type Resolution = { status: ConnectionStatus; used: UsedToken | undefined };

/** The credentials of agents, by server. */
export type Vaults = {
  /**
   * What a request of this agent to this server is to carry, at this moment. Refreshes what is about to expire, and
   * what the server has just refused (`refused`). Without a usable credential there is no token. Throws `UnsealError`.
   */
  resolve(agentId: string, serverUrl: string, refused?: UsedToken): Promise<Resolution>;
  /** How servers are connected, without asking anybody, by URL as given. */
  readStatuses(agentId: string, serverUrls: readonly string[]): Promise<Map<string, Connection>>;
};

/** `revision` grows with every change of the credential's secrets. */
export type Connection = {
  status: ConnectionStatus;
  vaultId: string | null;
  credentialId: string | null;
  revision: number | null;
};

/** Tokens are refreshed this many seconds before they expire. */
const AHEAD_SECONDS = 60;

export function openVaults(deps: VaultDeps): Vaults {
  const { db, masterKeys } = deps;
  const refresher = openRefresher(deps);
  const recordRead = openReadRecorder(db);

  const use = (credential: StoredCredential): Resolution => {
    const status = decideStatus([credential]);
    if (status === 'reconnect' || isExpired(credential)) return { status, used: undefined };
    const { id: credentialId, revision } = credential;
    const { token } = unsealSecrets(masterKeys, credentialId, credential);
    return { status, used: { credentialId, revision, token } };
  };

  const find = async (agentId: string, serverUrl: string, refused: UsedToken | undefined): Promise<Resolution> => {
    const key = normalizeServerUrl(serverUrl);
    const matches = (await listMatches(db, agentId, [key])).get(key) ?? [];
    const [credential] = matches;
    const status = decideStatus(matches);
    if (credential === undefined || matches.length > 1) return { status, used: undefined };
    const isRefused = refused?.credentialId === credential.id && refused.revision === credential.revision;
    const isDue = credential.expiresIn !== null && credential.expiresIn < AHEAD_SECONDS;
    if (!credential.refreshable || status === 'reconnect' || !(isDue || isRefused)) {
      return isRefused ? { status, used: undefined } : use(credential);
    }
    const renewed = await refresher.refresh(credential);
    if (renewed === undefined) return { status: 'public', used: undefined };
    if (isRefused && renewed.revision === credential.revision) {
      return { status: decideStatus([renewed]), used: undefined };
    }
    return use(renewed);
  };

  return {
    async resolve(agentId, serverUrl, refused) {
      const resolution = await find(agentId, serverUrl, refused);
      if (resolution.used !== undefined) await recordRead(agentId, serverUrl, resolution.used);
      return resolution;
    },

    readStatuses: (agentId, serverUrls) => readStatuses(db, agentId, serverUrls),
  };
}

/** As `Vaults.readStatuses`, also inside of a transaction. */
export async function readStatuses(
  db: Queryable,
  agentId: string,
  serverUrls: readonly string[],
): Promise<Map<string, Connection>> {
  const matches = await listMatches(db, agentId, serverUrls.map(normalizeServerUrl));
  return new Map(
    serverUrls.map((url) => {
      const found = matches.get(normalizeServerUrl(url)) ?? [];
      const one = found.length === 1 ? found[0] : undefined;
      const { vaultId = null, id: credentialId = null, revision = null } = one ?? {};
      return [url, { status: decideStatus(found), vaultId, credentialId, revision }];
    }),
  );
}
