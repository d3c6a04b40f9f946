import type { LogEvent } from './event.ts';
import { isModelCall, isNested, textOf } from './read.ts';

/** Characters of one attribute; the rest is left out. */
const MAX_CONTENT = 32_768;

function encode(value: unknown): string {
  return JSON.stringify(value).slice(0, MAX_CONTENT);
}

function cut(text: string): string {
  return text.slice(0, MAX_CONTENT / 2);
}

/** What opened the turn, and what it said last. */
export function describeInput(events: readonly LogEvent[]): Record<string, string> {
  const prompt = events.find((event) => event.type === 'user.message');
  const answer = events.findLast((event) => event.type === 'agent.message');
  const message = (role: string, event: LogEvent) =>
    encode([{ role, parts: [{ type: 'text', content: cut(textOf(event.payload)) }] }]);
  return {
    ...(prompt === undefined ? {} : { 'gen_ai.input.messages': message('user', prompt) }),
    ...(answer === undefined ? {} : { 'gen_ai.output.messages': message('assistant', answer) }),
  };
}

/** The parts of one reply of the model. */
export function describeReply(events: readonly LogEvent[], step: number): Record<string, string> {
  const parts = events.flatMap((event): unknown[] => {
    if (isNested(event)) return [];
    if (event.type === 'agent.message' && event.internal?.step === step) {
      return [{ type: 'text', content: cut(textOf(event.payload)) }];
    }
    if (!isModelCall(event) || event.internal?.step !== step) return [];
    const input = 'input' in event.payload ? event.payload.input : null;
    return [{ type: 'tool_call', id: event.id, name: event.internal.name, arguments: input }];
  });
  return parts.length === 0 ? {} : { 'gen_ai.output.messages': encode([{ role: 'assistant', parts }]) };
}

export function describeTool(payload: object, result: string): Record<string, string> {
  const input = 'input' in payload ? payload.input : null;
  return { 'gen_ai.tool.call.arguments': encode(input), 'gen_ai.tool.call.result': cut(result) };
}
