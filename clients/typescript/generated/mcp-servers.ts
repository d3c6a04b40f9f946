// Generated from the contract by "npm run generate". Changes are lost.
import type { CallOptions } from '../options.ts';
import type { Agent } from './common.ts';

export type CatalogConnector = {
  type: "catalog";
  id: string;
};

export type CustomConnector = {
  type: "custom";
  name: string;
  url: string;
};

export type ExistingVault = {
  type: "existing_vault";
  vaultId: string;
};

export type McpAuthentication = NoAuthentication | ExistingVault | NewStaticBearer;

export type McpConnector = CatalogConnector | CustomConnector;

export type McpInstall = {
  expectedAgentVersion: number;
  idempotencyKey: string;
  connector: McpConnector;
  authentication: McpAuthentication;
  defaultPermission?: "always_ask" | "always_allow" | "always_deny" | undefined;
};

export type McpInstallation = {
  object: "mcp.installation";
  agent: Agent;
  version: number;
  mcpServerName: string;
  vaultId: string | null;
  credentialId: string | null;
  status: "public" | "connected" | "reconnect" | "conflict" | "unavailable";
};

export type McpTest = {
  object: "mcp.test";
  ok: boolean;
  serverName: string;
  /** of the credential: `connected` means that there is one */
  status: "public" | "connected" | "reconnect" | "conflict" | "unavailable";
  latencyMs: number;
  protocolVersion: string | null;
  tools: {
    name: string;
    description: string;
  }[];
  error: string | null;
};

export type NewStaticBearer = {
  type: "static_bearer";
  token: string;
};

export type NoAuthentication = {
  type: "none";
};

export type MCPserversOperations = {
  /**
   * Connect to an MCP server of the latest version and list its tools. `POST /v1/agents/{agentId}/mcp/{serverName}/test`
   *
   * Needs a key with the scope `agents:write`. Errors: validation_error, unauthorized, forbidden, not_found, rate_limited, server_error, storage_full.
   */
  testMcpServer(agentId: string, serverName: string, options?: CallOptions): Promise<McpTest>;

  /**
   * Add an MCP server with its credential and permissions: publishes a version, leaves production alone. `POST /v1/agents/{agentId}/mcp/installations`
   *
   * Needs a key with the scope `agents:deploy`. Errors: validation_error, unauthorized, forbidden, not_found, conflict, invalid_state, payload_too_large, rate_limited, server_error, storage_full.
   */
  installMcpServer(agentId: string, body: McpInstall, options?: CallOptions): Promise<McpInstallation>;
};
