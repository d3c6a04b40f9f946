import { describe, expect, it } from 'vitest';
import type { ModelMessage, ModelRequest } from '../../../../src/inference/model.ts';
import { buildMessagesRequest } from '../../../../src/inference/upstream/messages/request.ts';
import { WEATHER_TOOL, buildRequest, buildTarget } from '../../../support/upstream.ts';

const target = buildTarget('messages', { apiKey: 'k-123' });
const text = (value: string) => ({ type: 'text' as const, text: value });
const user = (value: string): ModelMessage => ({ role: 'user', content: [text(value)] });
const build = (fields: Partial<ModelRequest>, to = target) => buildMessagesRequest(buildRequest(fields), to).body;
const turns = (messages: ModelMessage[]) => build({ messages }).messages;
const call = (id: string) => ({ type: 'tool_call' as const, id, name: 'weather', arguments: '{"city":"Ulm"}' });
const use = (id: string) => ({ type: 'tool_use', id, name: 'weather', input: { city: 'Ulm' } });
const result = (callId: string, value: string) => ({ callId, content: [text(value)], isError: false });
const block = (id: string, content: string) => ({ type: 'tool_result', tool_use_id: id, content });

describe('a messages request', () => {
  it('names its version and key, and says the limit that the format demands', () => {
    const { path, headers, body } = buildMessagesRequest(buildRequest(), target);
    expect(path).toBe('/messages');
    expect(headers).toEqual({ 'anthropic-version': '2023-06-01', 'x-api-key': 'k-123' });
    expect(body).toEqual({ model: 'small', max_tokens: 8192, stream: true, messages: [user('Hi')] });
  });

  it('limits output to the caller’s limit, else to the model’s', () => {
    const known = { ...target, maxOutputTokens: 4096 };
    expect(build({}, known).max_tokens).toBe(4096);
    expect(build({ maxOutputTokens: 100 }, known).max_tokens).toBe(100);
    expect(build({ maxOutputTokens: 9999 }, known).max_tokens).toBe(4096);
  });

  it('merges all results of a turn and the following text into one user message, results first', () => {
    expect(
      turns([
        { role: 'assistant', content: [text('Look:'), call('a'), call('b')] },
        { role: 'tool', results: [result('a', 'sun')] },
        { role: 'system', content: [text('Hurry.')] },
        { role: 'tool', results: [{ ...result('b', 'rain'), isError: true }] },
        user('And?'),
      ]),
    ).toEqual([
      user('Continue.'),
      { role: 'assistant', content: [text('Look:'), use('a'), use('b')] },
      {
        role: 'user',
        content: [
          block('a', 'sun'),
          { ...block('b', 'rain'), is_error: true },
          text('<system>\nHurry.\n</system>'),
          text('And?'),
        ],
      },
    ]);
  });

  it('alternates user and assistant, and drops empty messages', () => {
    expect(
      turns([
        user('a'),
        { role: 'user', content: [text('  '), text('b')] },
        { role: 'assistant', content: [text('')] },
        user('c'),
        { role: 'assistant', content: [text('\n')] },
        { role: 'assistant', content: [text('So: ')] },
      ]),
    ).toEqual([
      { role: 'user', content: [text('a'), text('b'), text('c')] },
      { role: 'assistant', content: [text('So:')] },
    ]);
  });

  it('sends empty results, images and results with images', () => {
    const image = { type: 'image' as const, mediaType: 'image/png', data: 'AAAA' };
    const content = turns([
      user('x'),
      { role: 'assistant', content: [call('a'), call('b')] },
      {
        role: 'tool',
        results: [
          { callId: 'a', content: [], isError: false },
          { callId: 'b', content: [text('see'), image], isError: false },
        ],
      },
      { role: 'user', content: [{ type: 'image_url', url: 'https://example.com/a.png' }] },
    ]) as { content: unknown[] }[];
    expect(content[2]?.content).toEqual([
      { type: 'tool_result', tool_use_id: 'a' },
      {
        type: 'tool_result',
        tool_use_id: 'b',
        content: [text('see'), { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } }],
      },
      { type: 'image', source: { type: 'url', url: 'https://example.com/a.png' } },
    ]);
  });

  it('sends thinking back to its issuer only, in its place, and never unsigned', () => {
    const issuer = 'acme/small';
    const history = (name: string) => {
      const messages: ModelMessage[] = [
        user('x'),
        {
          role: 'assistant',
          content: [
            { type: 'reasoning', text: 'hm', signature: 's', issuer },
            { type: 'reasoning', text: '', redacted: 'r', issuer },
            { type: 'reasoning', text: 'unsigned' },
            text('Hi'),
          ],
        },
      ];
      return (build({ messages }, { ...target, name }).messages as { content: unknown[] }[])[1]?.content;
    };
    expect(history(issuer)).toEqual([
      { type: 'thinking', thinking: 'hm', signature: 's' },
      { type: 'redacted_thinking', data: 'r' },
      text('Hi'),
    ]);
    expect(history('other/small')).toEqual([text('Hi')]);
  });

  it('makes ids unique where every reply counts its calls from zero', () => {
    const step: ModelMessage[] = [
      { role: 'assistant', content: [call('call_0')] },
      { role: 'tool', results: [result('call_0', 'x')] },
    ];
    const sent = turns([user('x'), ...step, ...step]) as { content: { id?: string; tool_use_id?: string }[] }[];
    const [, first, firstResult, second, secondResult] = sent.map((turn) => turn.content[0]);
    expect(first?.id).toBe('call_0');
    expect(second?.id).not.toBe('call_0');
    expect([firstResult?.tool_use_id, secondResult?.tool_use_id]).toEqual([first?.id, second?.id]);
  });

  it('marks at most four places for the cache: tools, instructions, and the last two user messages', () => {
    const messages = [user('a'), { role: 'assistant' as const, content: [text('b')] }, user('c')];
    const body = build({
      system: 'Rules.',
      tools: [WEATHER_TOOL, WEATHER_TOOL],
      messages: [...messages, ...messages.slice(1)],
    });
    const mark = { cache_control: { type: 'ephemeral' } };
    expect(JSON.stringify(body).match(/cache_control/g)).toHaveLength(4);
    expect(body.system).toEqual([{ ...text('Rules.'), ...mark }]);
    expect((body.tools as unknown[])[1]).toMatchObject(mark);
    expect((body.messages as { content: unknown[] }[]).map((turn) => turn.content[0])).toEqual([
      text('a'),
      text('b'),
      { ...text('c'), ...mark },
      text('b'),
      { ...text('c'), ...mark },
    ]);
  });

  it.each([
    ['auto' as const, { type: 'auto', disable_parallel_tool_use: true }],
    ['none' as const, { type: 'none' }],
    ['required' as const, { type: 'any', disable_parallel_tool_use: true }],
    [{ name: 'weather' }, { type: 'tool', name: 'weather', disable_parallel_tool_use: true }],
  ])('says the tool choice %j in this format’s words', (toolChoice, expected) => {
    expect(build({ tools: [WEATHER_TOOL], toolChoice, parallelToolCalls: false }).tool_choice).toEqual(expected);
  });
});

describe('thinking of a messages request', () => {
  const effort = { reasoning: { effort: 'high' as const } };

  it('has a budget below the limit, and no temperature beside it', () => {
    const body = build({ ...effort, temperature: 0.3, topP: 0.5 });
    expect(body).toMatchObject({ max_tokens: 32_192, thinking: { type: 'enabled', budget_tokens: 24_000 } });
    expect(body).not.toHaveProperty('temperature');
    expect(body).not.toHaveProperty('top_p');
  });

  it('shrinks its budget to fit, and is left out where nothing fits', () => {
    expect(build({ ...effort, maxOutputTokens: 4000 }).thinking).toEqual({ type: 'enabled', budget_tokens: 2000 });
    expect(build({ ...effort, maxOutputTokens: 1500 })).not.toHaveProperty('thinking');
  });

  it('is adaptive for models that refuse a budget', () => {
    const body = build(effort, { ...target, model: 'claude-opus-4-7' });
    expect(body).toMatchObject({ thinking: { type: 'adaptive' }, output_config: { effort: 'high' } });
    expect(build(effort, { ...target, model: 'claude-sonnet-4-5-20250929' }).thinking).toMatchObject({
      type: 'enabled',
    });
    expect(build(effort, { ...target, model: 'claude-sonnet-4-20250514' }).thinking).toMatchObject({ type: 'enabled' });
  });

  it('is left out beside a forced tool, and in a tool loop that began without it', () => {
    expect(build({ ...effort, tools: [WEATHER_TOOL], toolChoice: 'required' })).not.toHaveProperty('thinking');
    const messages: ModelMessage[] = [
      user('x'),
      { role: 'assistant', content: [call('a')] },
      { role: 'tool', results: [result('a', 'sun')] },
    ];
    expect(build({ ...effort, messages })).not.toHaveProperty('thinking');
    expect(build({ ...effort, messages: [...messages, user('And?')] })).toHaveProperty('thinking');
  });
});
