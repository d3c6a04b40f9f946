import { describe, expect, it } from 'vitest';
import type { Wire } from '../../../support/model-server/pieces.ts';
import { readBody, readWire } from '../../../support/upstream.ts';

const chunk = (delta: Wire, finish_reason: string | null = null, rest: Wire = {}): Wire => ({
  id: 'x',
  choices: [{ index: 0, delta, finish_reason }],
  ...rest,
});
const HI = [chunk({ role: 'assistant', content: 'Hi' }), chunk({}, 'stop')];

describe('a chat-completions stream', () => {
  it('reads usage from the chunk without choices', async () => {
    const usage = {
      prompt_tokens: 9,
      completion_tokens: 4,
      total_tokens: 13,
      prompt_tokens_details: { cached_tokens: 3 },
      completion_tokens_details: { reasoning_tokens: 2 },
    };
    const reply = await readWire('chat-completions', [...HI, { id: 'x', choices: [], usage }, '[DONE]']);
    expect(reply.usage).toEqual({ input: 9, output: 4, cacheRead: 3, cacheWrite: 0, reasoning: 2 });
  });

  it('takes the last usage when every chunk has one', async () => {
    const events = [
      chunk({ content: 'a' }, null, { usage: { prompt_tokens: 5, completion_tokens: 1 } }),
      chunk({ content: 'b' }, null, { usage: { prompt_tokens: 5, completion_tokens: 2 } }),
      chunk({}, 'stop', { usage: null }),
    ];
    expect((await readWire('chat-completions', events)).usage).toMatchObject({ input: 5, output: 2 });
  });

  it('adds reasoning tokens that the upstream counts beside the completion', async () => {
    const usage = {
      prompt_tokens: 10,
      completion_tokens: 3,
      total_tokens: 33,
      completion_tokens_details: { reasoning_tokens: 20 },
    };
    const reply = await readWire('chat-completions', [...HI, { choices: [], usage }]);
    expect(reply.usage).toMatchObject({ output: 23, reasoning: 20 });
  });

  it('reads cache hits where the upstream names them in its own way', async () => {
    const usage = { prompt_tokens: 10, completion_tokens: 3, prompt_cache_hit_tokens: 8 };
    expect((await readWire('chat-completions', [...HI, { choices: [], usage }])).usage.cacheRead).toBe(8);
  });

  it.each([
    ['missing', HI],
    ['doubled', [...HI, '[DONE]', '[DONE]']],
    ['followed by more', [...HI, '[DONE]', 'no json at all']],
  ])('ends well when [DONE] is %s', async (_, events) => {
    const reply = await readWire('chat-completions', events);
    expect(reply).toMatchObject({ content: [{ type: 'text', text: 'Hi' }], finish: 'stop' });
  });

  it.each([
    ['the body ends', []],
    ['[DONE] comes', ['[DONE]']],
  ])('fails when %s without a finish reason', async (_, tail) => {
    const events = [chunk({ content: 'Hi' }), ...tail];
    await expect(readWire('chat-completions', events)).rejects.toMatchObject({ code: 'upstream' });
  });

  it('fails when the body has no events at all', async () => {
    await expect(readBody('chat-completions', '')).rejects.toMatchObject({ code: 'upstream' });
  });

  it.each([
    ['an object', { error: { message: 'Overloaded', type: 'overloaded_error' } }, 'unavailable'],
    ['an object with a status as its code', { error: { message: 'slow down', code: 429 } }, 'rate_limited'],
    ['a text', { error: 'it broke' }, 'upstream'],
    ['about the context', { error: { message: 'x', code: 'context_length_exceeded' } }, 'context_overflow'],
  ])('turns an error inside a 200 stream into its fault: %s', async (_, error, fault) => {
    await expect(readWire('chat-completions', [chunk({ content: 'Hi' }), error])).rejects.toMatchObject({
      code: fault,
    });
    await expect(readBody('chat-completions', JSON.stringify(error))).rejects.toMatchObject({ code: fault });
  });

  it('turns a finish reason "error" into a fault', async () => {
    await expect(readWire('chat-completions', [chunk({}, 'error')])).rejects.toMatchObject({ code: 'upstream' });
  });

  it('fails on an event that is not JSON', async () => {
    await expect(readWire('chat-completions', ['{"choices":[{"del'])).rejects.toMatchObject({ code: 'upstream' });
  });

  it('fails on the web page of a proxy', async () => {
    const page = '\n<!DOCTYPE html><html><body>502 Bad Gateway</body></html>';
    await expect(readBody('chat-completions', page)).rejects.toMatchObject({ code: 'upstream', retryable: true });
  });

  it('skips comments and joins the lines of one event', async () => {
    const body =
      ': OPENROUTER PROCESSING\n\ndata: {"choices":[{"index":0,\ndata: "delta":{"content":"Hi"}}]}\n\ndata:{"choices":[{"finish_reason":"stop"}]}';
    expect((await readBody('chat-completions', body)).content).toEqual([{ type: 'text', text: 'Hi' }]);
  });

  it('reads content that is a list of typed parts', async () => {
    const thinking = { type: 'thinking', thinking: [{ type: 'text', text: 'hm' }] };
    const events = [chunk({ content: [thinking] }), chunk({ content: [{ type: 'text', text: 'Hi' }] }, 'stop')];
    expect((await readWire('chat-completions', events)).content).toEqual([
      { type: 'reasoning', text: 'hm' },
      { type: 'text', text: 'Hi' },
    ]);
  });

  it('reads a refusal', async () => {
    const reply = await readWire('chat-completions', [chunk({ refusal: 'No.' }), chunk({}, 'stop')]);
    expect(reply).toMatchObject({ content: [{ type: 'refusal', text: 'No.' }], finish: 'refusal' });
  });

  it('ignores further choices and chunks that only announce', async () => {
    const announcement = { id: '', choices: [], prompt_filter_results: [] };
    const other = { choices: [{ index: 1, delta: { content: 'no' }, finish_reason: null }] };
    const reply = await readWire('chat-completions', [announcement, other, ...HI]);
    expect(reply.content).toEqual([{ type: 'text', text: 'Hi' }]);
  });
});
