import { describe, expect, it } from 'vitest';
import type { ModelMessage } from '../../../../src/inference/model.ts';
import { buildChatRequest } from '../../../../src/inference/upstream/chat-completions/request.ts';
import { WEATHER_TOOL, buildRequest, buildTarget } from '../../../support/upstream.ts';

const target = buildTarget('chat-completions', { apiKey: 'k-123' });
const text = (value: string) => ({ type: 'text' as const, text: value });
const image = { type: 'image' as const, mediaType: 'image/png', data: 'AAAA' };
const build = (messages: ModelMessage[], fields = {}) =>
  buildChatRequest(buildRequest({ messages, ...fields }), target).body;
const call = (id: string, args = '{}') => ({ type: 'tool_call' as const, id, name: 'weather', arguments: args });

describe('a chat-completions request', () => {
  it('asks for a stream with usage, under the key', () => {
    const { path, headers, body } = buildChatRequest(buildRequest({ system: 'Be kind.', cacheKey: 'ses_1' }), target);
    expect(path).toBe('/chat/completions');
    expect(headers).toEqual({ authorization: 'Bearer k-123' });
    expect(body).toEqual({
      model: 'small',
      stream: true,
      stream_options: { include_usage: true },
      prompt_cache_key: 'ses_1',
      messages: [
        { role: 'system', content: 'Be kind.' },
        { role: 'user', content: 'Hi' },
      ],
    });
  });

  it('sends the images of tool results in a user message behind the last result', () => {
    const body = build([
      { role: 'assistant', content: [call('a'), call('b')] },
      { role: 'tool', results: [{ callId: 'a', content: [text('seen'), image], isError: false }] },
      { role: 'tool', results: [{ callId: 'b', content: [text('fine')], isError: false }] },
      { role: 'user', content: [text('And?')] },
    ]);
    expect(body.messages).toEqual([
      expect.objectContaining({ role: 'assistant', content: null }),
      { role: 'tool', tool_call_id: 'a', content: 'seen' },
      { role: 'tool', tool_call_id: 'b', content: 'fine' },
      {
        role: 'user',
        content: [
          text('Images returned by the tool call a:'),
          { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } },
          text('And?'),
        ],
      },
    ]);
  });

  it('joins system messages at the start, and passes later ones on in a user message', () => {
    const body = build(
      [
        { role: 'system', content: [text('More rules.')] },
        { role: 'user', content: [text('Hi')] },
        { role: 'assistant', content: [text('Hello')] },
        { role: 'system', content: [text('New rule.')] },
        { role: 'user', content: [text('Bye')] },
      ],
      { system: 'Rules.' },
    );
    expect(body.messages).toEqual([
      { role: 'system', content: 'Rules.\n\nMore rules.' },
      { role: 'user', content: 'Hi' },
      { role: 'assistant', content: 'Hello' },
      { role: 'user', content: [text('<system>\nNew rule.\n</system>'), text('Bye')] },
    ]);
  });

  it('repairs call arguments that are not JSON, and ids that are not legal everywhere', () => {
    const [assistant, tool] = build([
      { role: 'assistant', content: [call('functions.weather:0', '{"city": ')] },
      { role: 'tool', results: [{ callId: 'functions.weather:0', content: [text('x')], isError: true }] },
    ]).messages as [{ tool_calls: [{ id: string; function: { arguments: string } }] }, { tool_call_id: string }];
    expect(assistant.tool_calls[0].id).toMatch(/^[a-zA-Z0-9_-]{1,40}$/);
    expect(tool.tool_call_id).toBe(assistant.tool_calls[0].id);
    expect(JSON.parse(assistant.tool_calls[0].function.arguments)).toEqual({ malformed: '{"city": ' });
  });

  it('leaves images out for a model that cannot read them', () => {
    const blind = buildTarget('chat-completions', { vision: false });
    const { body } = buildChatRequest(buildRequest({ messages: [{ role: 'user', content: [image] }] }), blind);
    expect(JSON.stringify(body)).not.toContain('AAAA');
    expect(body.messages).toEqual([{ role: 'user', content: '[image left out: this model cannot read images]' }]);
  });

  it('says tools, choice, limits, format and effort in this format’s words', () => {
    const body = build([], {
      tools: [WEATHER_TOOL],
      toolChoice: { name: 'weather' },
      parallelToolCalls: false,
      maxOutputTokens: 50,
      stop: ['END'],
      responseFormat: { type: 'json_schema', name: 'city', schema: { type: 'object' }, strict: true },
      reasoning: { budgetTokens: 2000 },
    });
    expect(body).toMatchObject({
      tools: [{ type: 'function', function: WEATHER_TOOL }],
      tool_choice: { type: 'function', function: { name: 'weather' } },
      parallel_tool_calls: false,
      max_tokens: 50,
      stop: ['END'],
      response_format: { type: 'json_schema', json_schema: { name: 'city', schema: { type: 'object' }, strict: true } },
      reasoning_effort: 'low',
    });
  });

  it('names the limit as the models want it that refuse max_tokens', () => {
    const { body } = buildChatRequest(buildRequest({ maxOutputTokens: 9 }), { ...target, model: 'gpt-5.5' });
    expect(body).toMatchObject({ max_completion_tokens: 9 });
    expect(body).not.toHaveProperty('max_tokens');
  });
});
