import type { AssistantPart, ModelReply } from '../../../src/inference/model.ts';

export type Wire = Record<string, unknown>;

/** One event as it goes over the wire, without its line ends. */
export type WireEvent = { event?: string; data: string };

export function json(value: Wire, event?: string): WireEvent {
  return { ...(event === undefined ? {} : { event }), data: JSON.stringify(value) };
}

/** A text in pieces of `size` UTF-16 units: surrogate pairs get torn too. */
export function pieces(text: string, size: number): string[] {
  const parts: string[] = [];
  for (let start = 0; start < text.length; start += size) parts.push(text.slice(start, start + size));
  return parts;
}

/** Parts in order, calls that follow each other in one group: their arguments may come mixed. */
export function groupCalls(content: AssistantPart[]): AssistantPart[][] {
  const groups: AssistantPart[][] = [];
  for (const part of content) {
    const last = groups.at(-1);
    if (part.type === 'tool_call' && last?.[0]?.type === 'tool_call') last.push(part);
    else groups.push([part]);
  }
  return groups;
}

export function completeReply(reply: Partial<ModelReply>): ModelReply {
  const content = reply.content ?? [{ type: 'text', text: 'ok' }];
  const calls = content.some((part) => part.type === 'tool_call');
  return {
    id: 'reply-1',
    model: 'served-model',
    finish: calls ? 'tool_calls' : 'stop',
    usage: { input: 10, output: 5, cacheRead: 0, cacheWrite: 0, reasoning: 0 },
    ...reply,
    content,
  };
}
