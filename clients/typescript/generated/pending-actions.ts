// Generated from the contract by "npm run generate". Changes are lost.
import type { CallOptions } from '../options.ts';
import type { SubjectId, Timestamp } from './common.ts';

export type OpenAction = {
  object: "pending_action";
  /** of the event that asks */
  id: string;
  type: "approval" | "clarify" | "custom_tool";
  state: "pending" | "answered" | "expired" | "cancelled";
  sessionId: string;
  sessionTitle: string | null;
  agentId: string;
  agentName: string;
  agentVersion: number;
  subjectId: SubjectId;
  automationId: string | null;
  sequence: number | null;
  toolUseId: string;
  toolName: string;
  toolset: string | null;
  mcpServerName: string | null;
  /** where it is truncated, the first 65,536 characters of its JSON, as text */
  input: unknown;
  inputTruncated: boolean;
  /** of an approval; otherwise empty */
  scopes: Array<"once" | "session" | "always">;
  /** who may answer; null: whoever may answer at all */
  approvers: string[] | null;
  /** whoever asked for it may not answer */
  separationOfDuties: boolean;
  question: string | null;
  choices: string[] | null;
  createdAt: Timestamp;
  expiresAt: Timestamp | null;
  answeredAt: Timestamp | null;
  answeredBy: {
    type: "key" | "user" | "system";
    id: string;
    name: string | null;
  } | null;
  answer: Record<string, unknown> | null;
};

export type PendingactionsOperations = {
  /**
   * What waits for people in all sessions of the organization: approvals, questions, custom tool calls. `GET /v1/pending-actions`
   *
   * Needs a key with the scope `agents:read` or `agents:approve`. Errors: validation_error, unauthorized, forbidden, rate_limited, server_error, storage_full.
   */
  listPendingActions(query?: { limit?: number | undefined; cursor?: string | undefined; state?: Array<"pending" | "answered" | "expired" | "cancelled"> | undefined; type?: Array<"approval" | "clarify" | "custom_tool"> | undefined; agentId?: string | undefined; subjectId?: SubjectId | undefined; sessionId?: string | undefined; order?: "oldest" | "newest" | undefined }, options?: CallOptions): Promise<{
    object: "list";
    data: OpenAction[];
    pagination: {
      limit: number;
      hasMore: boolean;
      /** null on the last page */
      nextCursor: string | null;
    };
  }>;

  /**
   * One of them, also after it was answered; answers are sent as events of the session. `GET /v1/pending-actions/{actionId}`
   *
   * Needs a key with the scope `agents:read` or `agents:approve`. Errors: validation_error, unauthorized, forbidden, not_found, rate_limited, server_error, storage_full.
   */
  getPendingAction(actionId: string, options?: CallOptions): Promise<OpenAction>;
};
