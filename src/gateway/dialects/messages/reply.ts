import { parse } from 'partial-json';
import type { AssistantPart, ModelReply, ModelUsage } from '../../../inference/model.ts';
import { isRecord } from '../../../platform/records.ts';
import type { ResponseMeta, JsonObject } from '../dialect.ts';
import { buildBlockCitation, listCitations } from '../citations.ts';
import { packSignature } from '../signature.ts';

export function messageId({ id }: ResponseMeta): string {
  return `msg_${id}`;
}

/** In this format `input_tokens` does not include cached tokens. */
export function buildUsage(usage: ModelUsage): JsonObject {
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

/** Parses arguments that may be truncated or malformed, as far as possible, as clients do with a stream. */
export function parseInput(text: string): JsonObject {
  try {
    const value: unknown = parse(text);
    return isRecord(value) ? value : {};
  } catch {
    return {};
  }
}

export function buildBlock(part: AssistantPart): JsonObject {
  switch (part.type) {
    case 'text': {
      const citations = listCitations(part, buildBlockCitation);
      return { type: 'text', text: part.text, ...(citations.length === 0 ? {} : { citations }) };
    }
    case 'refusal':
      return { type: 'text', text: part.text };
    case 'tool_call':
      return { type: 'tool_use', id: part.id, name: part.name, input: parseInput(part.arguments) };
    case 'reasoning':
      if (part.redacted !== undefined) return { type: 'redacted_thinking', data: packSignature(part) ?? '' };
      return { type: 'thinking', thinking: part.text, signature: packSignature(part) ?? '' };
  }
}

export function buildMessageReply(reply: ModelReply, meta: ResponseMeta): JsonObject {
  return {
    id: messageId(meta),
    type: 'message',
    role: 'assistant',
    model: reply.model,
    content: reply.content.map(buildBlock),
    ...decideStop(reply),
    usage: buildUsage(reply.usage),
  };
}
