import { createHash } from 'node:crypto';
import type { ModelMessage } from './model.ts';

/** Tool call ids that every upstream accepts. */
const LEGAL = /^[a-zA-Z0-9_-]{1,40}$/;

/** The id itself if every upstream accepts it, otherwise a digest of it. Equal ids give equal results. */
export function legalCallId(id: string): string {
  return LEGAL.test(id) ? id : digest(id);
}

function digest(text: string): string {
  return `call_${createHash('sha256').update(text).digest('base64url').slice(0, 32)}`;
}

/**
 * Makes call ids valid and unique. Some upstreams number calls from zero in every reply, and others reject a conversation
 * with duplicate ids. A result belongs to the latest call with its id.
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
