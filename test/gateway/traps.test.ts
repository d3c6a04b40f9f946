import { describe, expect, it } from 'vitest';
import { CHAT_COMPLETIONS } from '../../src/gateway/dialects/chat-completions/dialect.ts';
import { MESSAGES } from '../../src/gateway/dialects/messages/dialect.ts';
import { buildInputDecoder, decodeInput } from '../../src/gateway/dialects/responses/custom-input.ts';
import { RESPONSES } from '../../src/gateway/dialects/responses/dialect.ts';
import { buildToolNames, flattenName } from '../../src/gateway/dialects/responses/tool-names.ts';
import { buildSequencer } from '../../src/gateway/sequence.ts';
import type { ReplyEvent } from '../../src/gateway/sequence.ts';
import type { AssistantPart, FinishReason, ModelDelta, ModelReply } from '../../src/inference/model.ts';

/** Known mistakes of translating gateways, one by one. Misbehaviour of upstreams is tested with their readers. */

const MOMENT = { id: 'abc', created: 1, requestId: 'req_1', now: () => 2 };
const USAGE = { input: 100, output: 20, cacheRead: 60, cacheWrite: 10, reasoning: 5 };
const said = [{ role: 'user', content: 'Hi' }];

const chat = (more: object) => CHAT_COMPLETIONS.readCall({ model: 'm', messages: said, ...more });
const messages = (more: object) => MESSAGES.readCall({ model: 'm', max_tokens: 9, messages: said, ...more });
const responses = (more: object) => RESPONSES.readCall({ model: 'm', input: 'Hi', ...more });

function reply(finish: FinishReason, content: AssistantPart[] = [{ type: 'text', text: 'x' }]): ModelReply {
  return { id: 'r', model: 'a/b', content, finish, usage: USAGE };
}

describe('tool calls', () => {
  const sequence = (deltas: ModelDelta[]): ReplyEvent[] => {
    const out: ReplyEvent[] = [];
    const sequencer = buildSequencer({ reasoning: true });
    for (const delta of deltas) sequencer.push(delta, out);
    return out;
  };
  const call = (index: number): ModelDelta => ({ type: 'tool_call', index, id: `call_${index}`, name: 't' });
  const args = (index: number, text: string): ModelDelta => ({ type: 'tool_arguments', index, text });
  const finish: ModelDelta = { type: 'finish', reason: 'tool_calls', usage: USAGE };
  const outline = (events: ReplyEvent[]) =>
    events.map((event) => ('index' in event ? `${event.type} ${event.index}` : event.type)).join(', ');

  it('that come mixed are one block after the other, each opened and closed once', () => {
    const events = sequence([
      call(0),
      call(1),
      args(0, '{"a":'),
      args(1, '{"b":'),
      args(0, '1}'),
      args(1, '2}'),
      finish,
    ]);
    expect(outline(events)).toBe('open 0, delta 0, delta 0, close 0, open 1, delta 1, delta 1, close 1, finish');
    expect(events.at(-1)).toMatchObject({ reply: { content: [{ arguments: '{"a":1}' }, { arguments: '{"b":2}' }] } });
  });

  it('without arguments have {} as theirs, streamed and whole', () => {
    const events = sequence([call(0), args(0, '  '), finish]);
    expect(events.flatMap((event) => (event.type === 'delta' ? [event.text] : [])).join('')).toBe('{}');
  });

  it('may be followed by text, which comes when they are whole', () => {
    const events = sequence([
      call(0),
      { type: 'text', index: 1, text: 'so' },
      args(0, '{}'),
      { type: 'text', index: 1, text: '!' },
      finish,
    ]);
    expect(outline(events)).toBe('open 0, delta 0, close 0, open 1, delta 1, delta 1, close 1, finish');
  });

  it.each([
    ['auto', 'auto'],
    ['none', 'none'],
    ['required', 'required'],
    [{ type: 'function', function: { name: 't' } }, { name: 't' }],
  ])('may be chosen by chat clients: %j', (given, wanted) => {
    const tools = [{ type: 'function', function: { name: 't' } }];
    expect(chat({ tools, tool_choice: given }).request.toolChoice).toEqual(wanted);
  });

  it.each([
    [
      { type: 'auto', disable_parallel_tool_use: true },
      { toolChoice: 'auto', parallelToolCalls: false },
    ],
    [{ type: 'any' }, { toolChoice: 'required' }],
    [{ type: 'none' }, { toolChoice: 'none' }],
    [{ type: 'tool', name: 't' }, { toolChoice: { name: 't' } }],
  ])('may be chosen by messages clients: %j', (given, wanted) => {
    const tools = [{ name: 't', input_schema: { type: 'object' } }];
    expect(messages({ tools, tool_choice: given }).request).toMatchObject(wanted);
  });

  it('may be narrowed to some of the tools', () => {
    const tools = ['a', 'b'].map((name) => ({ type: 'function', name }));
    const { request } = responses({
      tools,
      tool_choice: { type: 'allowed_tools', mode: 'required', tools: [{ type: 'function', name: 'b' }] },
    });
    expect([request.tools.map(({ name }) => name), request.toolChoice]).toEqual([['b'], 'required']);
    expect(() => responses({ tools, tool_choice: { type: 'function', name: 'c' } })).toThrow('no tool is called c');
  });
});

describe('results of tools', () => {
  const use = (id: string) => ({ type: 'tool_use', id, name: 't', input: {} });
  const result = (id: string) => ({ type: 'tool_result', tool_use_id: id, content: 'x', is_error: true });

  it('of one turn are one message, before the user’s own text', () => {
    const { request } = messages({
      messages: [
        ...said,
        { role: 'assistant', content: [use('a'), use('b')] },
        { role: 'user', content: [result('b'), { type: 'text', text: 'and' }, result('a')] },
      ],
    });
    expect(request.messages.slice(2)).toEqual([
      {
        role: 'tool',
        results: [expect.objectContaining({ callId: 'b', isError: true }), expect.objectContaining({ callId: 'a' })],
      },
      { role: 'user', content: [{ type: 'text', text: 'and' }] },
    ]);
  });

  it('may be missing for no call, nor come for none', () => {
    const calls = {
      role: 'assistant',
      tool_calls: [{ id: 'a', type: 'function', function: { name: 't', arguments: '{}' } }],
    };
    expect(() => chat({ messages: [...said, calls] })).toThrow('a has no result after it');
    expect(() => chat({ messages: [...said, calls, ...said] })).toThrow('a has no result after it');
    const twice = { role: 'tool', tool_call_id: 'a', content: 'x' };
    expect(() => chat({ messages: [...said, calls, twice, twice] })).toThrow('has no tool call');
  });

  it('come straight after their calls, though a system message stands between', () => {
    const { request } = responses({
      input: [
        { role: 'user', content: 'Hi' },
        { type: 'function_call', call_id: 'a', name: 't', arguments: '{}' },
        { role: 'developer', content: 'careful' },
        { type: 'function_call_output', call_id: 'a', output: 'x' },
      ],
    });
    expect(request.messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'system']);
  });
});

describe('names of namespaced tools', () => {
  it('are legal and short upstream, and always the same', () => {
    const long = flattenName('n'.repeat(80), 'space');
    expect(long).toMatch(/^[A-Za-z0-9_-]{1,64}$/);
    expect(flattenName('n'.repeat(80), 'space')).toBe(long);
    expect(flattenName('read file', 'mcp.x')).not.toBe(flattenName('read_file', 'mcp_x'));
  });

  it('never collide, and lead back to the tool', () => {
    const names = buildToolNames();
    const first = names.add({ name: 'b', namespace: 'a', custom: false });
    const second = names.add({ name: 'a__b', namespace: undefined, custom: true });
    expect(first.flat).not.toBe(second.flat);
    expect([names.restore(first.flat), names.restore(second.flat)]).toMatchObject([
      { namespace: 'a' },
      { name: 'a__b', custom: true },
    ]);
    expect(names.flatten('a__b', undefined)).toBe(second.flat);
  });
});

describe('the input of a custom tool', () => {
  it.each([
    ['{"input":"a\\u00e9\\ud83d\\ude00\\n\\"\\\\"}', 'aé😀\n"\\'],
    ['{ "input" : "x" }', 'x'],
    ['{"input":"cut of', 'cut of'],
    ['{"why":1,"input":"late"}', 'late'],
    ['{}', ''],
    ['plain text', 'plain text'],
  ])('%s is %j, cut after any character', (text, input) => {
    expect(decodeInput(text)).toBe(input);
    const decoder = buildInputDecoder();
    const pushed = text.split('').map((char) => decoder.push(char));
    expect(pushed.join('') + decoder.end()).toBe(input);
  });
});

describe('the end of a reply', () => {
  const call: AssistantPart = { type: 'tool_call', id: 'a', name: 't', arguments: '{}' };
  const refusal: AssistantPart = { type: 'refusal', text: 'no' };

  it.each([
    [reply('stop'), 'stop', 'end_turn', 'completed'],
    [reply('length'), 'length', 'max_tokens', 'incomplete'],
    [reply('tool_calls', [call]), 'tool_calls', 'tool_use', 'completed'],
    [reply('content_filter'), 'content_filter', 'refusal', 'incomplete'],
    [reply('refusal'), 'content_filter', 'refusal', 'incomplete'],
    [reply('refusal', [refusal]), 'stop', 'refusal', 'completed'],
  ])('%# is told to each client in its own words: %j', (whole, finishReason, stopReason, status) => {
    expect(chat({}).buildFinal(whole, MOMENT)).toMatchObject({ choices: [{ finish_reason: finishReason }] });
    expect(messages({}).buildFinal(whole, MOMENT)).toMatchObject({ stop_reason: stopReason });
    expect(responses({}).buildFinal(whole, MOMENT)).toMatchObject({ status });
  });

  it('names the stop sequence in formats that have a field for it', () => {
    const whole = { ...reply('stop'), stopSequence: 'END' };
    expect(messages({}).buildFinal(whole, MOMENT)).toMatchObject({
      stop_reason: 'stop_sequence',
      stop_sequence: 'END',
    });
  });

  it('counts cached tokens in the input or beside it, as each format does', () => {
    const whole = reply('stop');
    expect(chat({}).buildFinal(whole, MOMENT)['usage']).toMatchObject({
      prompt_tokens: 100,
      total_tokens: 120,
      prompt_tokens_details: { cached_tokens: 60 },
    });
    expect(messages({}).buildFinal(whole, MOMENT)['usage']).toMatchObject({
      input_tokens: 30,
      cache_read_input_tokens: 60,
      cache_creation_input_tokens: 10,
    });
    expect(responses({}).buildFinal(whole, MOMENT)['usage']).toMatchObject({
      input_tokens: 100,
      output_tokens_details: { reasoning_tokens: 5 },
    });
  });
});

describe('a request', () => {
  it('reasons at high where a responses client says nothing, and not at all for none', () => {
    expect(responses({}).request.reasoning).toEqual({ effort: 'high' });
    expect(responses({ reasoning: { effort: 'none' } })).toMatchObject({
      request: { reasoning: { effort: 'none' } },
      reasoning: false,
    });
    expect(chat({}).request.reasoning).toBe(undefined);
  });

  it('says a schema in the way of its format, and means the same', () => {
    const schema = { type: 'object' };
    const wanted = { type: 'json_schema', name: 'n', schema, strict: true };
    expect(
      chat({ response_format: { type: 'json_schema', json_schema: { name: 'n', schema, strict: true } } }).request
        .responseFormat,
    ).toEqual(wanted);
    expect(responses({ text: { format: wanted } }).request.responseFormat).toEqual(wanted);
    expect(
      messages({ output_config: { format: { type: 'json_schema', schema } } }).request.responseFormat,
    ).toMatchObject({ schema });
  });

  it('takes the limit of tokens by either of its names', () => {
    expect(chat({ max_tokens: 5 }).request.maxOutputTokens).toBe(5);
    expect(chat({ max_tokens: 5, max_completion_tokens: 7 }).request.maxOutputTokens).toBe(7);
  });

  it('trusts the bytes of an image, not its declared type', () => {
    const gif = Buffer.from('GIF89a??').toString('base64');
    const { request } = messages({
      messages: [
        { role: 'user', content: [{ type: 'image', source: { type: 'base64', media_type: 'image/png', data: gif } }] },
      ],
    });
    expect(request.messages[0]).toMatchObject({ content: [{ type: 'image', mediaType: 'image/gif' }] });
  });

  it('with a proof that somebody made up loses it', () => {
    const forged = `cap1_${Buffer.from('{"i":3}').toString('base64url')}`;
    for (const signature of [forged, 'cap1_%%%', 'foreign']) {
      const { request } = messages({
        messages: [...said, { role: 'assistant', content: [{ type: 'thinking', thinking: 'hm', signature }] }],
      });
      expect(request.messages[1]).toEqual({ role: 'assistant', content: [{ type: 'reasoning', text: 'hm' }] });
    }
  });
});
