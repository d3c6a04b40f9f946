import type { AssistantPart, ModelReply } from '../../../src/inference/model.ts';
import { json, pieces } from './pieces.ts';
import type { Wire, WireEvent } from './pieces.ts';

const FINISH = { length: 'max_tokens', tool_calls: 'tool_use', content_filter: 'refusal', refusal: 'refusal' };

function stopReason(reply: ModelReply): string {
  if (reply.finish === 'stop') return reply.stopSequence === undefined ? 'end_turn' : 'stop_sequence';
  return FINISH[reply.finish];
}

function encodeUsage({ usage }: ModelReply): Wire {
  return {
    input_tokens: usage.input - usage.cacheRead - usage.cacheWrite,
    cache_read_input_tokens: usage.cacheRead,
    cache_creation_input_tokens: usage.cacheWrite,
    output_tokens: usage.output,
    output_tokens_details: { thinking_tokens: usage.reasoning },
  };
}

/** A model may write arguments that are no JSON; deltas carry those all the same. */
function parseInput(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return {};
  }
}

function encodeBlock(part: AssistantPart): Wire {
  switch (part.type) {
    case 'text':
    case 'refusal':
      return { type: 'text', text: part.text };
    case 'tool_call':
      return { type: 'tool_use', id: part.id, name: part.name, input: parseInput(part.arguments) };
    case 'reasoning':
      if (part.redacted !== undefined) return { type: 'redacted_thinking', data: part.redacted };
      return { type: 'thinking', thinking: part.text, signature: part.signature ?? '' };
  }
}

function encodeDeltas(part: AssistantPart, size: number): Wire[] {
  switch (part.type) {
    case 'text':
    case 'refusal':
      return pieces(part.text, size).map((text) => ({ type: 'text_delta', text }));
    case 'tool_call':
      return ['', ...pieces(part.arguments, size)].map((partial_json) => ({ type: 'input_json_delta', partial_json }));
    case 'reasoning':
      if (part.redacted !== undefined) return [];
      return [
        ...pieces(part.text, size).map((thinking) => ({ type: 'thinking_delta', thinking })),
        { type: 'signature_delta', signature: part.signature ?? '' },
      ];
  }
}

/** How a block looks before any delta. */
function emptyBlock(part: AssistantPart): Wire {
  const block = encodeBlock(part);
  if (part.type === 'tool_call') return { ...block, input: {} };
  if (block.type === 'thinking') return { type: 'thinking', thinking: '', signature: '' };
  return block.type === 'text' ? { type: 'text', text: '' } : block;
}

export function encodeMessagesStream(reply: ModelReply, size: number): WireEvent[] {
  const event = (value: Wire & { type: string }) => json(value, value.type);
  const usage = encodeUsage(reply);
  return [
    event({ type: 'message_start', message: { ...head(reply), content: [], usage: { ...usage, output_tokens: 1 } } }),
    event({ type: 'ping' }),
    ...reply.content.flatMap((part, index) => [
      event({ type: 'content_block_start', index, content_block: emptyBlock(part) }),
      ...encodeDeltas(part, size).map((delta) => event({ type: 'content_block_delta', index, delta })),
      event({ type: 'content_block_stop', index }),
    ]),
    event({
      type: 'message_delta',
      delta: { stop_reason: stopReason(reply), stop_sequence: reply.stopSequence ?? null },
      usage: { output_tokens: usage.output_tokens, output_tokens_details: usage.output_tokens_details },
    }),
    event({ type: 'message_stop' }),
  ];
}

function head(reply: ModelReply): Wire {
  return {
    id: reply.id,
    type: 'message',
    role: 'assistant',
    model: reply.model,
    stop_reason: null,
    stop_sequence: null,
  };
}

export function encodeMessagesWhole(reply: ModelReply): Wire {
  return {
    ...head(reply),
    content: reply.content.map(encodeBlock),
    stop_reason: stopReason(reply),
    stop_sequence: reply.stopSequence ?? null,
    usage: encodeUsage(reply),
  };
}
