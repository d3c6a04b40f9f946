import type { EventEnvelope, StopReason, TextBlock } from '../../../../clients/typescript/generated/shapes.ts';

export type { EventEnvelope, StopReason, TextBlock };

type Payload = EventEnvelope['payload'];

/** An event of one of these types, with their payload. */
export type EventOf<T extends Payload['type']> = EventEnvelope & { payload: Extract<Payload, { type: T }> };

const TOOL_USES = ['agent.tool_use', 'agent.mcp_tool_use', 'agent.custom_tool_use'] as const;
const TOOL_RESULTS = ['agent.tool_result', 'agent.mcp_tool_result', 'user.custom_tool_result'] as const;

export type ToolUseEvent = EventOf<(typeof TOOL_USES)[number]>;
export type ToolUse = ToolUseEvent['payload'];
export type ToolResultEvent = EventOf<(typeof TOOL_RESULTS)[number]>;
export type ToolResult = ToolResultEvent['payload'];

export type BudgetRef = Extract<StopReason, { type: 'budget_reached' }>['budget'];

const LIVE = new Set([
  'session.tool_updated',
  'agent.tool_output',
  'agent.message_discarded',
  'mcp.server_unavailable',
  'session.waiting',
]);

/** Whether an event has one of these types. Trusts the server that the payload fits the type. */
export function isOf<T extends Payload['type']>(event: EventEnvelope, ...types: readonly T[]): event is EventOf<T> {
  return types.some((type) => type === event.type);
}

export function isToolUse(event: EventEnvelope): event is ToolUseEvent {
  return isOf(event, ...TOOL_USES);
}

export function isToolResult(event: EventEnvelope): event is ToolResultEvent {
  return isOf(event, ...TOOL_RESULTS);
}

/** On the stream only: not part of the log. */
export function isLiveOnly({ payload, status, type }: EventEnvelope): boolean {
  return ('delta' in payload && payload.delta) || status === 'streaming' || LIVE.has(type);
}

/** The subagent that an event belongs to. */
export function threadIdOf({ payload }: EventEnvelope): string | undefined {
  return 'thread_id' in payload ? payload.thread_id : undefined;
}

/** The duration of a call; undefined for tools of the caller's application. */
export function durationOf(result: ToolResult): number | undefined {
  return 'duration_ms' in result ? result.duration_ms : undefined;
}

/** The permission of a call; undefined for tools of the caller's application. */
export function permissionOf(use: ToolUse): 'allow' | 'ask' | 'deny' | undefined {
  return 'evaluated_permission' in use ? use.evaluated_permission : undefined;
}

function joinText(content: readonly TextBlock[] | undefined): string {
  if (!Array.isArray(content)) return '';
  return content.map((block) => (typeof block.text === 'string' ? block.text : '')).join('\n');
}

/** The text of a message, of reasoning, of an interrupt or of a result; empty for payloads without text. */
export function textOf(payload: Payload): string {
  if ('message' in payload) return payload.message ?? '';
  return 'content' in payload ? joinText(payload.content) : '';
}
