import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { FORMATS, UPSTREAMS, readFrames, startGateway } from './harness.ts';
import type { TestGateway } from './harness.ts';

let gateway: TestGateway;

beforeAll(async () => {
  gateway = await startGateway({
    providers: (baseUrl) => ({
      original: { format: 'messages', baseUrl, apiKey: 'upstream-secret', passThrough: true },
    }),
    retry: { attempts: 1 },
  });
});
afterAll(() => gateway.close());
beforeEach(() => {
  gateway.upstream.requests.length = 0;
  gateway.upstream.script(() => ({}));
});

const said = [{ role: 'user', content: 'Hi' }];
const sent = () => gateway.upstream.requests.at(-1)?.body ?? {};
const chat = (body: object) => gateway.post('/v1/chat/completions', { messages: said, ...body });
const message = (body: object) => gateway.post('/v1/messages', { max_tokens: 90, messages: said, ...body });

describe('sampling fields of a chat client', () => {
  const sampling = { seed: -7, frequency_penalty: 0.5, presence_penalty: -1, logit_bias: { 50256: -100 } };

  it('reaches an upstream of its format', async () => {
    expect((await chat({ model: 'chat/small', ...sampling })).status).toBe(200);
    expect(sent()).toMatchObject(sampling);
  });

  it.each(['anth/small', 'resp/small'])('is left out where the format has none of it (%s)', async (model) => {
    expect((await chat({ model, ...sampling })).status).toBe(200);
    for (const name of Object.keys(sampling)) expect(sent()).not.toHaveProperty(name);
  });

  it.each([
    ['seed', 1.5],
    ['frequency_penalty', 3],
    ['presence_penalty', '1'],
    ['logit_bias', []],
    ['logprobs', 'yes'],
  ])('is refused by its name where it is wrong: %s', async (name, value) => {
    const response = await chat({ model: 'chat/small', [name]: value });
    expect([response.status, await response.json()]).toMatchObject([400, { error: { param: name } }]);
  });
});

describe('probabilities of tokens', () => {
  const logprobs = { content: [{ token: 'ok', logprob: -0.1, bytes: [111], top_logprobs: [] }] };

  it('come from an upstream of the same format, streamed and whole', async () => {
    const body = (choice: object) =>
      JSON.stringify({ id: 'c', object: 'chat.completion', created: 1, model: 'small', choices: [choice] });
    const end = { index: 0, finish_reason: 'stop', logprobs };
    gateway.upstream.script(({ body: { stream } }) => ({
      body:
        stream === true
          ? `data: ${body({ ...end, delta: { content: 'ok' } })}\n\ndata: [DONE]\n\n`
          : body({ ...end, message: { role: 'assistant', content: 'ok' } }),
    }));
    const ask = { model: 'chat/small', logprobs: true, top_logprobs: 2 };
    expect(await (await chat(ask)).json()).toMatchObject({ choices: [{ logprobs }] });
    expect(sent()).toMatchObject({ logprobs: true, top_logprobs: 2 });
    const frames = readFrames(await (await chat({ ...ask, stream: true })).text());
    expect(JSON.parse(frames[0]?.data ?? '')).toMatchObject({ choices: [{ logprobs }] });
  });

  it.each(['anth/small', 'resp/small'])('are not passed over in silence elsewhere (%s)', async (model) => {
    const response = await chat({ model, logprobs: true });
    expect([response.status, await response.json()]).toMatchObject([
      400,
      { error: { code: 'unsupported_field', param: 'logprobs' } },
    ]);
  });
});

it('top_k of a messages client reaches an upstream of its format, and no other', async () => {
  await message({ model: 'anth/small', top_k: 5 });
  expect(sent()).toMatchObject({ top_k: 5 });
  await message({ model: 'chat/small', top_k: 5 });
  expect(sent()).not.toHaveProperty('top_k');
});

describe('a tool that failed', () => {
  const history = [
    { role: 'user', content: 'Hi' },
    { role: 'assistant', content: [{ type: 'tool_use', id: 'toolu_1', name: 'f', input: {} }] },
    {
      role: 'user',
      content: [{ type: 'tool_result', tool_use_id: 'toolu_1', is_error: true, content: 'no such file' }],
    },
  ];
  const call = { id: 'toolu_1', type: 'function', function: { name: 'f', arguments: '{}' } };
  const results = {
    'chat-completions': '"content":"Error: no such file"',
    messages: '"is_error":true',
    responses: '"output":"Error: no such file"',
  };

  it.each(FORMATS)('is reported in the format of the upstream: %s', async (format) => {
    await message({ model: UPSTREAMS[format], messages: history });
    expect(JSON.stringify(sent())).toContain(results[format]);
  });

  it('is reported by a worker behind the gateway, too', async () => {
    const messages = [
      said[0],
      { role: 'assistant', content: null, tool_calls: [call] },
      { role: 'tool', tool_call_id: 'toolu_1', content: 'no such file', is_error: true },
    ];
    await chat({ model: 'anth/small', messages });
    expect(JSON.stringify(sent())).toContain('"is_error":true');
  });
});

describe('a stop sequence', () => {
  it.each(FORMATS)('ends a text over a %s upstream, streamed and whole', async (format) => {
    const model = UPSTREAMS[format];
    // Upstreams with stop sequences end on their own.
    const text = format === 'responses' ? 'Thought: 7\nObservation: 8' : 'Thought: 7\n';
    gateway.upstream.script(() => ({ reply: { content: [{ type: 'text', text }] }, chunkBytes: 11 }));
    const ask = { model, stop: ['\nObs', 'END'], stream: false };
    const whole = (await (await chat(ask)).json()) as { choices: [{ message: { content: string } }] };
    expect(whole.choices[0]).toMatchObject({ finish_reason: 'stop' });
    expect(whole.choices[0].message.content.trimEnd()).toBe('Thought: 7');
    const streamed = await (await chat({ ...ask, stream: true })).text();
    const pieces = [...streamed.matchAll(/"content":"([^"]*)"/g)].map((match) => match[1]).join('');
    expect(pieces.replaceAll('\\n', '').trimEnd()).toBe('Thought: 7');
  });

  it('that ended a text is named to a messages client, whose provider has none', async () => {
    gateway.upstream.script(() => ({ reply: { content: [{ type: 'text', text: 'one END two' }] } }));
    const response = await message({ model: 'resp/small', stop_sequences: ['END'] });
    expect(await response.json()).toMatchObject({
      content: [{ type: 'text', text: 'one ' }],
      stop_reason: 'stop_sequence',
      stop_sequence: 'END',
    });
  });
});

it('the start of a message has the provider’s count so far', async () => {
  const usage = { input: 20, output: 4, cacheRead: 5, cacheWrite: 2, reasoning: 0 };
  gateway.upstream.script(() => ({ reply: { content: [{ type: 'text', text: 'ok' }], usage } }));
  const [first] = readFrames(await (await message({ model: 'anth/small', stream: true })).text());
  expect(JSON.parse(first?.data ?? '')).toMatchObject({
    message: { usage: { input_tokens: 13, cache_read_input_tokens: 5, cache_creation_input_tokens: 2 } },
  });
});

describe('tools that run at a messages provider', () => {
  const search = { type: 'web_search_20250305', name: 'web_search', max_uses: 3 };
  const document = { type: 'document', source: { type: 'file', file_id: 'file_1' } };
  const searched = [
    { role: 'user', content: 'Hi' },
    {
      role: 'assistant',
      content: [
        { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: { query: 'x' } },
        { type: 'web_search_tool_result', tool_use_id: 'srvtoolu_1', content: [] },
        { type: 'text', text: 'Found.' },
      ],
    },
    { role: 'user', content: 'More' },
  ];
  const bodies = [
    ['a tool', { tools: [search], tool_choice: { type: 'tool', name: 'web_search' } }, 'tools.0.type'],
    ['what a tool gave', { messages: searched }, 'messages.1.content.0.type'],
    ['a document', { messages: [{ role: 'user', content: [document] }] }, 'messages.0.content.0.source.type'],
  ] as const;

  it.each(bodies)('goes there as it came: %s', async (_what, body) => {
    const response = await message({ model: 'original/small', ...body });
    expect([response.status, await response.json()]).toMatchObject([200, { content: [{ text: 'ok' }] }]);
    expect(sent()).toMatchObject(body);
  });

  it.each(bodies)('is refused by its name elsewhere: %s', async (_what, body, path) => {
    for (const model of ['anth/small', 'chat/small']) {
      const response = await message({ model, ...body });
      const { error } = (await response.json()) as { error: { type: string; message: string } };
      expect([response.status, error.type]).toEqual([400, 'invalid_request_error']);
      expect(error.message).toContain(path);
    }
    expect(gateway.upstream.requests).toEqual([]);
  });

  it('is not in a count, which then is an estimate', async () => {
    const body = { model: 'original/small', messages: said, tools: [search] };
    const response = await gateway.post('/v1/messages/count_tokens', body);
    expect([response.status, response.headers.get('x-token-count')]).toEqual([200, 'estimate']);
  });
});

describe('a path of the gateway', () => {
  it.each(['OPTIONS', 'HEAD', 'GET', 'PUT'])('lists its methods in response to %s', async (method) => {
    const response = await fetch(`${gateway.url}/v1/chat/completions`, { method });
    expect([response.status, response.headers.get('allow')]).toEqual([405, 'POST']);
    expect(await response.text()).toContain(method === 'HEAD' ? '' : '"code":"method_not_allowed"');
  });
});

it.each([
  ['/v1/chat/completions', { type: 'function', function: { name: 'a' } }, 'tools[1].function.name'],
  ['/v1/messages', { name: 'a', input_schema: {} }, 'tools.1.name'],
  ['/v1/responses', { type: 'function', name: 'a' }, 'tools[1].name'],
])('a tool that is declared twice is named where it stands: %s', async (path, tool, at) => {
  const body = { model: 'chat/small', max_tokens: 9, messages: said, tools: [tool, tool] };
  const { messages, max_tokens: _limit, ...rest } = body;
  const response = await gateway.post(path, path === '/v1/responses' ? { ...rest, input: messages } : body);
  expect(response.status).toBe(400);
  expect(await response.text()).toContain(`${at}: a is declared twice`);
});
