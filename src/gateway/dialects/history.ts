import type { AssistantPart, ModelMessage, ToolResult } from '../../inference/model.ts';
import { invalid } from '../gateway-error.ts';

/** Appends to the last assistant message, or adds one. */
export function addAssistant(messages: ModelMessage[], parts: AssistantPart[]): void {
  const last = messages.at(-1);
  if (last?.role === 'assistant') last.content.push(...parts);
  else messages.push({ role: 'assistant', content: [...parts] });
}

/** The results of one turn become one message, however the client split them. */
export function addResults(messages: ModelMessage[], results: ToolResult[]): void {
  const last = messages.at(-1);
  if (last?.role === 'tool') last.results.push(...results);
  else if (results.length > 0) messages.push({ role: 'tool', results: [...results] });
}

function callsOf(message: ModelMessage): string[] {
  if (message.role !== 'assistant') return [];
  return message.content.flatMap((part) => (part.type === 'tool_call' ? [part.id] : []));
}

/**
 * Moves each turn's results directly behind its calls; system messages between them move behind the results. Throws for
 * a result without a call and for a call without a result: upstreams reject those, or answer nonsense.
 */
export function pairCalls(messages: readonly ModelMessage[], path: string): ModelMessage[] {
  const paired: ModelMessage[] = [];
  let pending: string[] = [];
  let held: ModelMessage[] = [];
  const settle = (): void => {
    paired.push(...held);
    held = [];
  };
  for (const message of messages) {
    if (message.role === 'tool') {
      const results: ToolResult[] = [];
      for (const result of message.results) {
        const at = pending.indexOf(result.callId);
        if (at === -1) throw invalid(path, `the result of ${result.callId.slice(0, 80)} has no tool call before it`);
        pending.splice(at, 1);
        results.push(result);
      }
      addResults(paired, results);
      if (pending.length === 0) settle();
    } else if (pending.length > 0) {
      if (message.role !== 'system') throw unanswered(path, pending);
      held.push(message);
    } else {
      paired.push(message);
      pending = callsOf(message);
    }
  }
  if (pending.length > 0) throw unanswered(path, pending);
  return paired;
}

function unanswered(path: string, [id = '']: string[]): Error {
  return invalid(path, `the tool call ${id.slice(0, 80)} has no result after it`);
}
