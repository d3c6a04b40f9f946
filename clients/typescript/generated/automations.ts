// Generated from the contract by "npm run generate". Changes are lost.
import type { CallOptions } from '../options.ts';
import type { Session, SubjectId, Timestamp } from './common.ts';

export type Automation = {
  object: "automation";
  id: string;
  agentId: string;
  subjectId: SubjectId;
  name: string | null;
  prompt: string;
  /** normalized */
  schedule: string;
  scheduleDisplay: string;
  timezone: string;
  skills: string[];
  repeat: number | null;
  enabled: boolean;
  state: "scheduled" | "running" | "paused" | "completed" | "error";
  nextRunAt: Timestamp | null;
  lastRunAt: Timestamp | null;
  lastStatus: "ok" | "error" | null;
  lastError: string | null;
  lastSessionId: string | null;
  /** runs that were started, on schedule or by hand */
  runCount: number;
  successCount: number;
  /** runs that failed, after their retries, or could not be started */
  failureCount: number;
  /** occurrences whose predecessor was still running */
  skippedCount: number;
  createdAt: Timestamp;
  updatedAt: Timestamp;
};

export type AutomationCreate = {
  name?: string | null | undefined;
  prompt: string;
  /** ISO timestamp, duration (`30m`), interval (`every 2h`) or five-field cron expression */
  schedule: string;
  skills?: string[] | undefined;
  repeat?: number | null | undefined;
  enabled?: boolean | undefined;
  /** IANA time zone of cron expressions and of timestamps without an offset */
  timezone?: string | undefined;
};

export type AutomationPatch = {
  name?: string | null | undefined;
  prompt?: string | undefined;
  /** ISO timestamp, duration (`30m`), interval (`every 2h`) or five-field cron expression */
  schedule?: string | undefined;
  skills?: string[] | undefined;
  /** null removes the limit */
  repeat?: number | null | undefined;
  enabled?: boolean | undefined;
  /** IANA time zone of cron expressions and of timestamps without an offset */
  timezone?: string | undefined;
};

export type AutomationRun = {
  object: "automation.run";
  automationId: string;
  sessionId: string;
};

export type AutomationsOperations = {
  /**
   * The automations of every agent and subject, newest first. `GET /v1/automations`
   *
   * Needs a key with the scope `agents:read`. Errors: validation_error, unauthorized, forbidden, rate_limited, server_error, storage_full.
   */
  listOrganizationAutomations(query?: { limit?: number | undefined; cursor?: string | undefined; agentId?: string | undefined; subjectId?: SubjectId | undefined }, options?: CallOptions): Promise<{
    object: "list";
    data: Automation[];
    pagination: {
      limit: number;
      hasMore: boolean;
      /** null on the last page */
      nextCursor: string | null;
    };
  }>;

  /**
   * The automations of every subject of an agent, newest first. `GET /v1/agents/{agentId}/automations`
   *
   * Needs a key with the scope `agents:read`. Errors: validation_error, unauthorized, forbidden, not_found, rate_limited, server_error, storage_full.
   */
  listAgentAutomations(agentId: string, query?: { limit?: number | undefined; cursor?: string | undefined; offset?: number | undefined }, options?: CallOptions): Promise<{
    object: "list";
    data: Automation[];
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
   * The automations of one subject, newest first. `GET /v1/agents/{agentId}/users/{subjectId}/automations`
   *
   * Needs a key with the scope `agents:read`. Errors: validation_error, unauthorized, forbidden, not_found, rate_limited, server_error, storage_full.
   */
  listAutomations(agentId: string, subjectId: string, query?: { limit?: number | undefined; cursor?: string | undefined; offset?: number | undefined }, options?: CallOptions): Promise<{
    object: "list";
    data: Automation[];
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
   * Run a prompt on a schedule, each occurrence in a fresh session. `POST /v1/agents/{agentId}/users/{subjectId}/automations`
   *
   * Needs a key with the scope `agents:write`. Errors: validation_error, unauthorized, forbidden, not_found, invalid_state, payload_too_large, rate_limited, server_error, storage_full.
   */
  createAutomation(agentId: string, subjectId: string, body: AutomationCreate, options?: CallOptions): Promise<Automation>;

  /**
   * One automation. `GET /v1/agents/{agentId}/users/{subjectId}/automations/{automationId}`
   *
   * Needs a key with the scope `agents:read`. Errors: validation_error, unauthorized, forbidden, not_found, rate_limited, server_error, storage_full.
   */
  getAutomation(agentId: string, subjectId: string, automationId: string, options?: CallOptions): Promise<Automation>;

  /**
   * Change any of the fields; a new schedule counts from now. `PATCH /v1/agents/{agentId}/users/{subjectId}/automations/{automationId}`
   *
   * Needs a key with the scope `agents:write`. Errors: validation_error, unauthorized, forbidden, not_found, invalid_state, payload_too_large, rate_limited, server_error, storage_full.
   */
  patchAutomation(agentId: string, subjectId: string, automationId: string, body: AutomationPatch, options?: CallOptions): Promise<Automation>;

  /**
   * Stop future runs; the sessions of past ones stay. `DELETE /v1/agents/{agentId}/users/{subjectId}/automations/{automationId}`
   *
   * Needs a key with the scope `agents:write`. Errors: validation_error, unauthorized, forbidden, not_found, rate_limited, server_error, storage_full.
   */
  deleteAutomation(agentId: string, subjectId: string, automationId: string, options?: CallOptions): Promise<{
    object: "automation.deleted";
    id: string;
    deleted: true;
  }>;

  /**
   * Stop scheduled occurrences until it is resumed. `POST /v1/agents/{agentId}/users/{subjectId}/automations/{automationId}/pause`
   *
   * Needs a key with the scope `agents:write`. Errors: validation_error, unauthorized, forbidden, not_found, rate_limited, server_error, storage_full.
   */
  pauseAutomation(agentId: string, subjectId: string, automationId: string, options?: CallOptions): Promise<Automation>;

  /**
   * Go on with the next occurrence, also after an error. `POST /v1/agents/{agentId}/users/{subjectId}/automations/{automationId}/resume`
   *
   * Needs a key with the scope `agents:write`. Errors: validation_error, unauthorized, forbidden, not_found, invalid_state, rate_limited, server_error, storage_full.
   */
  resumeAutomation(agentId: string, subjectId: string, automationId: string, options?: CallOptions): Promise<Automation>;

  /**
   * Run it now, in any state; its schedule stays as it is. `POST /v1/agents/{agentId}/users/{subjectId}/automations/{automationId}/trigger`
   *
   * Needs a key with the scope `agents:write`. Errors: validation_error, unauthorized, forbidden, not_found, invalid_state, rate_limited, server_error, storage_full.
   */
  triggerAutomation(agentId: string, subjectId: string, automationId: string, options?: CallOptions): Promise<AutomationRun>;

  /**
   * The sessions of its runs, archived ones included, newest first. `GET /v1/agents/{agentId}/users/{subjectId}/automations/{automationId}/sessions`
   *
   * Needs a key with the scope `agents:read`. Errors: validation_error, unauthorized, forbidden, not_found, rate_limited, server_error, storage_full.
   */
  listAutomationSessions(agentId: string, subjectId: string, automationId: string, query?: { limit?: number | undefined; cursor?: string | undefined; offset?: number | undefined }, options?: CallOptions): Promise<{
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
};
