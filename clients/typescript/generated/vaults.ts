// Generated from the contract by "npm run generate". Changes are lost.
import type { CallOptions } from '../options.ts';
import type { Metadata, Timestamp } from './common.ts';

export type AgentVaults = {
  object: "agent.vaults";
  agentId: string;
  updatedAt: Timestamp;
  data: Vault[];
  connections: McpConnection[];
};

export type AgentVaultsPut = {
  vaultIds: string[];
  expectedUpdatedAt?: Timestamp | undefined;
};

export type Credential = {
  id: string;
  type: "vault_credential";
  vaultId: string;
  displayName: string;
  metadata: Metadata | null;
  auth: PublicAuth;
  archivedAt: Timestamp | null;
  createdAt: Timestamp;
  updatedAt: Timestamp;
};

export type CredentialAuth = StaticBearerAuth | McpOAuthAuth;

export type CredentialCreate = {
  displayName: string;
  metadata?: Metadata | null | undefined;
  auth: CredentialAuth;
};

export type CredentialPatch = {
  displayName?: string | undefined;
  metadata?: Metadata | null | undefined;
  auth?: CredentialRotation | undefined;
};

export type CredentialRotation = StaticBearerRotation | McpOAuthRotation;

export type McpConnection = {
  mcpServerName: string;
  mcpServerUrl: string;
  status: "public" | "connected" | "reconnect" | "conflict" | "unavailable";
  vaultId: string | null;
  credentialId: string | null;
};

export type McpOAuthAuth = {
  type: "mcp_oauth";
  mcpServerUrl: string;
  accessToken: string;
  expiresAt?: Timestamp | null | undefined;
  refresh?: {
    tokenEndpoint: string;
    clientId: string;
    refreshToken: string;
    tokenEndpointAuth: TokenEndpointAuth;
  } | null | undefined;
};

export type McpOAuthRotation = {
  type: "mcp_oauth";
  /** if given, the URL that the credential has: it cannot be changed */
  mcpServerUrl?: string | undefined;
  accessToken?: string | undefined;
  expiresAt?: Timestamp | null | undefined;
  refresh?: {
    refreshToken: string;
  } | undefined;
};

export type PublicAuth = PublicStaticBearer | PublicMcpOAuth;

export type PublicMcpOAuth = {
  type: "mcp_oauth";
  mcpServerUrl: string;
  expiresAt: Timestamp | null;
  refresh: {
    tokenEndpoint: string;
    clientId: string;
    tokenEndpointAuth: {
      type: "none" | "client_secret_basic" | "client_secret_post";
    };
  } | null;
};

export type PublicStaticBearer = {
  type: "static_bearer";
  mcpServerUrl: string;
};

export type StaticBearerAuth = {
  type: "static_bearer";
  mcpServerUrl: string;
  token: string;
};

export type StaticBearerRotation = {
  type: "static_bearer";
  /** if given, the URL that the credential has: it cannot be changed */
  mcpServerUrl?: string | undefined;
  token: string;
};

export type TokenEndpointAuth = TokenEndpointNone | TokenEndpointSecretBasic | TokenEndpointSecretPost;

export type TokenEndpointNone = {
  type: "none";
};

export type TokenEndpointSecretBasic = {
  type: "client_secret_basic";
  clientSecret: string;
};

export type TokenEndpointSecretPost = {
  type: "client_secret_post";
  clientSecret: string;
};

export type Vault = {
  id: string;
  type: "vault";
  displayName: string;
  metadata: Metadata;
  archivedAt: Timestamp | null;
  createdAt: Timestamp;
  updatedAt: Timestamp;
};

export type VaultCreate = {
  displayName: string;
  metadata?: Metadata | undefined;
};

export type VaultsOperations = {
  /**
   * Create a vault for credentials of MCP servers. `POST /v1/vaults`
   *
   * Needs a key with the scope `agents:write`. Errors: validation_error, unauthorized, forbidden, payload_too_large, rate_limited, server_error, storage_full.
   */
  createVault(body: VaultCreate, options?: CallOptions): Promise<Vault>;

  /**
   * The active vaults, newest first. `GET /v1/vaults`
   *
   * Needs a key with the scope `agents:read`. Errors: validation_error, unauthorized, forbidden, rate_limited, server_error, storage_full.
   */
  listVaults(query?: { limit?: number | undefined; cursor?: string | undefined; offset?: number | undefined }, options?: CallOptions): Promise<{
    object: "list";
    data: Vault[];
    pagination: {
      limit: number;
      hasMore: boolean;
      /** null on the last page */
      nextCursor: string | null;
      /** absent where the page was asked for by cursor */
      offset?: number | undefined;
      /** absent where the page was asked for by cursor */
      total?: number | undefined;
    };
  }>;

  /**
   * A vault, active or archived. `GET /v1/vaults/{vaultId}`
   *
   * Needs a key with the scope `agents:read`. Errors: validation_error, unauthorized, forbidden, not_found, rate_limited, server_error, storage_full.
   */
  getVault(vaultId: string, options?: CallOptions): Promise<Vault>;

  /**
   * Delete an empty vault and its attachments. `DELETE /v1/vaults/{vaultId}`
   *
   * Needs a key with the scope `agents:deploy`. Errors: validation_error, unauthorized, forbidden, not_found, conflict, rate_limited, server_error, storage_full.
   */
  deleteVault(vaultId: string, options?: CallOptions): Promise<{
    object: "vault.deleted";
    id: string;
    deleted: true;
  }>;

  /**
   * Archive a vault: it takes no new credentials and attachments, and its credentials are not used. `POST /v1/vaults/{vaultId}/archive`
   *
   * Needs a key with the scope `agents:deploy`. Errors: validation_error, unauthorized, forbidden, not_found, rate_limited, server_error, storage_full.
   */
  archiveVault(vaultId: string, options?: CallOptions): Promise<Vault>;

  /**
   * Store a credential; its secrets are never returned. `POST /v1/vaults/{vaultId}/credentials`
   *
   * Needs a key with the scope `agents:deploy`. Errors: validation_error, unauthorized, forbidden, not_found, invalid_state, payload_too_large, rate_limited, server_error, storage_full.
   */
  createCredential(vaultId: string, body: CredentialCreate, options?: CallOptions): Promise<Credential>;

  /**
   * The active credentials of a vault, newest first, without their secrets. `GET /v1/vaults/{vaultId}/credentials`
   *
   * Needs a key with the scope `agents:read`. Errors: validation_error, unauthorized, forbidden, not_found, rate_limited, server_error, storage_full.
   */
  listCredentials(vaultId: string, query?: { limit?: number | undefined; cursor?: string | undefined; offset?: number | undefined }, options?: CallOptions): Promise<{
    object: "list";
    data: Credential[];
    pagination: {
      limit: number;
      hasMore: boolean;
      /** null on the last page */
      nextCursor: string | null;
      /** absent where the page was asked for by cursor */
      offset?: number | undefined;
      /** absent where the page was asked for by cursor */
      total?: number | undefined;
    };
  }>;

  /**
   * A credential, active or archived, without its secrets. `GET /v1/vaults/{vaultId}/credentials/{credentialId}`
   *
   * Needs a key with the scope `agents:read`. Errors: validation_error, unauthorized, forbidden, not_found, rate_limited, server_error, storage_full.
   */
  getCredential(vaultId: string, credentialId: string, options?: CallOptions): Promise<Credential>;

  /**
   * Rotate the secrets of a credential, or change how it is shown. `PATCH /v1/vaults/{vaultId}/credentials/{credentialId}`
   *
   * Needs a key with the scope `agents:deploy`. Errors: validation_error, unauthorized, forbidden, not_found, invalid_state, payload_too_large, rate_limited, server_error, storage_full.
   */
  patchCredential(vaultId: string, credentialId: string, body: CredentialPatch, options?: CallOptions): Promise<Credential>;

  /**
   * Delete a credential for good. `DELETE /v1/vaults/{vaultId}/credentials/{credentialId}`
   *
   * Needs a key with the scope `agents:deploy`. Errors: validation_error, unauthorized, forbidden, not_found, rate_limited, server_error, storage_full.
   */
  deleteCredential(vaultId: string, credentialId: string, options?: CallOptions): Promise<{
    object: "vault_credential.deleted";
    id: string;
    deleted: true;
  }>;

  /**
   * Archive a credential: it is not used any longer. `POST /v1/vaults/{vaultId}/credentials/{credentialId}/archive`
   *
   * Needs a key with the scope `agents:deploy`. Errors: validation_error, unauthorized, forbidden, not_found, rate_limited, server_error, storage_full.
   */
  archiveCredential(vaultId: string, credentialId: string, options?: CallOptions): Promise<Credential>;

  /**
   * An agent's vaults, and how the MCP servers of its latest version are connected. `GET /v1/agents/{agentId}/vaults`
   *
   * Needs a key with the scope `agents:read`. Errors: validation_error, unauthorized, forbidden, not_found, rate_limited, server_error, storage_full.
   */
  getAgentVaults(agentId: string, options?: CallOptions): Promise<AgentVaults>;

  /**
   * Replace the whole set of an agent's vaults. `PUT /v1/agents/{agentId}/vaults`
   *
   * Needs a key with the scope `agents:write`. Errors: validation_error, unauthorized, forbidden, not_found, conflict, invalid_state, payload_too_large, rate_limited, server_error, storage_full.
   */
  setAgentVaults(agentId: string, body: AgentVaultsPut, options?: CallOptions): Promise<AgentVaults>;
};
