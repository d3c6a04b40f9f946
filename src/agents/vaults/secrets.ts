import type { CredentialAuth, CredentialRotation, PublicAuth, TokenEndpointAuth } from '../contract/vaults.ts';
import type { MasterKeys, Sealed } from '../../platform/master-key.ts';
import { describeSealedTable } from '../../platform/store/rewrap.ts';
import { omitUndefined } from '../../platform/records.ts';

/** The encrypted part of a credential. */
export type Secrets = { token: string; refreshToken?: string; clientSecret?: string };

/** Splits a credential into its visible part and its secrets. */
export function splitAuth(auth: CredentialAuth): { shown: PublicAuth; secrets: Secrets } {
  const { mcpServerUrl } = auth;
  if (auth.type === 'static_bearer') {
    return { shown: { type: 'static_bearer', mcpServerUrl }, secrets: { token: auth.token } };
  }
  const { accessToken: token, refresh } = auth;
  const grant = { type: 'mcp_oauth', mcpServerUrl, expiresAt: auth.expiresAt ?? null } as const;
  if (refresh === undefined || refresh === null) return { shown: { ...grant, refresh: null }, secrets: { token } };
  const { tokenEndpoint, clientId, refreshToken, tokenEndpointAuth } = refresh;
  const clientSecret = findClientSecret(tokenEndpointAuth);
  return {
    shown: { ...grant, refresh: { tokenEndpoint, clientId, tokenEndpointAuth: { type: tokenEndpointAuth.type } } },
    secrets: { token, refreshToken, ...omitUndefined({ clientSecret }) },
  };
}

function findClientSecret(auth: TokenEndpointAuth): string | undefined {
  return auth.type === 'none' ? undefined : auth.clientSecret;
}

/** The credential after a rotation of the same type. */
export function rotate(
  shown: PublicAuth,
  secrets: Secrets,
  rotation: CredentialRotation,
): { shown: PublicAuth; secrets: Secrets } {
  if (rotation.type === 'static_bearer') return { shown, secrets: { token: rotation.token } };
  const refreshToken = rotation.refresh?.refreshToken ?? secrets.refreshToken;
  return {
    shown:
      shown.type === 'mcp_oauth' && rotation.expiresAt !== undefined
        ? { ...shown, expiresAt: rotation.expiresAt }
        : shown,
    secrets: {
      ...secrets,
      token: rotation.accessToken ?? secrets.token,
      ...omitUndefined({ refreshToken }),
    },
  };
}

function credentialContext(id: string): string {
  return `credential/${id}`;
}

export const SEALED_CREDENTIALS = describeSealedTable('vault_credentials', credentialContext);

export function sealSecrets(keys: MasterKeys, id: string, secrets: Secrets): Sealed {
  return keys.seal(JSON.stringify(secrets), credentialContext(id));
}

/** Throws `UnsealError`. */
export function unsealSecrets(keys: MasterKeys, id: string, sealed: Sealed): Secrets {
  return JSON.parse(keys.unseal(sealed, credentialContext(id))) as Secrets;
}
