// Generated from the contract by "npm run generate". Changes are lost.
import type { CallOptions } from '../options.ts';
import type { Metadata, Reasoning, Session, StopReason, SubjectId, Timestamp, Usage } from './common.ts';

export type Sandbox = {
  object: "sandbox";
  sessionId: string;
  sessionTitle: string | null;
  sessionStatus: "idle" | "running" | "waiting_on_human" | "archived" | null;
  agentId: string;
  agentName: string | null;
  subjectId: SubjectId;
  phase: "starting" | "running" | "stopping" | "failed";
  /** why it does not run, as the cluster says it */
  reason: string | null;
  /** null outside Kubernetes, as is `pod` */
  node: string | null;
  pod: string | null;
  startedAt: Timestamp | null;
  /** the subject's files, which several sessions may share; null where they are not counted yet */
  volume: {
    usedBytes: number;
    sizeBytes: number;
  } | null;
};

export type SandboxStopped = {
  object: "sandbox.stopped";
  sessionId: string;
  stopped: true;
};

export type SandboxWarm = {
  object: "sandbox.warm";
  status: "warming";
  reason: null;
  agentId: string;
  subjectId: SubjectId;
};

export type SandboxWarmRequest = {
  agentId: string;
  subjectId: SubjectId;
};

export type SessionCreate = {
  agentId: string;
  subjectId: SubjectId;
  role?: string | undefined;
  title?: string | undefined;
  yoloMode?: boolean | undefined;
  preview?: boolean | undefined;
  tag?: string | undefined;
  /** null: the agent version's */
  reasoning?: Reasoning | null | undefined;
  metadata?: Metadata | undefined;
};

export type SessionTrace = {
  object: "session_trace";
  sessionId: string;
  /** `ExportTraceServiceRequest.resourceSpans` of OTLP in JSON; empty for a page without turns */
  resourceSpans: Record<string, unknown>[];
  /** counts turns */
  pagination: {
    limit: number;
    hasMore: boolean;
    /** null on the last page */
    nextCursor: string | null;
  };
};

export type SessionUpdate = {
  title?: string | undefined;
  yoloMode?: boolean | undefined;
  /** applies to the next turn; null: the agent version's */
  reasoning?: Reasoning | null | undefined;
  metadata?: Metadata | undefined;
};

export type SubjectSummary = {
  object: "subject";
  agentId: string;
  subjectId: SubjectId;
  sessions: number;
  lastActivityAt: Timestamp;
  costUsd: number | null;
  /** null where the size of the volume is not known */
  volumeBytes: number | null;
};

export type Turn = {
  object: "turn";
  id: string;
  state: "running" | "waiting" | "ended";
  firstSequence: number | null;
  lastSequence: number | null;
  startedAt: Timestamp;
  endedAt: Timestamp | null;
  stopReason: StopReason | null;
  usage: Usage | null;
  /** empty for turns from before steps were recorded */
  steps: Array<{
    /** the number of the reply in its turn or subagent, from 1 */
    index: number;
    /** the subagent that made the call */
    threadId: string | null;
    model: string;
    startedAt: Timestamp;
    firstTokenAt: Timestamp | null;
    endedAt: Timestamp;
    usage: Usage;
    /** the calls of tools in the reply */
    toolUseIds: string[];
    error: string | null;
    /** failed tries before this one */
    retries: number;
  }>;
};

export type SessionsOperations = {
  /**
   * Open a session; the version is resolved and recorded once. `POST /v1/sessions`
   *
   * Needs a key with the scope `agents:write`. Errors: validation_error, unauthorized, forbidden, not_found, invalid_state, payload_too_large, rate_limited, server_error, storage_full.
   */
  createSession(body: SessionCreate, options?: CallOptions): Promise<Session>;

  /**
   * The sessions of the organization, newest first unless ordered; archived ones only when asked for. `GET /v1/sessions`
   *
   * Needs a key with the scope `agents:read`. Errors: validation_error, unauthorized, forbidden, rate_limited, server_error, storage_full.
   */
  listSessions(query?: { limit?: number | undefined; cursor?: string | undefined; offset?: number | undefined; agentId?: string | undefined; agent?: string | undefined; subjectId?: SubjectId | undefined; subject?: SubjectId | undefined; status?: Array<"idle" | "running" | "waiting_on_human" | "archived"> | undefined; q?: string | undefined; outcome?: "ok" | "error" | "interrupted" | undefined; automationId?: string | undefined; tag?: string | undefined; createdFrom?: string | undefined; createdTo?: string | undefined; activeFrom?: string | undefined; activeTo?: string | undefined; minCostUsd?: number | undefined; idleForSeconds?: number | undefined; order?: "created" | "activity" | "cost" | undefined }, options?: CallOptions): Promise<{
    object: "list";
    data: Session[];
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
   * One session. `GET /v1/sessions/{sessionId}`
   *
   * Needs a key with the scope `agents:read` or `agents:approve`. Errors: validation_error, unauthorized, forbidden, not_found, rate_limited, server_error, storage_full.
   */
  getSession(sessionId: string, options?: CallOptions): Promise<Session>;

  /**
   * Change title, yolo mode, reasoning or metadata; metadata is replaced whole. `POST /v1/sessions/{sessionId}`
   *
   * Needs a key with the scope `agents:write`. Errors: validation_error, unauthorized, forbidden, not_found, invalid_state, payload_too_large, rate_limited, server_error, storage_full.
   */
  updateSession(sessionId: string, body: SessionUpdate, options?: CallOptions): Promise<Session>;

  /**
   * Delete a session and its events; the volume stays. `DELETE /v1/sessions/{sessionId}`
   *
   * Needs a key with the scope `agents:write`. Errors: validation_error, unauthorized, forbidden, not_found, invalid_state, rate_limited, server_error, service_delete_failed, storage_full.
   */
  deleteSession(sessionId: string, options?: CallOptions): Promise<{
    object: "session.deleted";
    id: string;
    deleted: true;
  }>;

  /**
   * The turns of a session with their model calls: times, tokens, cost, calls of tools. `GET /v1/sessions/{sessionId}/turns`
   *
   * Needs a key with the scope `agents:read`. Errors: validation_error, unauthorized, forbidden, not_found, rate_limited, server_error, storage_full.
   */
  listTurns(sessionId: string, query?: { limit?: number | undefined; cursor?: string | undefined; order?: "asc" | "desc" | undefined }, options?: CallOptions): Promise<{
    object: "list";
    data: Turn[];
    pagination: {
      limit: number;
      hasMore: boolean;
      /** null on the last page */
      nextCursor: string | null;
    };
  }>;

  /**
   * The turns of a session as OpenTelemetry spans, in the JSON encoding of OTLP, built from its log. `GET /v1/sessions/{sessionId}/trace`
   *
   * Needs a key with the scope `agents:read`. Errors: validation_error, unauthorized, forbidden, not_found, rate_limited, server_error, storage_full.
   */
  getSessionTrace(sessionId: string, query?: { limit?: number | undefined; cursor?: string | undefined; turnId?: string | undefined }, options?: CallOptions): Promise<SessionTrace>;

  /**
   * Archive a session: pending asks are cancelled, queued prompts dropped. `POST /v1/sessions/{sessionId}/archive`
   *
   * Needs a key with the scope `agents:write`. Errors: validation_error, unauthorized, forbidden, not_found, invalid_state, rate_limited, server_error, storage_full.
   */
  archiveSession(sessionId: string, options?: CallOptions): Promise<Session>;

  /**
   * The sandboxes that run or start now in all sessions of the organization, newest session first. `GET /v1/sandboxes`
   *
   * Needs a key with the scope `agents:read`. Errors: validation_error, unauthorized, forbidden, rate_limited, server_error, storage_full.
   */
  listSandboxes(query?: { limit?: number | undefined; cursor?: string | undefined; agentId?: string | undefined; subjectId?: SubjectId | undefined }, options?: CallOptions): Promise<{
    object: "list";
    data: Sandbox[];
    pagination: {
      limit: number;
      hasMore: boolean;
      /** null on the last page */
      nextCursor: string | null;
    };
  }>;

  /**
   * End the sandbox of a session with all its processes; files stay, and the next call starts another. `DELETE /v1/sessions/{sessionId}/sandbox`
   *
   * Needs a key with the scope `agents:write`. Errors: validation_error, unauthorized, forbidden, not_found, rate_limited, server_error, storage_full.
   */
  stopSandbox(sessionId: string, options?: CallOptions): Promise<SandboxStopped>;

  /**
   * A hint that a session of this subject is about to start. `POST /v1/sandboxes/warm`
   *
   * Needs a key with the scope `agents:write`. Errors: validation_error, unauthorized, forbidden, not_found, invalid_state, payload_too_large, rate_limited, server_error, storage_full.
   */
  warmSandbox(body: SandboxWarmRequest, options?: CallOptions): Promise<SandboxWarm>;

  /**
   * The subjects that have sessions, by agent, with what their sessions cost. `GET /v1/subjects`
   *
   * Needs a key with the scope `agents:read`. Errors: validation_error, unauthorized, forbidden, rate_limited, server_error, storage_full.
   */
  listSubjects(query?: { limit?: number | undefined; cursor?: string | undefined; agentId?: string | undefined; q?: string | undefined }, options?: CallOptions): Promise<{
    object: "list";
    data: SubjectSummary[];
    pagination: {
      limit: number;
      hasMore: boolean;
      /** null on the last page */
      nextCursor: string | null;
    };
  }>;
};
