import { describe, expect, it } from 'vitest';
import type { Wire } from '../../../support/model-server/pieces.ts';
import { readBody, readWire } from '../../../support/upstream.ts';

const START = {
  type: 'message_start',
  message: { id: 'm', content: [], usage: { input_tokens: 5, output_tokens: 1 } },
};
const stop = (stop_reason: string | null, usage: Wire = { output_tokens: 7 }) => ({
  type: 'message_delta',
  delta: { stop_reason, stop_sequence: null },
  usage,
});
const END = { type: 'message_stop' };
const open = (index: number, content_block: Wire) => ({ type: 'content_block_start', index, content_block });
const delta = (index: number, fields: Wire) => ({ type: 'content_block_delta', index, delta: fields });
const close = (index: number) => ({ type: 'content_block_stop', index });
const textAt = (index: number, text: string) => delta(index, { type: 'text_delta', text });
const read = (...events: Wire[]) => readWire('messages', events);

describe('a messages stream', () => {
  it('adds cached tokens to the input, and takes cumulative counts', async () => {
    const usage = { input_tokens: 5, cache_read_input_tokens: 100, cache_creation_input_tokens: 20, output_tokens: 1 };
    const reply = await read(
      { type: 'message_start', message: { id: 'm', usage } },
      open(0, { type: 'text', text: '' }),
      textAt(0, 'Hi'),
      close(0),
      stop('end_turn', { output_tokens: 9, input_tokens: 0 }),
      END,
    );
    expect(reply.usage).toEqual({ input: 125, output: 9, cacheRead: 100, cacheWrite: 20, reasoning: 0 });
    expect(reply.finish).toBe('stop');
  });

  it('takes counts that come at the end only', async () => {
    const reply = await read(
      { type: 'message_start', message: { id: 'm', usage: { input_tokens: 0, output_tokens: 0 } } },
      stop('end_turn', { input_tokens: 30, output_tokens: 2 }),
      END,
    );
    expect(reply.usage).toMatchObject({ input: 30, output: 2 });
  });

  it('makes {} of a call without arguments', async () => {
    const use = { type: 'tool_use', id: 't', name: 'now', input: {} };
    const empty = delta(0, { type: 'input_json_delta', partial_json: '' });
    const reply = await read(START, open(0, use), empty, close(0), stop('tool_use'), END);
    expect(reply.content).toEqual([{ type: 'tool_call', id: 't', name: 'now', arguments: '{}' }]);
  });

  it('takes the input of a call from its start when no deltas follow', async () => {
    const use = { type: 'tool_use', id: 't', name: 'now', input: { zone: 'UTC' } };
    const reply = await read(START, open(0, use), close(0), stop('tool_use'), END);
    expect(reply.content).toMatchObject([{ arguments: '{"zone":"UTC"}' }]);
  });

  it('makes ids where they are blank or repeated', async () => {
    const use = (index: number, id: string) => [
      open(index, { type: 'tool_use', id, name: 'now', input: {} }),
      close(index),
    ];
    const reply = await read(START, ...use(0, ''), ...use(1, 't'), ...use(2, 't'), stop('tool_use'), END);
    const ids = reply.content.map((part) => (part.type === 'tool_call' ? part.id : ''));
    expect(new Set(ids).size).toBe(3);
    for (const id of ids) expect(id).toMatch(/^[a-zA-Z0-9_-]{1,40}$/);
  });

  it('keeps the order of thinking, calls and text, with signatures and redacted blocks', async () => {
    const issuer = 'acme/small';
    const reply = await read(
      START,
      open(0, { type: 'thinking', thinking: '', signature: '' }),
      delta(0, { type: 'thinking_delta', thinking: 'hm' }),
      delta(0, { type: 'signature_delta', signature: 'si' }),
      delta(0, { type: 'signature_delta', signature: 'g' }),
      close(0),
      open(1, { type: 'redacted_thinking', data: 'zz' }),
      close(1),
      open(2, { type: 'tool_use', id: 't', name: 'now', input: {} }),
      close(2),
      open(3, { type: 'text', text: 'Hi' }),
      close(3),
      stop('end_turn'),
      END,
    );
    expect(reply.content).toEqual([
      { type: 'reasoning', text: 'hm', signature: 'sig', issuer },
      { type: 'reasoning', text: '', redacted: 'zz', issuer },
      { type: 'tool_call', id: 't', name: 'now', arguments: '{}' },
      { type: 'text', text: 'Hi' },
    ]);
    expect(reply.finish).toBe('tool_calls');
  });

  it('keeps a signature without any text: thinking that the upstream does not show', async () => {
    const reply = await read(
      START,
      open(0, { type: 'thinking', thinking: '', signature: 'sig' }),
      close(0),
      stop('end_turn'),
      END,
    );
    expect(reply.content).toEqual([{ type: 'reasoning', text: '', signature: 'sig', issuer: 'acme/small' }]);
  });

  it('starts once when message_start is doubled, and takes content that is in it', async () => {
    const start = { type: 'message_start', message: { id: 'm', content: [{ type: 'text', text: 'Hi' }] } };
    const reply = await read(start, start, { type: 'ping' }, stop('end_turn'), END);
    expect(reply.content).toEqual([{ type: 'text', text: 'Hi' }]);
  });

  it('takes text whose block was never opened, and blocks that are never closed', async () => {
    const reply = await read(
      START,
      textAt(0, 'Hi'),
      open(1, { type: 'tool_use', id: 't', name: 'now', input: { a: 1 } }),
      stop('tool_use'),
    );
    expect(reply.content).toMatchObject([{ text: 'Hi' }, { arguments: '{"a":1}' }]);
  });

  it.each([
    ['max_tokens', 'length'],
    ['model_context_window_exceeded', 'length'],
    ['refusal', 'refusal'],
    ['pause_turn', 'stop'],
  ])('finishes with %s as %s', async (reason, finish) => {
    expect((await read(START, stop(reason), END)).finish).toBe(finish);
  });

  it('tells which stop sequence ended the text', async () => {
    const end = { type: 'message_delta', delta: { stop_reason: 'stop_sequence', stop_sequence: 'END' } };
    expect(await read(START, end, END)).toMatchObject({ finish: 'stop', stopSequence: 'END' });
  });

  it.each([
    ['ends before its reason', [START, textAt(0, 'Hi')]],
    ['stops without a reason', [START, textAt(0, 'Hi'), stop(null), END]],
    ['has no events', []],
  ])('fails when it %s', async (_, events) => {
    await expect(read(...events)).rejects.toMatchObject({ code: 'upstream' });
  });

  it.each([
    ['overloaded_error', 'unavailable'],
    ['rate_limit_error', 'rate_limited'],
    ['authentication_error', 'authentication'],
    ['api_error', 'upstream'],
  ])('turns an error event %s into its fault', async (type, fault) => {
    const error = { type: 'error', error: { type, message: 'x' } };
    await expect(read(START, error)).rejects.toMatchObject({ code: fault });
    await expect(readBody('messages', JSON.stringify(error))).rejects.toMatchObject({ code: fault });
  });
});
