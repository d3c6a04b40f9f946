import { deriveSpanId, deriveTraceId } from '../../platform/trace-context.ts';
import type { Trace } from '../../platform/trace-context.ts';
import type { LogEvent } from './event.ts';
import { findPrompt } from './read.ts';

// Ids of spans follow from the ids of the log. So each worker of a turn names the same spans, as does a trace that is
// built later.

export function turnSpanId(turnId: string): string {
  return deriveSpanId('turn', turnId);
}

export function threadSpanId(threadId: string): string {
  return deriveSpanId('thread', threadId);
}

/** The model call of a reply, by its number in the turn or the subagent. */
export function chatSpanId(turnOrThreadId: string, step: number): string {
  return deriveSpanId('chat', turnOrThreadId, step);
}

export function toolSpanId(useId: string): string {
  return deriveSpanId('tool', useId);
}

/** The request to an MCP server that a call makes. */
export function mcpSpanId(useId: string): string {
  return deriveSpanId('mcp', useId);
}

/** The trace of a turn: that of the request whose message opened it, else one of its own. */
export function findTrace(events: readonly LogEvent[], turnId: string): Trace & { requestId?: string } {
  const opening = events.find((event) => event.turnId === turnId && findPrompt(event) !== undefined);
  const prompt = opening && findPrompt(opening);
  const message = prompt?.kind === 'message' ? events.find(({ id }) => id === prompt.eventId) : undefined;
  const trace = message?.type === 'user.message' ? message.internal?.trace : undefined;
  return trace ?? { traceId: deriveTraceId('turn', turnId), sampled: true };
}
