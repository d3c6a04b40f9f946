// Generated from the contract by "npm run generate". Changes are lost.
import type { CallOptions } from '../options.ts';
import type { Agent, AgentEnvironment, AgentVersion, McpServer, Metadata, Reasoning, Role, Timestamp, ToolConfig } from './common.ts';

export type AgentCreate = {
  name: string;
  modelName: string;
  systemPrompt: string;
  skills: Skill[];
  tools: ToolConfig[];
  roles?: Role[] | undefined;
  mcpServers?: McpServer[] | undefined;
  environment?: AgentEnvironment | undefined;
  /** null: the provider's default */
  reasoning?: Reasoning | null | undefined;
  rateLimits?: {
    conversationsPerMinute?: number | undefined;
    messagesPerMinute?: number | undefined;
  } | undefined;
  metadata?: Metadata | undefined;
};

export type AgentPatch = {
  name?: string | undefined;
  modelName?: string | undefined;
  systemPrompt?: string | undefined;
  skills?: Skill[] | undefined;
  tools?: ToolConfig[] | undefined;
  roles?: Role[] | undefined;
  mcpServers?: McpServer[] | undefined;
  environment?: AgentEnvironment | undefined;
  reasoning?: Reasoning | null | undefined;
  metadata?: Metadata | undefined;
  expectedVersion?: number | undefined;
};

export type AgentReplace = {
  name: string;
  modelName: string;
  systemPrompt: string;
  skills: Skill[];
  tools: ToolConfig[];
  roles?: Role[] | undefined;
  mcpServers?: McpServer[] | undefined;
  environment?: AgentEnvironment | undefined;
  /** null: the provider's default */
  reasoning?: Reasoning | null | undefined;
  rateLimits?: {
    conversationsPerMinute?: number | undefined;
    messagesPerMinute?: number | undefined;
  } | undefined;
  metadata?: Metadata | undefined;
  expectedVersion?: number | undefined;
};

export type AgentTag = {
  object: "agent.tag";
  name: string;
  version: number;
  agentVersionId: string;
  createdAt: Timestamp;
  updatedAt: Timestamp;
};

export type AgentVersionFull = {
  id: string;
  version: number;
  modelName: string;
  systemPrompt: string;
  skills: string[];
  roles: Role[];
  mcpServers: McpServer[];
  environment: AgentEnvironment;
  /** null: the provider's default */
  reasoning: Reasoning | null;
  metadata: Metadata;
  createdAt: Timestamp;
  object: "agent.version";
  tools: ToolConfig[];
};

export type ProductionPointer = {
  label: "production";
  version: number;
  agentVersionId: string;
};

export type RateLimitsPatch = {
  conversationsPerMinute?: number | undefined;
  messagesPerMinute?: number | undefined;
};

export type Skill = {
  name: string;
  content: string;
};

export type StandingApproval = {
  object: "approval";
  tool: string;
  createdAt: Timestamp;
};

export type VersionPointer = {
  version: number;
};

export type AgentsOperations = {
  /**
   * The agents of the organization, newest first. `GET /v1/agents`
   *
   * Needs a key with the scope `agents:read`. Errors: validation_error, unauthorized, forbidden, rate_limited, server_error, storage_full.
   */
  listAgents(query?: { limit?: number | undefined; cursor?: string | undefined; offset?: number | undefined; status?: "active" | "archived" | undefined }, options?: CallOptions): Promise<{
    object: "list";
    data: Agent[];
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
   * Create an agent; its version 0 is in production. `POST /v1/agents`
   *
   * Needs a key with the scope `agents:write`. Errors: validation_error, unauthorized, forbidden, payload_too_large, rate_limited, server_error, storage_full.
   */
  createAgent(body: AgentCreate, options?: CallOptions): Promise<Agent>;

  /**
   * An agent with its latest version. `GET /v1/agents/{agentId}`
   *
   * Needs a key with the scope `agents:read`. Errors: validation_error, unauthorized, forbidden, not_found, rate_limited, server_error, storage_full.
   */
  getAgent(agentId: string, options?: CallOptions): Promise<Agent>;

  /**
   * Publish a version by merging; collections are merged by identity. `PATCH /v1/agents/{agentId}`
   *
   * Needs a key with the scope `agents:write`. Errors: validation_error, unauthorized, forbidden, not_found, conflict, invalid_state, payload_too_large, rate_limited, server_error, storage_full.
   */
  patchAgent(agentId: string, body: AgentPatch, options?: CallOptions): Promise<Agent>;

  /**
   * Publish a version by full replacement. `POST /v1/agents/{agentId}`
   *
   * Needs a key with the scope `agents:write`. Errors: validation_error, unauthorized, forbidden, not_found, conflict, invalid_state, payload_too_large, rate_limited, server_error, storage_full.
   */
  replaceAgent(agentId: string, body: AgentReplace, options?: CallOptions): Promise<Agent>;

  /**
   * Delete an agent and its sessions; refused while one of them runs. `DELETE /v1/agents/{agentId}`
   *
   * Needs a key with the scope `agents:deploy`. Errors: validation_error, unauthorized, forbidden, not_found, conflict, rate_limited, server_error, storage_full.
   */
  deleteAgent(agentId: string, options?: CallOptions): Promise<{
    object: "agent.deleted";
    id: string;
    deleted: true;
  }>;

  /**
   * Archive an agent: it takes no new versions and no new sessions. `POST /v1/agents/{agentId}/archive`
   *
   * Needs a key with the scope `agents:write`. Errors: validation_error, unauthorized, forbidden, not_found, rate_limited, server_error, storage_full.
   */
  archiveAgent(agentId: string, options?: CallOptions): Promise<Agent>;

  /**
   * The production pointer. `GET /v1/agents/{agentId}/production`
   *
   * Needs a key with the scope `agents:read`. Errors: validation_error, unauthorized, forbidden, not_found, rate_limited, server_error, storage_full.
   */
  getProduction(agentId: string, options?: CallOptions): Promise<ProductionPointer>;

  /**
   * Move the production pointer to an existing version. `PUT /v1/agents/{agentId}/production`
   *
   * Needs a key with the scope `agents:deploy`. Errors: validation_error, unauthorized, forbidden, not_found, invalid_state, payload_too_large, rate_limited, server_error, storage_full.
   */
  setProduction(agentId: string, body: VersionPointer, options?: CallOptions): Promise<ProductionPointer>;

  /**
   * The development tags, by name. `GET /v1/agents/{agentId}/tags`
   *
   * Needs a key with the scope `agents:read`. Errors: validation_error, unauthorized, forbidden, not_found, rate_limited, server_error, storage_full.
   */
  listTags(agentId: string, query?: { limit?: number | undefined; cursor?: string | undefined; offset?: number | undefined }, options?: CallOptions): Promise<{
    object: "list";
    data: AgentTag[];
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
   * Create or move a development tag. `PUT /v1/agents/{agentId}/tags/{tagName}`
   *
   * Needs a key with the scope `agents:write`. Errors: validation_error, unauthorized, forbidden, not_found, invalid_state, payload_too_large, rate_limited, server_error, storage_full.
   */
  setTag(agentId: string, tagName: string, body: VersionPointer, options?: CallOptions): Promise<AgentTag>;

  /**
   * Delete a development tag. `DELETE /v1/agents/{agentId}/tags/{tagName}`
   *
   * Needs a key with the scope `agents:write`. Errors: validation_error, unauthorized, forbidden, not_found, invalid_state, rate_limited, server_error, storage_full.
   */
  deleteTag(agentId: string, tagName: string, options?: CallOptions): Promise<{
    object: "agent.tag.deleted";
    name: string;
    deleted: true;
  }>;

  /**
   * Change a subject's allowances; no new version, existing sessions follow. `PATCH /v1/agents/{agentId}/rate-limits`
   *
   * Needs a key with the scope `agents:write`. Errors: validation_error, unauthorized, forbidden, not_found, invalid_state, payload_too_large, rate_limited, server_error, storage_full.
   */
  setRateLimits(agentId: string, body: RateLimitsPatch, options?: CallOptions): Promise<Agent>;

  /**
   * The versions, newest first. `GET /v1/agents/{agentId}/versions`
   *
   * Needs a key with the scope `agents:read`. Errors: validation_error, unauthorized, forbidden, not_found, rate_limited, server_error, storage_full.
   */
  listVersions(agentId: string, query?: { limit?: number | undefined; cursor?: string | undefined; offset?: number | undefined }, options?: CallOptions): Promise<{
    object: "list";
    data: AgentVersion[];
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
   * One version with its tools. `GET /v1/agents/{agentId}/versions/{version}`
   *
   * Needs a key with the scope `agents:read`. Errors: validation_error, unauthorized, forbidden, not_found, rate_limited, server_error, storage_full.
   */
  getVersion(agentId: string, version: string, options?: CallOptions): Promise<AgentVersionFull>;

  /**
   * The tools that a subject has approved for good. `GET /v1/agents/{agentId}/users/{subjectId}/approvals`
   *
   * Needs a key with the scope `agents:read`. Errors: validation_error, unauthorized, forbidden, not_found, rate_limited, server_error, storage_full.
   */
  listApprovals(agentId: string, subjectId: string, query?: { limit?: number | undefined; cursor?: string | undefined; offset?: number | undefined }, options?: CallOptions): Promise<{
    object: "list";
    data: StandingApproval[];
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
   * Revoke every standing approval of a subject. `DELETE /v1/agents/{agentId}/users/{subjectId}/approvals`
   *
   * Needs a key with the scope `agents:write`. Errors: validation_error, unauthorized, forbidden, not_found, rate_limited, server_error, storage_full.
   */
  deleteApprovals(agentId: string, subjectId: string, options?: CallOptions): Promise<{
    object: "approval.deleted";
    tool: null;
    deleted: true;
  }>;

  /**
   * Revoke one standing approval. `DELETE /v1/agents/{agentId}/users/{subjectId}/approvals/{tool}`
   *
   * Needs a key with the scope `agents:write`. Errors: validation_error, unauthorized, forbidden, not_found, rate_limited, server_error, storage_full.
   */
  deleteApproval(agentId: string, subjectId: string, tool: string, options?: CallOptions): Promise<{
    object: "approval.deleted";
    tool: string;
    deleted: true;
  }>;
};
