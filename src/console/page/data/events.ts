import type { EventEnvelope as SessionEvent } from '../../../../clients/typescript/generated/shapes.ts';

export type EventEnvelope = SessionEvent;

export type TextBlock = { type: string; text?: string };

export type StopReason =
  | { type: 'end_turn' }
  | { type: 'error'; code: string; message: string; retryable: boolean }
  | { type: 'requires_action'; event_ids: string[] }
  | { type: 'budget_reached'; budget: BudgetRef };

export type BudgetRef = {
  scope: string;
  id: string;
  limitUsd: number;
  spentUsd: number;
  period: string;
  onReached: string;
};

export type ToolUse = {
  id: string;
  name: string;
  toolset?: string | null;
  mcp_server_name?: string;
  input: unknown;
  evaluated_permission?: 'allow' | 'ask' | 'deny';
  parent_tool_use_id?: string;
  thread_id?: string;
};

export type ToolResult = {
  tool_use_id: string;
  name?: string;
  content: TextBlock[];
  is_error?: boolean;
  duration_ms?: number;
  status?: string;
};

export type ApprovalRequest = {
  id: string;
  tool_use_id: string;
  tool_name: string;
  toolset: string | null;
  mcp_server_name: string | null;
  input: unknown;
  scopes: ('once' | 'session' | 'always')[];
};

const TOOL_USES = new Set(['agent.tool_use', 'agent.mcp_tool_use', 'agent.custom_tool_use']);
const TOOL_RESULTS = new Set(['agent.tool_result', 'agent.mcp_tool_result', 'user.custom_tool_result']);
const LIVE = new Set([
  'session.tool_updated',
  'agent.tool_output',
  'agent.message_discarded',
  'mcp.server_unavailable',
  'session.waiting',
]);

export function isToolUse(event: EventEnvelope): boolean {
  return TOOL_USES.has(event.type);
}

export function isToolResult(event: EventEnvelope): boolean {
  return TOOL_RESULTS.has(event.type);
}

/** On the stream only: not part of the log. */
export function isLiveOnly(event: EventEnvelope): boolean {
  const payload = readPayload<{ delta?: boolean }>(event);
  return payload.delta === true || event.status === 'streaming' || LIVE.has(event.type);
}

/** The payload as the caller, who has looked at the type, knows it. */
export function readPayload<T>(event: EventEnvelope): T {
  return event.payload as unknown as T;
}

export function textOf(content: readonly TextBlock[] | undefined): string {
  if (!Array.isArray(content)) return '';
  return content.map((block) => (typeof block.text === 'string' ? block.text : '')).join('\n');
}
