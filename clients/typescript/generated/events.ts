// Generated from the contract by "npm run generate". Changes are lost.
import type { CallOptions } from '../options.ts';
import type { StopReason, Timestamp, Usage } from './common.ts';

export type AgentApprovalRequest = {
  type: "agent.approval_request";
  id: string;
  tool_use_id: string;
  kind: "builtin" | "mcp" | "custom";
  tool_name: string;
  toolset: string | null;
  mcp_server_name: string | null;
  input: unknown;
  scopes: Array<"once" | "session" | "always">;
  /** who may answer; absent: whoever may answer at all */
  approvers?: string[] | undefined;
  /** not whoever asked for it */
  separation_of_duties?: true | undefined;
};

export type AgentClarifyRequest = {
  type: "agent.clarify_request";
  request_id: string;
  id: string;
  question: string;
  choices: string[] | null;
};

export type AgentCustomToolUse = {
  type: "agent.custom_tool_use";
  id: string;
  name: string;
  input: unknown;
};

export type AgentMcpToolResult = {
  type: "agent.mcp_tool_result";
  tool_use_id: string;
  mcp_tool_use_id: string;
  mcp_server_name: string;
  name: string;
  content: TextBlock[];
  is_error: boolean;
  duration_ms: number;
  /** of a call made inside another one: the use of the tool that made it */
  parent_tool_use_id?: string | undefined;
  /** the subagent that made it */
  thread_id?: string | undefined;
};

export type AgentMcpToolUse = {
  type: "agent.mcp_tool_use";
  mcp_server_name: string;
  id: string;
  name: string;
  toolset: string | null;
  input: unknown;
  evaluated_permission: "allow" | "ask" | "deny";
  /** of a call made inside another one: the use of the tool that made it */
  parent_tool_use_id?: string | undefined;
  /** the subagent that made it */
  thread_id?: string | undefined;
};

export type AgentMessage = {
  type: "agent.message";
  id: string;
  delta: boolean;
  /** of deltas only: where in the text they begin, in UTF-16 units */
  offset?: number | undefined;
  content: TextBlock[];
};

export type AgentMessageDiscarded = {
  type: "agent.message_discarded";
  /** whose deltas or streaming frames to drop: no event with this id follows */
  id: string;
};

export type AgentThinking = {
  type: "agent.thinking";
  id: string;
  delta: boolean;
  /** of deltas only: where in the text they begin, in UTF-16 units */
  offset?: number | undefined;
  content: TextBlock[];
};

export type AgentThreadMessageReceived = {
  type: "agent.thread_message_received";
  thread_id: string;
  agent_name: string;
  tool_use_id: string;
  content: TextBlock[];
  status: "completed" | "failed" | "interrupted";
  is_error: boolean;
  usage: Usage;
};

export type AgentThreadMessageSent = {
  type: "agent.thread_message_sent";
  thread_id: string;
  agent_name: string;
  tool_use_id: string;
  content: TextBlock[];
};

export type AgentToolOutput = {
  type: "agent.tool_output";
  tool_use_id: string;
  /** whole lines; the result has all of the output */
  content: TextBlock[];
};

export type AgentToolResult = {
  type: "agent.tool_result";
  tool_use_id: string;
  name: string;
  content: TextBlock[];
  is_error: boolean;
  duration_ms: number;
  /** of a call made inside another one: the use of the tool that made it */
  parent_tool_use_id?: string | undefined;
  /** the subagent that made it */
  thread_id?: string | undefined;
};

export type AgentToolUse = {
  type: "agent.tool_use";
  id: string;
  name: string;
  toolset: string | null;
  input: unknown;
  evaluated_permission: "allow" | "ask" | "deny";
  /** of a call made inside another one: the use of the tool that made it */
  parent_tool_use_id?: string | undefined;
  /** the subagent that made it */
  thread_id?: string | undefined;
};

export type AttachmentSummary = {
  type: "file";
  filename: string;
  mediaType: "application/pdf" | "text/csv" | "application/csv" | "text/plain" | "text/markdown" | "text/x-markdown" | "application/vnd.openxmlformats-officedocument.wordprocessingml.document" | "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet" | "image/png" | "image/jpeg" | "image/webp" | "image/gif" | "image/bmp";
  sizeBytes: number;
  /** path of the bytes */
  href: string;
  analysisMode?: "default" | "visual" | undefined;
};

export type EventEnvelope = {
  id: string;
  type: string;
  sessionId: string;
  sequence: number;
  turnId: string | null;
  status: "received" | "queued" | "processed" | "complete" | "streaming" | null;
  usage?: Usage | undefined;
  payload: InboundEvent | OutboundPayload | UserMessageListed;
  processedAt: Timestamp | null;
  createdAt: Timestamp;
};

export type EventList = {
  object: "list";
  data: EventEnvelope[];
  pagination: {
    /** in ascending order the last sequence of the page */
    after: number;
    /** in descending order the lowest sequence of the page */
    before?: number | undefined;
    hasMore: boolean;
    limit: number;
  };
};

export type EventsAccepted = {
  object: "list";
  data: EventEnvelope[];
};

export type EventsSend = {
  events: InboundEvent[];
  delivery?: "immediate" | "when_idle" | undefined;
};

export type InboundEvent = UserMessage | UserSteer | UserInterrupt | UserApprovalResponse | UserCustomToolResult | UserClarifyResult;

export type McpServerUnavailable = {
  type: "mcp.server_unavailable";
  serverName: string;
  /** one sentence; never quotes a credential */
  reason: string;
};

export type MessageAttachment = {
  type: "file";
  filename: string;
  mediaType: "application/pdf" | "text/csv" | "application/csv" | "text/plain" | "text/markdown" | "text/x-markdown" | "application/vnd.openxmlformats-officedocument.wordprocessingml.document" | "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet" | "image/png" | "image/jpeg" | "image/webp" | "image/gif" | "image/bmp";
  sizeBytes?: number | undefined;
  source: {
    type: "data_url";
    dataUrl: string;
  };
  analysisMode?: "default" | "visual" | undefined;
};

export type OutboundPayload = SessionStatusRunning | SessionStatusIdle | SessionCompacted | SessionToolUpdated | SessionTitleUpdated | AgentThinking | AgentMessage | AgentMessageDiscarded | AgentToolOutput | SessionWaiting | McpServerUnavailable | AgentApprovalRequest | AgentToolUse | AgentToolResult | AgentMcpToolUse | AgentMcpToolResult | AgentCustomToolUse | AgentClarifyRequest | AgentThreadMessageSent | AgentThreadMessageReceived;

export type SessionCompacted = {
  type: "session.compacted";
  compression_count: number;
};

export type SessionStatusIdle = {
  type: "session.status_idle";
  stop_reason: StopReason;
  interrupted?: true | undefined;
  usage?: Usage | undefined;
};

export type SessionStatusRunning = {
  type: "session.status_running";
};

export type SessionTitleUpdated = {
  type: "session.title_updated";
  title: string;
};

export type SessionToolUpdated = {
  type: "session.tool_updated";
  tool_use_id: string;
  event_id: string;
  payload: Record<string, unknown>;
};

export type SessionWaiting = {
  type: "session.waiting";
  /** one sentence for people */
  reason: string;
  code: "upstream_rate_limited" | "upstream_overloaded" | "upstream_unavailable" | "upstream_rejected" | "upstream_authentication" | "unknown_model" | "context_overflow" | "output_limit" | "content_filtered" | "empty_reply" | "repeated_failure" | "step_limit" | "internal";
  /** failed tries of this model call so far */
  attempt: number;
  retryAt: Timestamp;
};

export type TextBlock = {
  type: "text";
  text: string;
};

export type UserApprovalResponse = {
  type: "user.approval_response";
  approval_id: string;
  result: "allow" | "deny";
  scope?: "once" | "session" | "always" | undefined;
  message?: string | undefined;
};

export type UserClarifyResult = {
  type: "user.clarify_result";
  request_id: string;
  answer: string;
};

export type UserCustomToolResult = {
  type: "user.custom_tool_result";
  tool_use_id: string;
  content: TextBlock[];
  status?: "running" | "completed" | "failed" | undefined;
  is_error?: boolean | undefined;
};

export type UserInterrupt = {
  type: "user.interrupt";
  message?: string | undefined;
};

export type UserMessage = {
  type: "user.message";
  content: TextBlock[];
  metadata?: Record<string, string | number | boolean | null> | undefined;
  attachments?: MessageAttachment[] | undefined;
};

export type UserMessageListed = {
  type: "user.message";
  content: TextBlock[];
  metadata?: Record<string, string | number | boolean | null> | undefined;
  attachments?: AttachmentSummary[] | undefined;
};

export type UserSteer = {
  type: "user.steer";
  message: string;
};

export type EventsOperations = {
  /**
   * The durable history, in sequence order; filtered by type, subagent or text when asked for. `GET /v1/sessions/{sessionId}/events`
   *
   * Needs a key with the scope `agents:read` or `agents:approve`. Errors: validation_error, unauthorized, forbidden, not_found, rate_limited, server_error, storage_full.
   */
  listEvents(sessionId: string, query?: { after?: number | undefined; before?: number | undefined; order?: "asc" | "desc" | undefined; limit?: number | undefined; types?: string[] | undefined; threadId?: string | undefined; q?: string | undefined; attachments?: "include" | "omit" | undefined }, options?: CallOptions): Promise<EventList>;

  /**
   * Send prompts, steering, approvals, answers and tool results. `POST /v1/sessions/{sessionId}/events`
   *
   * Needs a key with the scope `agents:write` or `agents:approve`. Errors: validation_error, unauthorized, forbidden, not_found, conflict, invalid_state, no_active_turn, response_expired, payload_too_large, rate_limited, server_error, storage_full.
   */
  sendEvents(sessionId: string, body: EventsSend, options?: CallOptions): Promise<EventsAccepted>;

  /**
   * One event of the durable history. `GET /v1/sessions/{sessionId}/events/{eventId}`
   *
   * Needs a key with the scope `agents:read` or `agents:approve`. Errors: validation_error, unauthorized, forbidden, not_found, rate_limited, server_error, storage_full.
   */
  getEvent(sessionId: string, eventId: string, query?: { attachments?: "include" | "omit" | undefined }, options?: CallOptions): Promise<EventEnvelope>;

  /**
   * The bytes of one attachment of a message, counted from 0, under their own media type. `GET /v1/sessions/{sessionId}/events/{eventId}/attachments/{index}`
   *
   * Needs a key with the scope `agents:read` or `agents:approve`. Errors: validation_error, unauthorized, forbidden, not_found, rate_limited, server_error, storage_full.
   */
  getEventAttachment(sessionId: string, eventId: string, index: string, options?: CallOptions): Promise<Response>;
};
