import { createHash } from 'node:crypto';
import type { ModelMessage } from './model.ts';

/** What every upstream accepts as the id of a tool call. */
const LEGAL = /^[a-zA-Z0-9_-]{1,40}$/;

/** The id itself where it is legal everywhere, else a digest of it: the same id always maps to the same one. */
export function legalCallId(id: string): string {
  return LEGAL.test(id) ? id : digest(id);
}

function digest(text: string): string {
  return `call_${createHash('sha256').update(text).digest('base64url').slice(0, 32)}`;
}

/**
 * Messages whose call ids are legal and unique. Some upstreams count calls from zero in every reply, and others then
 * refuse a conversation that holds the same id twice; results follow the latest call of their id.
 */
export function renameCalls(messages: readonly ModelMessage[]): ModelMessage[] {
  const current = new Map<string, string>();
  const taken = new Set<string>();
  const open = (id: string): string => {
    let name = legalCallId(id);
    for (let copy = 2; taken.has(name); copy += 1) name = digest(`${id}#${copy}`);
    taken.add(name);
    current.set(id, name);
    return name;
  };
  return messages.map((message) => {
    if (message.role === 'assistant') {
      return {
        role: 'assistant',
        content: message.content.map((part) => (part.type === 'tool_call' ? { ...part, id: open(part.id) } : part)),
      };
    }
    if (message.role !== 'tool') return message;
    return {
      role: 'tool',
      results: message.results.map((result) => ({
        ...result,
        callId: current.get(result.callId) ?? legalCallId(result.callId),
      })),
    };
  });
}
