// Generated from the contract by "npm run generate". Changes are lost.

export type Agent = {
  object: "agent";
  id: string;
  name: string;
  status: "active" | "archived";
  metadata: Metadata;
  rateLimits: RateLimits;
  productionVersion: number;
  version: AgentVersion;
  tools: ToolConfig[];
  createdAt: Timestamp;
  updatedAt: Timestamp;
  /** in answers to changes: what was accepted but does not work yet */
  warnings?: {
    field: string;
    message: string;
  }[] | undefined;
};

export type AgentEnvironment = {
  /** Name of the SandboxClass on Kubernetes; null: the default. Ignored elsewhere. */
  sandboxClass: string | null;
};

export type AgentToolset = {
  type: "agent_toolset";
  defaultConfig?: {
    enabled?: boolean | undefined;
    permissionPolicy?: PermissionPolicy | undefined;
  } | undefined;
  configs?: Array<{
    enabled?: boolean | undefined;
    permissionPolicy?: PermissionPolicy | undefined;
    name: "clarify" | "vision" | "skills" | "todo" | "memory" | "session_search" | "code_execution" | "web" | "terminal" | "file" | "delegation" | "video" | "website_login";
  }> | undefined;
};

export type AgentVersion = {
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
};

export type Asset = {
  id: string;
  asset_id: string;
  asset_s3_key: string;
  asset_url: string | null;
  asset_type: "image" | "video";
  prompt: string;
  model_name: string | null;
  published_at: number | null;
  created_at: number | null;
  metadata: Record<string, unknown> | null;
  source: "community" | "history";
};

export type BudgetRef = {
  scope: "organization" | "key" | "agent" | "subject" | "automation" | "session";
  id: string;
  limitUsd: number;
  /** `session`: for each session by itself. Days, weeks (from Monday) and months are those of UTC */
  period: "session" | "day" | "week" | "month" | "total";
  /** `pause`: turns end, and go on by themselves once the budget is raised; `refuse`: turns end; `notify`: nothing is refused */
  onReached: "pause" | "refuse" | "notify";
  /** in this period, at that moment */
  spentUsd: number;
};

export type CustomTool = {
  type: "custom_tool";
  name: string;
  description: string;
  input_schema: Record<string, unknown>;
  enabled?: boolean | undefined;
  permissionPolicy?: PermissionPolicy | undefined;
};

export type ErrorBody = {
  error: "validation_error" | "unauthorized" | "forbidden" | "not_found" | "method_not_allowed" | "conflict" | "invalid_state" | "no_active_turn" | "response_expired" | "payload_too_large" | "range_not_satisfiable" | "rate_limited" | "server_error" | "service_delete_failed" | "storage_full";
  message: string;
  retryable?: false | undefined;
  rateLimit?: {
    resource: "conversations" | "messages" | "requests";
    limit: number;
    remaining: number;
    periodSeconds: number;
    resetAfterSeconds: number;
  } | undefined;
};

export type Goal = {
  /** what stood behind `/goal ` */
  objective: string;
  status: "active" | "paused" | "done" | "cleared";
  /** turns that were judged since the goal was set or resumed */
  turnsUsed: number;
  maxTurns: number;
  /** what the judge said last, or why the goal is paused */
  reason: string | null;
};

export type McpServer = {
  type: "url";
  name: string;
  url: string;
};

export type McpToolset = {
  type: "mcp_toolset";
  mcpServerName: string;
  defaultConfig?: {
    enabled?: boolean | undefined;
    permissionPolicy?: PermissionPolicy | undefined;
  } | undefined;
  configs?: Array<{
    enabled?: boolean | undefined;
    permissionPolicy?: PermissionPolicy | undefined;
    name: string;
  }> | undefined;
  resources?: boolean | undefined;
  prompts?: boolean | undefined;
};

export type Metadata = Record<string, unknown>;

export type PendingAction = {
  eventId: string;
  type: "agent.approval_request" | "agent.custom_tool_use" | "agent.clarify_request";
};

export type PermissionPolicy = {
  type: "always_allow" | "always_ask" | "always_deny";
  /** who may answer; absent: whoever may answer at all */
  approvers?: string[] | undefined;
  /** whoever sent the prompt may not answer, nor the person who is the subject */
  separationOfDuties?: boolean | undefined;
};

export type RateLimits = {
  conversationsPerMinute: number;
  messagesPerMinute: number;
};

export type Reasoning = {
  effort: "none" | "low" | "medium" | "high" | "max";
};

export type RefusedRequest = {
  error: "validation_error";
  message: string;
};

export type Role = {
  name: string;
  description?: string | undefined;
  tools: ToolConfig[];
};

export type Session = {
  object: "session";
  id: string;
  agentId: string;
  agentName: string;
  agentVersion: number;
  agentVersionId: string;
  subjectId: SubjectId;
  role: string | null;
  title: string | null;
  status: "idle" | "running" | "waiting_on_human" | "archived";
  yoloMode: boolean;
  preview: boolean;
  tag: string | null;
  /** null: the agent version's */
  reasoning: Reasoning | null;
  metadata: Metadata;
  automationId: string | null;
  goal: Goal | null;
  pendingActions: PendingAction[];
  /** number of `pendingActions` */
  openActions: number;
  /** sequence of the last durable event; 0 when there is none */
  lastSequence: number;
  /** why the latest turn stopped or waits; null before the first turn */
  lastStopReason: StopReason | null;
  /** of the turn that runs or waits; null when there is none */
  turnStartedAt: Timestamp | null;
  queuedCount: number;
  /** set while the turn waits for its model provider */
  waiting: {
    /** one sentence for people */
    reason: string;
    code: "upstream_rate_limited" | "upstream_overloaded" | "upstream_unavailable" | "upstream_rejected" | "upstream_authentication" | "unknown_model" | "context_overflow" | "output_limit" | "content_filtered" | "empty_reply" | "repeated_failure" | "step_limit" | "internal";
    /** failed tries of this model call so far */
    attempt: number;
    retryAt: Timestamp;
  } | null;
  /** enabled MCP servers, as they were in the latest turn */
  mcpServers: SessionMcpServer[];
  /** null until a turn has completed */
  usage: Usage | null;
  createdAt: Timestamp;
  updatedAt: Timestamp;
  lastActivityAt: Timestamp;
  archivedAt: Timestamp | null;
};

export type SessionMcpServer = {
  name: string;
  /** `unavailable`: the server did not list its tools, so the turn had none of them */
  status: "public" | "connected" | "reconnect" | "conflict" | "unavailable";
  /** why it is unavailable, in one sentence */
  reason: string | null;
};

export type StopBudgetReached = {
  type: "budget_reached";
  budget: BudgetRef;
};

export type StopEndTurn = {
  type: "end_turn";
};

export type StopError = {
  type: "error";
  code: "upstream_rate_limited" | "upstream_overloaded" | "upstream_unavailable" | "upstream_rejected" | "upstream_authentication" | "unknown_model" | "context_overflow" | "output_limit" | "content_filtered" | "empty_reply" | "repeated_failure" | "step_limit" | "internal";
  message: string;
  /** whether the same prompt may succeed later */
  retryable: boolean;
};

export type StopReason = StopEndTurn | StopError | StopRequiresAction | StopBudgetReached;

export type StopRequiresAction = {
  type: "requires_action";
  event_ids: string[];
};

export type SubjectId = string;

export type Timestamp = string;

export type ToolConfig = AgentToolset | McpToolset | CustomTool;

export type Usage = {
  model?: string | undefined;
  /** includes cached tokens */
  input?: number | undefined;
  /** includes reasoning tokens */
  output?: number | undefined;
  cache_read?: number | undefined;
  cache_write?: number | undefined;
  reasoning?: number | undefined;
  total?: number | undefined;
  calls?: number | undefined;
  context_used?: number | undefined;
  context_max?: number | undefined;
  context_percent?: number | undefined;
  /** omitted when pricing is unavailable */
  cost_usd?: number | undefined;
  cost_status?: "estimated" | "included" | "unknown" | undefined;
  last_turn_latency_ms?: number | undefined;
  latency_ms?: number | undefined;
};

export type VideoError = {
  error: "validation_error" | "unsupported_model" | "unsupported_parameter" | "invalid_reference" | "unauthorized" | "insufficient_credits" | "forbidden" | "not_found" | "method_not_allowed" | "conflict" | "payload_too_large" | "range_not_satisfiable" | "rate_limited" | "server_error" | "storage_full" | "free_tier_paused";
  message: string;
  request_id: string;
  details?: {
    path: string;
    message: string;
  }[] | undefined;
  required?: number | undefined;
  balance?: number | undefined;
};

export type VideoPagination = {
  /** absent where the page was asked for by cursor */
  offset?: number | undefined;
  limit: number;
  has_more: boolean;
  /** null on the last page */
  next_cursor: string | null;
};
