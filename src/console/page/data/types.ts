import type { ApiKey } from '../../../../clients/typescript/generated/api-keys.ts';
import type { Agent, AgentVersion, Session } from '../../../../clients/typescript/generated/common.ts';
import type { StopReason } from './events.ts';

export type { Agent, AgentVersion, ApiKey, Session };

export type CursorPage<T> = {
  object: 'list';
  data: T[];
  pagination: { limit: number; hasMore: boolean; nextCursor?: string | null; offset?: number; total?: number };
};

export type Caller = {
  organization: string;
  organizationId: string;
  keyId: string | null;
  user: { id: string; name?: string | null; email?: string | null } | null;
  scopes: string[];
  /** `scopes` and those that they imply */
  effectiveScopes: string[];
  requestsPerMinute: number;
  services: string[];
  version: string;
};

export type ActionType = 'approval' | 'clarify' | 'custom_tool';
export type ApprovalScope = 'once' | 'session' | 'always';

export type PendingAction = {
  object: 'pending_action';
  id: string;
  type: ActionType;
  state: 'pending' | 'answered' | 'expired' | 'cancelled';
  sessionId: string;
  sessionTitle: string | null;
  agentId: string;
  agentName: string | null;
  agentVersion: number;
  subjectId: string;
  automationId: string | null;
  sequence: number | null;
  toolUseId: string | null;
  toolName: string | null;
  toolset: string | null;
  mcpServerName: string | null;
  input: unknown;
  inputTruncated: boolean;
  scopes: ApprovalScope[] | null;
  question: string | null;
  choices: string[] | null;
  createdAt: string;
  expiresAt: string | null;
  answeredAt: string | null;
  answeredBy: { type: string; id: string; name: string | null } | null;
  answer: unknown;
};

export type TurnStep = {
  index: number;
  threadId: string | null;
  model: string | null;
  startedAt: string;
  firstTokenAt: string | null;
  endedAt: string | null;
  usage: Usage | null;
  toolUseIds: string[];
  error: { code?: string; message?: string } | string | null;
  retries: number;
};

export type Usage = NonNullable<Session['usage']>;

export type Turn = {
  object: 'turn';
  id: string;
  state: string;
  firstSequence: number | null;
  lastSequence: number | null;
  startedAt: string;
  endedAt: string | null;
  stopReason: StopReason | null;
  usage: Usage | null;
  steps: TurnStep[] | null;
};

export type UsageItem = {
  model?: string;
  provider?: string;
  keyId?: string;
  key?: string;
  day?: string;
  agentId?: string;
  subjectId?: string;
  sessionId?: string;
  automationId?: string;
  calls?: number;
  requests?: number;
  failures?: number;
  inputTokens?: number;
  outputTokens?: number;
  input?: number;
  output?: number;
  costUsd?: number | null;
  p50LatencyMs?: number | null;
  p95LatencyMs?: number | null;
  credits?: number | null;
  [name: string]: unknown;
};

export type UsageReport = { object: 'list'; data: UsageItem[]; totals?: UsageItem; timeZone?: string };

/** A sign-in at a website. */
export type Login = {
  id: string;
  operation: 'login' | 'signup' | 'refresh';
  origin: string;
  usernameHint: string | null;
  method: string;
  status: 'running' | 'waiting' | 'succeeded' | 'failed';
  action: {
    challengeId: string;
    kind: string;
    hint: string | null;
    fields: ('code' | 'link' | 'option' | 'done')[];
    expiresAt: string;
  } | null;
  helpUrl: string | null;
  error: { error: string; message: string } | null;
  hasPicture: boolean;
  startedAt: string;
  durationMs: number | null;
};
