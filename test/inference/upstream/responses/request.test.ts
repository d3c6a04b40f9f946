import { describe, expect, it } from 'vitest';
import type { InputPart, ModelMessage } from '../../../../src/inference/model.ts';
import { buildResponsesRequest } from '../../../../src/inference/upstream/responses/request.ts';
import { WEATHER_TOOL, buildRequest, buildTarget } from '../../../support/upstream.ts';

const target = buildTarget('responses', { apiKey: 'k-123' });
const text = (value: string) => ({ type: 'text' as const, text: value });
const build = (fields = {}, to = target) => buildResponsesRequest(buildRequest(fields), to).body;

describe('a responses request', () => {
  it('stores nothing and streams', () => {
    const { path, headers, body } = buildResponsesRequest(buildRequest({ system: 'Be kind.' }), target);
    expect(path).toBe('/responses');
    expect(headers).toEqual({ authorization: 'Bearer k-123' });
    expect(body).toEqual({
      model: 'small',
      instructions: 'Be kind.',
      stream: true,
      store: false,
      input: [{ type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Hi' }] }],
    });
  });

  it('keeps the order of reasoning, text and calls, and sends reasoning back to its issuer only', () => {
    const messages: ModelMessage[] = [
      {
        role: 'assistant',
        content: [
          { type: 'reasoning', text: 'hm', summary: true, encrypted: 'gAAA', issuer: 'acme/small' },
          { type: 'reasoning', text: 'elsewhere', encrypted: 'gBBB', issuer: 'other/small' },
          { type: 'reasoning', text: 'bare' },
          { type: 'tool_call', id: 'a', name: 'weather', arguments: '{}' },
          text('Hi'),
        ],
      },
      {
        role: 'tool',
        results: [
          {
            callId: 'a',
            content: [text('sun'), { type: 'image', mediaType: 'image/png', data: 'AAAA' }],
            isError: false,
          },
        ],
      },
      { role: 'system', content: [text('New rule.')] },
    ];
    expect(build({ messages }).input).toEqual([
      { type: 'reasoning', summary: [{ type: 'summary_text', text: 'hm' }], encrypted_content: 'gAAA' },
      { type: 'function_call', call_id: 'a', name: 'weather', arguments: '{}' },
      { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Hi' }] },
      {
        type: 'function_call_output',
        call_id: 'a',
        output: [
          { type: 'input_text', text: 'sun' },
          { type: 'input_image', image_url: 'data:image/png;base64,AAAA', detail: 'auto' },
        ],
      },
      { type: 'message', role: 'system', content: [{ type: 'input_text', text: 'New rule.' }] },
    ]);
  });

  it('says tools, choice, format and effort in this format’s words', () => {
    const body = build({
      tools: [WEATHER_TOOL],
      toolChoice: { name: 'weather' },
      maxOutputTokens: 50,
      responseFormat: { type: 'json_schema', name: 'city', schema: { type: 'object' }, strict: true },
      reasoning: { effort: 'low' },
      cacheKey: 'ses_1',
    });
    expect(body).toMatchObject({
      tools: [{ type: 'function', ...WEATHER_TOOL, strict: false }],
      tool_choice: { type: 'function', name: 'weather' },
      max_output_tokens: 50,
      text: { format: { type: 'json_schema', name: 'city', schema: { type: 'object' }, strict: true } },
      reasoning: { effort: 'low', summary: 'auto' },
      include: ['reasoning.encrypted_content'],
      prompt_cache_key: 'ses_1',
    });
  });

  it('asks for the proof of reasoning only where there is reasoning', () => {
    expect(build({ reasoning: { effort: 'none' } })).not.toHaveProperty('include');
    expect(build({}, { ...target, model: 'gpt-5.5' })).toHaveProperty('include');
    expect(build({}, { ...target, model: 'gpt-4o' })).not.toHaveProperty('include');
  });

  it('says in words that a tool failed, which the format has no field for', () => {
    const failed = (content: InputPart[]) =>
      build({
        messages: [
          { role: 'user', content: [{ type: 'text', text: 'Hi' }] },
          { role: 'assistant', content: [{ type: 'tool_call', id: 'c1', name: 'weather', arguments: '{}' }] },
          { role: 'tool', results: [{ callId: 'c1', content, isError: true }] },
        ],
      }).input;
    expect(failed([{ type: 'text', text: 'no such city' }])).toContainEqual(
      expect.objectContaining({ output: 'Error: no such city' }),
    );
    expect(failed([{ type: 'text', text: 'Error 404' }])).toContainEqual(
      expect.objectContaining({ output: 'Error 404' }),
    );
    expect(failed([])).toContainEqual(expect.objectContaining({ output: 'Error' }));
  });
});
