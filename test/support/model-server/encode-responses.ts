import type { AssistantPart, ModelReply } from '../../../src/inference/model.ts';
import { groupCalls, json, pieces } from './pieces.ts';
import type { Wire, WireEvent } from './pieces.ts';

function encodeItem(part: AssistantPart, index: number): Wire & { type: string } {
  switch (part.type) {
    case 'text':
      return message(index, { type: 'output_text', text: part.text, annotations: [] });
    case 'refusal':
      return message(index, { type: 'refusal', refusal: part.text });
    case 'tool_call':
      return {
        id: `fc_${index}`,
        type: 'function_call',
        status: 'completed',
        call_id: part.id,
        name: part.name,
        arguments: part.arguments,
      };
    case 'reasoning': {
      const summary = part.summary === true && part.text !== '' ? [{ type: 'summary_text', text: part.text }] : [];
      const content = part.summary === true ? [] : [{ type: 'reasoning_text', text: part.text }];
      return { id: `rs_${index}`, type: 'reasoning', summary, content, encrypted_content: part.encrypted ?? null };
    }
  }
}

function message(index: number, part: Wire): Wire & { type: string } {
  return { id: `msg_${index}`, type: 'message', status: 'completed', role: 'assistant', content: [part] };
}

type Delta = { kind: string; fields: Wire; text: string };

function encodeDelta(part: AssistantPart): Delta {
  switch (part.type) {
    case 'text':
      return { kind: 'output_text', fields: { content_index: 0, logprobs: [] }, text: part.text };
    case 'refusal':
      return { kind: 'refusal', fields: { content_index: 0 }, text: part.text };
    case 'tool_call':
      return { kind: 'function_call_arguments', fields: {}, text: part.arguments };
    case 'reasoning':
      return part.summary === true
        ? { kind: 'reasoning_summary_text', fields: { summary_index: 0 }, text: part.text }
        : { kind: 'reasoning_text', fields: { content_index: 0 }, text: part.text };
  }
}

/** What an item looks like before any delta. */
function emptyItem(item: Wire): Wire {
  if (item.type === 'function_call') return { ...item, arguments: '', status: 'in_progress' };
  return item.type === 'message'
    ? { ...item, content: [], status: 'in_progress' }
    : { ...item, summary: [], content: [] };
}

export function encodeResponsesStream(reply: ModelReply, size: number): WireEvent[] {
  let sequence = 0;
  const event = (type: string, fields: Wire) => json({ type, sequence_number: sequence++, ...fields }, type);
  const whole = encodeResponsesWhole(reply);
  const empty = { ...whole, status: 'in_progress', output: [], usage: null, incomplete_details: null };
  const events = [event('response.created', { response: empty }), event('response.in_progress', { response: empty })];
  let index = 0;
  for (const group of groupCalls(reply.content)) {
    const first = index;
    const at = (offset: number) => ({ output_index: first + offset, item_id: `item_${first + offset}` });
    const items = group.map((part, offset) => encodeItem(part, first + offset));
    items.forEach((item, offset) => {
      events.push(event('response.output_item.added', { ...at(offset), item: emptyItem(item) }));
    });
    const deltas = group.map(encodeDelta);
    const queues = deltas.map((delta) => pieces(delta.text, size));
    for (let round = 0; queues.some((queue) => round < queue.length); round += 1) {
      queues.forEach((queue, offset) => {
        const delta = queue[round];
        const { kind, fields } = deltas[offset] ?? { kind: '', fields: {} };
        if (delta !== undefined) events.push(event(`response.${kind}.delta`, { ...at(offset), ...fields, delta }));
      });
    }
    items.forEach((item, offset) => {
      const { kind, fields, text } = deltas[offset] ?? { kind: '', fields: {}, text: '' };
      const name = kind === 'function_call_arguments' ? 'arguments' : 'text';
      if (text !== '') events.push(event(`response.${kind}.done`, { ...at(offset), ...fields, [name]: text }));
      events.push(event('response.output_item.done', { ...at(offset), item }));
    });
    index += group.length;
  }
  const end = whole.status === 'incomplete' ? 'response.incomplete' : 'response.completed';
  return [...events, event(end, { response: whole })];
}

export function encodeResponsesWhole(reply: ModelReply): Wire {
  const { usage, finish } = reply;
  const reason = finish === 'length' ? 'max_output_tokens' : finish === 'content_filter' ? 'content_filter' : undefined;
  return {
    id: reply.id,
    object: 'response',
    created_at: 1,
    model: reply.model,
    status: reason === undefined ? 'completed' : 'incomplete',
    incomplete_details: reason === undefined ? null : { reason },
    error: null,
    output: reply.content.map(encodeItem),
    usage: {
      input_tokens: usage.input,
      input_tokens_details: { cached_tokens: usage.cacheRead, cache_write_tokens: usage.cacheWrite },
      output_tokens: usage.output,
      output_tokens_details: { reasoning_tokens: usage.reasoning },
      total_tokens: usage.input + usage.output,
    },
  };
}
