import { z } from 'zod';
import { ServerUrl } from './agents.ts';
import { GivenTime, Id, Metadata, Timestamp, deletedBody } from '../../platform/contract/common.ts';

const DisplayName = z.string().min(1).max(200);
/** Sent to a server as it is, so it must fit into a header. Accepted and never returned. */
export const Token = z
  .string()
  .min(1)
  .max(16_384)
  .regex(/^[\x21-\x7e]+$/, 'must hold visible ASCII only');
const Secret = z.string().min(1).max(16_384);

export const VaultCreate = z
  .object({ displayName: DisplayName, metadata: Metadata.optional() })
  .meta({ id: 'VaultCreate' });
export type VaultCreate = z.infer<typeof VaultCreate>;

export const Vault = z
  .object({
    id: Id,
    type: z.literal('vault'),
    displayName: z.string(),
    metadata: Metadata,
    archivedAt: Timestamp.nullable(),
    createdAt: Timestamp,
    updatedAt: Timestamp,
  })
  .meta({ id: 'Vault' });
export type Vault = z.infer<typeof Vault>;

export const VaultDeleted = deletedBody('vault.deleted');

/** How the client shows itself to the token endpoint. */
export const TokenEndpointAuth = z
  .discriminatedUnion('type', [
    z.object({ type: z.literal('none') }).meta({ id: 'TokenEndpointNone' }),
    z.object({ type: z.literal('client_secret_basic'), clientSecret: Secret }).meta({ id: 'TokenEndpointSecretBasic' }),
    z.object({ type: z.literal('client_secret_post'), clientSecret: Secret }).meta({ id: 'TokenEndpointSecretPost' }),
  ])
  .meta({ id: 'TokenEndpointAuth' });
export type TokenEndpointAuth = z.infer<typeof TokenEndpointAuth>;

export const OAuthRefresh = z.object({
  tokenEndpoint: ServerUrl,
  clientId: z.string().min(1).max(2048),
  refreshToken: Secret,
  tokenEndpointAuth: TokenEndpointAuth,
});

export const StaticBearerAuth = z
  .object({
    type: z.literal('static_bearer'),
    mcpServerUrl: ServerUrl,
    token: Token,
  })
  .meta({ id: 'StaticBearerAuth' });

/** Without `refresh` the token is used until it expires; without `expiresAt` it does not. */
export const McpOAuthAuth = z
  .object({
    type: z.literal('mcp_oauth'),
    mcpServerUrl: ServerUrl,
    accessToken: Token,
    expiresAt: GivenTime.nullish(),
    refresh: OAuthRefresh.nullish(),
  })
  .meta({ id: 'McpOAuthAuth' });

export const CredentialAuth = z
  .discriminatedUnion('type', [StaticBearerAuth, McpOAuthAuth])
  .meta({ id: 'CredentialAuth' });
export type CredentialAuth = z.infer<typeof CredentialAuth>;

export const CredentialCreate = z
  .object({ displayName: DisplayName, metadata: Metadata.nullish(), auth: CredentialAuth })
  .meta({ id: 'CredentialCreate' });
export type CredentialCreate = z.infer<typeof CredentialCreate>;

const changesSomething = ({ type: _type, mcpServerUrl: _url, ...rest }: Record<string, unknown>) =>
  Object.values(rest).some((value) => value !== undefined);

const StoredUrl = z
  .string()
  .max(2000)
  .optional()
  .describe('if given, the URL that the credential has: it cannot be changed');

/** The type and the server's URL are those of the credential. */
export const CredentialRotation = z
  .discriminatedUnion('type', [
    z
      .object({ type: z.literal('static_bearer'), mcpServerUrl: StoredUrl, token: Token })
      .meta({ id: 'StaticBearerRotation' }),
    z
      .object({
        type: z.literal('mcp_oauth'),
        mcpServerUrl: StoredUrl,
        accessToken: Token.optional(),
        expiresAt: GivenTime.nullish(),
        refresh: z.object({ refreshToken: Secret }).optional(),
      })
      .refine(changesSomething, 'must change at least one field')
      .meta({ id: 'McpOAuthRotation' }),
  ])
  .meta({ id: 'CredentialRotation' });
export type CredentialRotation = z.infer<typeof CredentialRotation>;

export const CredentialPatch = z
  .object({
    displayName: DisplayName.optional(),
    metadata: Metadata.nullish(),
    auth: CredentialRotation.optional(),
  })
  .refine((body) => Object.values(body).some((value) => value !== undefined), 'must change at least one field')
  .meta({ id: 'CredentialPatch' });
export type CredentialPatch = z.infer<typeof CredentialPatch>;

/** A credential without its secrets. */
export const PublicAuth = z
  .discriminatedUnion('type', [
    z.object({ type: z.literal('static_bearer'), mcpServerUrl: z.string() }).meta({ id: 'PublicStaticBearer' }),
    z
      .object({
        type: z.literal('mcp_oauth'),
        mcpServerUrl: z.string(),
        expiresAt: Timestamp.nullable(),
        refresh: z
          .object({
            tokenEndpoint: z.string(),
            clientId: z.string(),
            tokenEndpointAuth: z.object({ type: z.enum(['none', 'client_secret_basic', 'client_secret_post']) }),
          })
          .nullable(),
      })
      .meta({ id: 'PublicMcpOAuth' }),
  ])
  .meta({ id: 'PublicAuth' });
export type PublicAuth = z.infer<typeof PublicAuth>;

export const Credential = z
  .object({
    id: Id,
    type: z.literal('vault_credential'),
    vaultId: Id,
    displayName: z.string(),
    metadata: Metadata.nullable(),
    auth: PublicAuth,
    archivedAt: Timestamp.nullable(),
    createdAt: Timestamp,
    updatedAt: Timestamp,
  })
  .meta({ id: 'Credential' });
export type Credential = z.infer<typeof Credential>;

export const CredentialDeleted = deletedBody('vault_credential.deleted');

/** Derived from the attached credentials whose server URL is the same, normalized. */
export const ConnectionStatus = z.enum(['public', 'connected', 'reconnect', 'conflict', 'unavailable']);
export type ConnectionStatus = z.infer<typeof ConnectionStatus>;

export const McpConnection = z
  .object({
    mcpServerName: z.string(),
    mcpServerUrl: z.string(),
    status: ConnectionStatus,
    /** of the one credential that matches */
    vaultId: Id.nullable(),
    credentialId: Id.nullable(),
  })
  .meta({ id: 'McpConnection' });
export type McpConnection = z.infer<typeof McpConnection>;

export const AgentVaults = z
  .object({
    object: z.literal('agent.vaults'),
    agentId: Id,
    updatedAt: Timestamp,
    data: z.array(Vault),
    connections: z.array(McpConnection),
  })
  .meta({ id: 'AgentVaults' });
export type AgentVaults = z.infer<typeof AgentVaults>;

export const AgentVaultsPut = z
  .object({ vaultIds: z.array(Id).max(100), expectedUpdatedAt: GivenTime.optional() })
  .meta({ id: 'AgentVaultsPut' });
