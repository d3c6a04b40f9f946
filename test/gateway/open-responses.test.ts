import { describe, expect, it } from 'vitest';
import { UPSTREAM_FORMATS, UPSTREAMS, WITHOUT_REFUSALS, readFrames, shareGateway } from './harness.ts';
import { ResponseResource, StreamEvent } from './open-responses.ts';
import type { ModelReply } from '../../src/inference/model.ts';

// The cases of the public Open Responses compliance suite, and further requirements of its specification. Omitted,
// because the gateway stores nothing: chains by previous_response_id, compaction, files. The stream has no [DONE]: the
// service that defined the format sends none, and clients read every line as JSON.

const gateway = shareGateway();

const user = (content: unknown) => ({ type: 'message', role: 'user', content });
const weather = {
  type: 'function',
  name: 'get_weather',
  description: 'Get the current weather for a location',
  parameters: { type: 'object', properties: { location: { type: 'string' } }, required: ['location'] },
};
const CALL = {
  type: 'tool_call',
  id: 'call_1',
  name: 'get_weather',
  arguments: '{"location":"San Francisco, CA"}',
} as const;
const PNG = `data:image/png;base64,${Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0]).toString('base64')}`;

const answerWith = (reply: Partial<ModelReply>) => gateway.upstream.script(() => ({ reply }));

async function ask(body: object): Promise<ResponseResource> {
  const response = await gateway.post('/v1/responses', body);
  const text = await response.text();
  expect([response.status, response.headers.get('content-type'), text]).toEqual([
    200,
    'application/json; charset=utf-8',
    expect.any(String),
  ]);
  return ResponseResource.parse(JSON.parse(text));
}

async function stream(body: object): Promise<StreamEvent[]> {
  const response = await gateway.post('/v1/responses', { ...body, stream: true });
  expect(response.headers.get('content-type')).toBe('text/event-stream');
  const frames = readFrames(await response.text());
  const events = frames.map(({ data }) => StreamEvent.parse(JSON.parse(data)));
  expect(frames.map(({ event }) => event)).toEqual(events.map(({ type }) => type));
  expect(events.map(({ sequence_number: number }) => number)).toEqual(events.map((_, index) => index));
  return events;
}

type StreamEvent = ReturnType<typeof StreamEvent.parse>;

/** The last event's response. */
function finalOf(events: StreamEvent[]): ResponseResource {
  const last = events.at(-1);
  if (last === undefined || !('response' in last)) throw new Error('the stream has no end');
  return last.response as ResponseResource;
}

describe.each(UPSTREAM_FORMATS)('the compliance cases of Open Responses over a %s upstream', (format) => {
  const model = UPSTREAMS[format];

  it('basic-response', async () => {
    const answer = await ask({ model, input: [user('Say hello in exactly 3 words.')] });
    expect([answer.status, answer.output.length]).toEqual(['completed', 2]);
    expect(answer.completed_at).toBeGreaterThanOrEqual(answer.created_at);
  });

  it('streaming-response', async () => {
    const events = await stream({ model, input: [user('Count from 1 to 5.')] });
    expect(finalOf(events)).toMatchObject({ status: 'completed', output: [{}, { content: [{ text: 'ok' }] }] });
  });

  it('system-prompt', async () => {
    const pirate = 'You are a pirate. Always respond in pirate speak.';
    const answer = await ask({
      model,
      input: [{ type: 'message', role: 'system', content: pirate }, user('Say hello.')],
    });
    expect(answer.status).toBe('completed');
    const sent = gateway.upstream.requests[0]?.body;
    expect(JSON.stringify(sent)).toContain(pirate);
  });

  it('tool-calling', async () => {
    answerWith({ content: [CALL] });
    const answer = await ask({ model, input: [user("What's the weather like in San Francisco?")], tools: [weather] });
    expect(answer.tools).toEqual([{ ...weather, strict: false }]);
    expect(answer.output.at(-1)).toMatchObject({ type: 'function_call', call_id: 'call_1', name: 'get_weather' });
  });

  it('tool-calling-streaming', async () => {
    answerWith({ content: [CALL] });
    const events = await stream({ model, input: [user('The weather?')], tools: [weather] });
    const types = events.map(({ type }) => type).slice(4);
    expect([...new Set(types)]).toEqual([
      'response.output_item.added',
      'response.function_call_arguments.delta',
      'response.function_call_arguments.done',
      'response.output_item.done',
      'response.completed',
    ]);
    const ends = events.filter(({ type }) => type === 'response.output_item.done').at(-1);
    expect(finalOf(events).output.at(-1)).toEqual((ends as { item?: unknown }).item);
  });

  it('function-call-roundtrip', async () => {
    gateway.upstream.script((_, number) => (number === 0 ? { reply: { content: [CALL] } } : {}));
    const input = [user('The weather?')];
    const choice = { tools: [weather], tool_choice: { type: 'function', name: 'get_weather' } };
    const { output } = await ask({ model, input, ...choice });
    const result = { type: 'function_call_output', call_id: 'call_1', output: '64 degrees and clear' };
    const answer = await ask({ model, input: [...input, ...output, result], tools: [weather] });
    expect(answer.status).toBe('completed');
    expect(JSON.stringify(gateway.upstream.requests[1]?.body)).toContain('64 degrees and clear');
  });

  it('image-input', async () => {
    const content = [
      { type: 'input_text', text: 'What do you see?' },
      { type: 'input_image', image_url: PNG },
    ];
    expect((await ask({ model, input: [user(content)] })).status).toBe('completed');
    expect(JSON.stringify(gateway.upstream.requests[0]?.body)).toContain(PNG.slice(PNG.indexOf(',') + 1));
  });

  it('multi-turn', async () => {
    const input = [
      user('My name is Alice.'),
      { type: 'message', role: 'assistant', content: 'Hello Alice! How can I help?' },
      user('What is my name?'),
    ];
    expect((await ask({ model, input })).status).toBe('completed');
    expect(JSON.stringify(gateway.upstream.requests[0]?.body)).toContain('Hello Alice!');
  });

  it('an answer that is cut off is incomplete, and so is its last item', async () => {
    answerWith({
      content: [
        { type: 'text', text: 'I look.' },
        { ...CALL, arguments: '{"location":"San' },
      ],
      finish: 'length',
    });
    const body = { model, input: 'The weather?', tools: [weather], reasoning: { effort: 'none' } };
    const [whole, events] = [await ask(body), await stream(body)];
    expect(whole).toMatchObject({ status: 'incomplete', completed_at: null });
    expect(whole.incomplete_details).toEqual({ reason: 'max_output_tokens' });
    expect(whole.output.map((each) => each.status)).toEqual(['completed', 'incomplete']);
    expect(events.at(-1)?.type).toBe('response.incomplete');
    expect(finalOf(events).output.map((each) => each.status)).toEqual(['completed', 'incomplete']);
    const ends = events.filter(({ type }) => type === 'response.output_item.done');
    expect(ends).toMatchObject([{ item: { status: 'completed' } }, { item: { status: 'incomplete' } }]);
  });

  // In some formats a refusal ends a text; it has no part of its own.
  it('a refusal is a part of the message', async () => {
    answerWith({ content: [{ type: 'refusal', text: 'No.' }], finish: 'refusal' });
    const events = await stream({ model, input: 'Hi' });
    const part = WITHOUT_REFUSALS.includes(format)
      ? { type: 'output_text', text: 'No.' }
      : { type: 'refusal', refusal: 'No.' };
    expect(finalOf(events).output.at(-1)).toMatchObject({ content: [part] });
  });

  it('a choice among the tools offers only those, and is repeated in the response', async () => {
    const other = { type: 'function', name: 'send_email', parameters: null };
    const body = {
      model,
      input: 'Hi',
      tools: [weather, other],
      tool_choice: { type: 'allowed_tools', tools: [{ type: 'function', name: 'get_weather' }] },
      text: { format: { type: 'json_schema', name: 'reply', schema: { type: 'object' } }, verbosity: 'low' },
    };
    expect((await ask(body)).tool_choice).toEqual({ ...body.tool_choice, mode: 'auto' });
    const sent = JSON.stringify(gateway.upstream.requests[0]?.body);
    expect([sent.includes('get_weather'), sent.includes('send_email')]).toEqual([true, false]);
  });

  it('a failure on the way ends with response.failed', async () => {
    gateway.upstream.script(() => ({
      reply: { content: [{ type: 'text', text: 'One two three' }] },
      cutAfterBytes: 0,
    }));
    const before = await gateway.post('/v1/responses', { model, input: 'Hi', stream: true });
    expect(before.status).toBe(502);
    gateway.upstream.script(() => ({
      reply: { content: [{ type: 'text', text: 'word '.repeat(200) }] },
      chunkBytes: 400,
      cutAfterBytes: 2000,
    }));
    const events = await stream({ model, input: 'Hi' });
    expect(finalOf(events)).toMatchObject({ status: 'failed', completed_at: null, error: { code: 'server_error' } });
  });
});

describe('a request of Open Responses', () => {
  it.each([
    ['previous_response_id', 'resp_1'],
    ['background', true],
    ['store', true],
    ['max_tool_calls', 1],
    ['presence_penalty', 0.5],
    ['top_logprobs', 3],
  ])('with %s is refused by its name, in the shape of its errors', async (name, value) => {
    const response = await gateway.post('/v1/responses', { model: 'chat/small', input: 'Hi', [name]: value });
    const { error } = (await response.json()) as { error: Record<string, unknown> };
    expect([response.status, error['param'], error['type']]).toEqual([400, name, 'invalid_request_error']);
    expect(error['message']).not.toContain('is not a field');
  });

  it('may state the default explicitly', async () => {
    const idle = { presence_penalty: 0, frequency_penalty: 0, top_logprobs: 0, background: false, store: false };
    expect((await ask({ model: 'chat/small', input: 'Hi', ...idle, previous_response_id: null })).status).toBe(
      'completed',
    );
  });

  it('may be a text or a list, and the error says so', async () => {
    const response = await gateway.post('/v1/responses', { model: 'chat/small', input: { role: 'user' } });
    expect(await response.json()).toMatchObject({ error: { message: 'input: must be a string or an array' } });
  });
});
