import { parse } from 'partial-json';
import type { AssistantPart, ModelReply, ModelUsage } from '../../../inference/model.ts';
import { isRecord } from '../../../platform/records.ts';
import type { Moment, Wire } from '../dialect.ts';
import { packProof } from '../proof.ts';

export function messageId({ id }: Moment): string {
  return `msg_${id}`;
}

/** This format counts cached tokens beside the input, not in it. */
export function buildUsage(usage: ModelUsage): Wire {
  return {
    input_tokens: Math.max(0, usage.input - usage.cacheRead - usage.cacheWrite),
    cache_creation_input_tokens: usage.cacheWrite,
    cache_read_input_tokens: usage.cacheRead,
    output_tokens: usage.output,
    output_tokens_details: { thinking_tokens: usage.reasoning },
  };
}

export function decideStop({ finish, stopSequence }: ModelReply): {
  stop_reason: string;
  stop_sequence: string | null;
} {
  if (finish === 'stop' && stopSequence !== undefined)
    return { stop_reason: 'stop_sequence', stop_sequence: stopSequence };
  const reasons = {
    stop: 'end_turn',
    length: 'max_tokens',
    tool_calls: 'tool_use',
    content_filter: 'refusal',
    refusal: 'refusal',
  };
  return { stop_reason: reasons[finish], stop_sequence: null };
}

/** Arguments that were cut off, or are no JSON, as far as they can be read: what clients make of such a stream, too. */
export function parseInput(text: string): Wire {
  try {
    const value: unknown = parse(text);
    return isRecord(value) ? value : {};
  } catch {
    return {};
  }
}

export function buildBlock(part: AssistantPart): Wire {
  switch (part.type) {
    case 'text':
    case 'refusal':
      return { type: 'text', text: part.text };
    case 'tool_call':
      return { type: 'tool_use', id: part.id, name: part.name, input: parseInput(part.arguments) };
    case 'reasoning':
      if (part.redacted !== undefined) return { type: 'redacted_thinking', data: packProof(part) ?? '' };
      return { type: 'thinking', thinking: part.text, signature: packProof(part) ?? '' };
  }
}

export function buildMessageReply(reply: ModelReply, moment: Moment): Wire {
  return {
    id: messageId(moment),
    type: 'message',
    role: 'assistant',
    model: reply.model,
    content: reply.content.map(buildBlock),
    ...decideStop(reply),
    usage: buildUsage(reply.usage),
  };
}
