import { parseInput } from '../../src/gateway/dialects/messages/reply.ts';
import { expect } from 'vitest';
import type { Frame } from './harness.ts';

type Wire = Record<string, unknown>;
type Named = Wire & { type: string; index: number; item_id?: string; output_index: number };

/** Reconstructs a reply from a stream, strictly by the specification of each format and independently of the writer. */

export function accumulateChat(frames: Frame[]): Wire {
  expect(frames.at(-1)?.data).toBe('[DONE]');
  const chunks = frames.slice(0, -1).map(({ data }) => JSON.parse(data) as Wire);
  const message: Wire = { role: 'assistant', content: null, refusal: null };
  const calls: { id: string; type: string; function: { name: string; arguments: string } }[] = [];
  let finish: unknown = null;
  let usage: unknown;
  const append = (key: string, value: unknown) => {
    const before = message[key];
    if (typeof value === 'string' && value !== '') message[key] = (typeof before === 'string' ? before : '') + value;
  };
  for (const chunk of chunks) {
    expect(chunk['object']).toBe('chat.completion.chunk');
    expect([chunk['id'], chunk['created'], chunk['model']]).toEqual([
      chunks[0]?.['id'],
      chunks[0]?.['created'],
      chunks[0]?.['model'],
    ]);
    usage = chunk['usage'] ?? usage;
    for (const choice of chunk['choices'] as { delta: Wire; finish_reason: unknown }[]) {
      // Nothing may follow the end.
      expect(finish).toBe(null);
      const { delta } = choice;
      append('content', delta['content']);
      append('refusal', delta['refusal']);
      append('reasoning_content', delta['reasoning_content']);
      for (const detail of (delta['reasoning_details'] ?? []) as unknown[]) {
        message['reasoning_details'] = [...((message['reasoning_details'] ?? []) as unknown[]), detail];
      }
      for (const call of (delta['tool_calls'] ?? []) as (Wire & { index: number; function: { arguments: string } })[]) {
        const { index, ...rest } = call;
        if (index === calls.length) calls.push(structuredClone(rest) as (typeof calls)[number]);
        else calls[index]!.function.arguments += call.function.arguments;
      }
      finish = choice.finish_reason;
    }
  }
  if (calls.length > 0) message['tool_calls'] = calls;
  const { id, created, model } = chunks[0]!;
  const choices = [{ index: 0, message, logprobs: null, finish_reason: finish }];
  return { id, object: 'chat.completion', created, model, choices, usage };
}

export function accumulateMessages(frames: Frame[]): Wire {
  let message: Wire = {};
  const blocks: Wire[] = [];
  let json = '';
  let open: number | undefined;
  let ended = false;
  for (const { event, data } of frames) {
    const wire = JSON.parse(data) as Named;
    expect(wire.type).toBe(event);
    expect(ended).toBe(false);
    switch (wire.type) {
      case 'message_start':
        message = wire['message'] as Wire;
        break;
      case 'content_block_start':
        expect([open, wire.index]).toEqual([undefined, blocks.length]);
        open = wire.index;
        json = '';
        blocks.push({ ...(wire['content_block'] as Wire) });
        break;
      case 'content_block_delta': {
        expect(wire.index).toBe(open);
        const block = blocks[wire.index]!;
        const delta = wire['delta'] as Record<string, string>;
        if (delta['type'] === 'text_delta') block['text'] = String(block['text']) + delta['text'];
        else if (delta['type'] === 'thinking_delta') block['thinking'] = String(block['thinking']) + delta['thinking'];
        else if (delta['type'] === 'signature_delta') block['signature'] = delta['signature'];
        else json += delta['partial_json'];
        break;
      }
      case 'content_block_stop':
        expect(wire.index).toBe(open);
        if (blocks[wire.index]!['type'] === 'tool_use') blocks[wire.index]!['input'] = parseInput(json);
        open = undefined;
        break;
      case 'message_delta':
        message = { ...message, ...(wire['delta'] as Wire), usage: wire['usage'] };
        break;
      case 'message_stop':
        expect(open).toBe(undefined);
        ended = true;
    }
  }
  expect(ended).toBe(true);
  return { ...message, content: blocks };
}

/** The joined text of an item's deltas, wherever the item holds it. */
function textOf(item: Wire): string {
  const first = (key: string) => ((item[key] ?? []) as Record<string, string>[])[0];
  const part = first('content') ?? first('summary') ?? {};
  return (
    [item['arguments'], item['input'], part['text'], part['refusal']].find((each) => typeof each === 'string') ?? ''
  );
}

export function accumulateResponses(frames: Frame[]): Wire {
  const events = frames.map(({ event, data }) => {
    const wire = JSON.parse(data) as Named;
    expect(wire.type).toBe(event);
    return wire;
  });
  expect(events.map((wire) => wire['sequence_number'])).toEqual(events.map((_, index) => index));
  const items: Wire[] = [];
  let open: { id: unknown; text: string } | undefined;
  for (const wire of events) {
    const item = wire['item'] as Wire;
    if (wire.type === 'response.output_item.added') {
      expect([open, wire.output_index]).toEqual([undefined, items.length]);
      open = { id: item['id'], text: '' };
    } else if (wire.type === 'response.output_item.done') {
      expect([item['id'], wire.output_index, textOf(item)]).toEqual([open?.id, items.length, open?.text]);
      items.push(item);
      open = undefined;
    } else if (wire.item_id !== undefined) {
      expect([wire.item_id, wire.output_index]).toEqual([open?.id, items.length]);
      if (wire.type.endsWith('.delta')) open!.text += String(wire['delta']);
      const whole = wire['text'] ?? wire['refusal'] ?? wire['arguments'] ?? wire['input'];
      if (wire.type.endsWith('.done') && whole !== undefined) expect(whole).toBe(open!.text);
    }
  }
  const last = events.at(-1)!;
  const response = last['response'] as Wire;
  expect([last.type, open]).toEqual([`response.${String(response['status'])}`, undefined]);
  expect(events[0]).toMatchObject({
    type: 'response.created',
    response: { id: response['id'], status: 'in_progress' },
  });
  return { ...response, output: items };
}
