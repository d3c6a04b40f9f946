import type { ConnectionStatus } from '../contract/vaults.ts';
import type { StoredCredential } from '../store/credentials.ts';

/** How a server is connected, by the attached credentials whose URL is its own. */
export function decideStatus(matches: readonly StoredCredential[]): ConnectionStatus {
  const [credential] = matches;
  if (credential === undefined) return 'public';
  if (matches.length > 1) return 'conflict';
  if (credential.health === 'refused') return 'reconnect';
  if (isExpired(credential) && !credential.refreshable) return 'reconnect';
  return credential.health === 'unavailable' ? 'unavailable' : 'connected';
}

export function isExpired({ expiresIn }: StoredCredential): boolean {
  return expiresIn !== null && expiresIn <= 0;
}
