import type { EventEnvelope } from '../contract/events.ts';
import type { InputPart } from '../../inference/model.ts';
import { joinBlocks } from './blocks.ts';
import type { Compaction, EventPayload, LogEvent, NewEvent, StepPosition, TurnPrompt } from './event.ts';

const SKIPPED = 'The user skipped the question. Use your own judgement, and say what you assumed.';

type ToolUse = Extract<LogEvent, { type: 'agent.tool_use' | 'agent.mcp_tool_use' }>;
type ToolResultEvent = Extract<LogEvent, { type: 'agent.tool_result' | 'agent.mcp_tool_result' }>;
type ModelCall = ToolUse | Extract<LogEvent, { type: 'agent.custom_tool_use' | 'agent.clarify_request' }>;

/** Where an event is stored: its place in the log of one session. */
export type StoredAt = Pick<EventEnvelope, 'sessionId' | 'sequence' | 'processedAt' | 'createdAt'>;

/**
 * A row of the log. Trusts the row: only `write_journal` and the events API write there, through the types of
 * `event.ts`.
 */
export function readLogEvent(envelope: EventEnvelope, internal: Record<string, unknown> | null): LogEvent {
  return { ...envelope, internal } as LogEvent;
}

/** A new event as the log holds it once it is stored there. */
export function toLogEvent({ internal, processed: _processed, ...event }: NewEvent, at: StoredAt): LogEvent {
  return { ...event, ...at, type: event.payload.type, internal: internal ?? null } as LogEvent;
}

/** A call that a server-side tool runs for: built-in tools and tools of MCP servers. */
export function isToolUse(event: LogEvent): event is ToolUse {
  return event.type === 'agent.tool_use' || event.type === 'agent.mcp_tool_use';
}

/** The result of such a call. */
export function isToolResult(event: LogEvent): event is ToolResultEvent {
  return event.type === 'agent.tool_result' || event.type === 'agent.mcp_tool_result';
}

/** A call of the model, executed by the service, the caller's application or the user. */
export function isModelCall(event: LogEvent): event is ModelCall {
  return isToolUse(event) || event.type === 'agent.custom_tool_use' || event.type === 'agent.clarify_request';
}

/** Whether a call was made inside another one. The model has not made it and does not read its result. */
export function isNested({ payload }: { payload: EventPayload }): boolean {
  return 'parent_tool_use_id' in payload;
}

/** The subagent that an event belongs to. */
export function threadIdOf({ payload }: { payload: EventPayload }): string | undefined {
  return 'thread_id' in payload ? payload.thread_id : undefined;
}

/** The result of a call, from the tool, the caller's application or the user, in one shape. */
export type CallResult = { useId: string; text: string; images: InputPart[]; isError: boolean };

/** The result that an event holds for a call of the model; undefined for nested calls and other events. */
export function resultOf(event: LogEvent): CallResult | undefined {
  if (isNested(event)) return undefined;
  switch (event.type) {
    case 'agent.tool_result':
    case 'agent.mcp_tool_result': {
      const { tool_use_id: useId, is_error: isError } = event.payload;
      return { useId, text: textOf(event.payload), images: event.internal?.images ?? [], isError };
    }
    case 'user.custom_tool_result': {
      const { tool_use_id: useId, is_error: isError, status } = event.payload;
      return { useId, text: textOf(event.payload), images: [], isError: isError ?? status === 'failed' };
    }
    case 'user.clarify_result': {
      const { request_id: useId, answer } = event.payload;
      const note = answer.trim() === '' ? { note: SKIPPED } : {};
      return { useId, text: JSON.stringify({ user_response: answer, ...note }), images: [], isError: false };
    }
    default:
      return undefined;
  }
}

/** The text of a message, of reasoning or of a result; empty where a payload has none. */
export function textOf(payload: EventPayload): string {
  return 'content' in payload ? joinBlocks(payload.content) : '';
}

/** The UTF-16 units of its text that a delta carries; undefined for other events. */
export function findDeltaSpan({ payload }: EventEnvelope): { from: number; to: number } | undefined {
  const { offset: from, content } = payload;
  if (typeof from !== 'number' || !Array.isArray(content)) return undefined;
  return { from, to: from + joinBlocks(content as { text: string }[]).length };
}

/** The prompt of the turn that the event opens. */
export function findPrompt(event: LogEvent): TurnPrompt | undefined {
  if (event.type !== 'session.status_running' || event.internal === null) return undefined;
  return 'prompt' in event.internal ? event.internal.prompt : undefined;
}

/** The position in the turn of a part or a result of a model reply. */
export function findPosition({ internal }: LogEvent): StepPosition | undefined {
  return internal !== null && 'step' in internal ? internal : undefined;
}

/** The compactions in this part of a log, oldest first. */
export function listCompactions(log: readonly LogEvent[]): Compaction[] {
  return log.flatMap((event) =>
    event.type === 'session.compacted' && event.internal !== null ? [event.internal.compaction] : [],
  );
}

/** How often the session has been compacted so far, also where the log begins later. */
export function countCompactions(log: readonly LogEvent[]): number {
  return log.findLast((event) => event.type === 'session.compacted')?.payload.compression_count ?? 0;
}
