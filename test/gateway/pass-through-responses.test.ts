import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { readFrames, startGateway } from './harness.ts';
import type { TestGateway } from './harness.ts';

let gateway: TestGateway;

beforeAll(async () => {
  gateway = await startGateway({
    providers: (baseUrl) => ({
      straight: { format: 'responses', baseUrl, apiKey: 'k', passThrough: true },
    }),
    retry: { attempts: 1 },
  });
});
afterAll(() => gateway.close());
beforeEach(() => {
  gateway.upstream.requests.length = 0;
});

const text = {
  type: 'output_text',
  text: 'Hé',
  annotations: [{ type: 'url_citation', url: 'https://x.example' }],
  logprobs: [],
};
const message = { id: 'msg_up', type: 'message', status: 'completed', role: 'assistant', content: [text] };
const resource = (status: string, output: unknown[]) => ({
  id: 'resp_up',
  object: 'response',
  status,
  model: 'gpt-9',
  x_own: 1.5,
  output,
  usage: status === 'completed' ? { input_tokens: 33, output_tokens: 4, total_tokens: 37 } : null,
});
const place = { item_id: 'msg_up', output_index: 0 };
const events = [
  { type: 'response.created', response: resource('in_progress', []) },
  { type: 'response.in_progress', response: resource('in_progress', []) },
  { type: 'response.output_item.added', output_index: 0, item: { ...message, status: 'in_progress', content: [] } },
  { type: 'response.content_part.added', ...place, content_index: 0, part: { ...text, text: '' } },
  { type: 'response.output_text.delta', ...place, content_index: 0, delta: 'Hé', obfuscation: 'abc' },
  { type: 'response.output_text.done', ...place, content_index: 0, text: 'Hé' },
  { type: 'response.output_item.done', output_index: 0, item: message },
  { type: 'response.completed', response: resource('completed', [message]) },
].map((data, index) => ({ event: data.type, data: JSON.stringify({ ...data, sequence_number: index + 5 }) }));

const body = { model: 'straight/gpt-9', input: 'Hi', stream: true };
const post = (more: object = {}) => gateway.post('/v1/responses', { ...body, ...more });

describe('a call of the responses format to a provider of the same', () => {
  it('goes through as it came, event by event; only its end gets the joined text', async () => {
    gateway.upstream.script(() => ({ events, chunkBytes: 7 }));
    const frames = readFrames(await (await post()).text());
    expect(frames.slice(0, -1)).toEqual(events.slice(0, -1));
    const end = JSON.parse(events.at(-1)!.data) as { response: object };
    expect(JSON.parse(frames.at(-1)!.data)).toEqual({ ...end, response: { ...end.response, output_text: 'Hé' } });
  });

  it('forwards the client’s fields with store: false, without fields that have no effect', async () => {
    gateway.upstream.script(() => ({ events }));
    const format = { type: 'json_schema', name: 'n', schema: { type: 'object' }, strict: true };
    const asked = {
      input: [{ role: 'user', content: [{ type: 'input_text', text: 'Hi' }] }],
      tools: [{ type: 'function', name: 'f', parameters: { type: 'object' }, x_hint: 1 }],
      include: ['reasoning.encrypted_content'],
      text: { format, verbosity: 'low' },
      prompt_cache_key: 'c',
      metadata: { a: 'b' },
    };
    const idle = { client_metadata: { a: 'b' }, service_tier: 'priority', stream_options: {}, cache_ttl: '1h' };
    await (await post({ ...asked, ...idle })).text();
    const high = { store: false, reasoning: { effort: 'high' } };
    expect(gateway.upstream.requests[0]?.body).toEqual({ ...body, model: 'gpt-9', ...asked, ...high });
    await (await post({ reasoning: { effort: 'low', summary: 'auto' }, store: false })).text();
    expect(gateway.upstream.requests[1]?.body).toMatchObject({ reasoning: { effort: 'low', summary: 'auto' } });
    await (await post({ model: 'straight/gpt-4o' })).text();
    expect(gateway.upstream.requests[2]?.body).not.toHaveProperty('reasoning');
  });

  it('is refused before it goes anywhere when the format says so', async () => {
    expect((await post({ previous_response_id: 'resp_1' })).status).toBe(400);
    expect((await post({ tools: [{ type: 'web_search' }] })).status).toBe(400);
    expect(gateway.upstream.requests).toEqual([]);
  });

  it('is answered whole where no stream is wanted, and counted', async () => {
    gateway.upstream.script(() => ({ body: JSON.stringify(resource('completed', [message])) }));
    const whole = await (await post({ stream: false, model: 'straight/gpt-whole' })).json();
    expect(whole).toEqual({ ...resource('completed', [message]), output_text: 'Hé' });
    await expect
      .poll(async () => await (await gateway.get('/v1/usage?groupBy=model')).json())
      .toMatchObject({
        data: expect.arrayContaining([expect.objectContaining({ model: 'straight/gpt-whole', inputTokens: 33 })]),
      });
  });

  it('ends with a failure and a continued sequence if the provider breaks off or reports an error', async () => {
    const broken = [
      events.slice(0, 5),
      [...events.slice(0, 5), { event: 'error', data: JSON.stringify({ type: 'error', message: 'upstream-secret' }) }],
    ];
    for (const each of broken) {
      gateway.upstream.script(() => ({ events: each }));
      const answer = await (await post()).text();
      const frames = readFrames(answer);
      expect(frames.slice(0, -1)).toEqual(events.slice(0, 5));
      expect(frames.at(-1)?.event).toBe('response.failed');
      expect(JSON.parse(frames.at(-1)!.data)).toMatchObject({
        sequence_number: 10,
        response: { id: 'resp_up', status: 'failed', error: { code: 'server_error' } },
      });
      expect(answer).not.toContain('upstream-secret');
    }
  });
});

describe('requests that the gateway must change are translated', () => {
  const call = { type: 'function_call', call_id: 'c1', name: 'f', arguments: '{}' };
  const result = { type: 'function_call_output', call_id: 'c1', output: 'x' };
  it.each([
    ['custom tools', { tools: [{ type: 'custom', name: 'patch' }] }],
    ['namespace tools', { tools: [{ type: 'namespace', name: 'n', tools: [{ type: 'function', name: 'f' }] }] }],
    ['a call of a namespace', { input: [{ role: 'user', content: 'Hi' }, { ...call, namespace: 'n' }, result] }],
    [
      'reasoning without a proof',
      {
        input: [
          { type: 'reasoning', summary: [] },
          { role: 'user', content: 'Hi' },
        ],
      },
    ],
    [
      'a proof of the gateway',
      {
        input: [
          { type: 'reasoning', summary: [], encrypted_content: 'cap1_e30' },
          { role: 'user', content: 'Hi' },
        ],
      },
    ],
  ])('%s', async (_name, more) => {
    gateway.upstream.script(() => ({}));
    const frames = readFrames(await (await post(more)).text());
    expect(JSON.parse(frames.at(-1)!.data)).toMatchObject({
      response: { model: 'straight/gpt-9', status: 'completed' },
    });
    const { tools = [], input } = gateway.upstream.requests[0]!.body as { tools?: { type: string }[]; input: object[] };
    expect(tools.every(({ type }) => type === 'function')).toBe(true);
    expect(JSON.stringify(input)).not.toMatch(/namespace|reasoning/);
  });

  it('but a proof of the provider itself goes back to it', async () => {
    gateway.upstream.script(() => ({ events }));
    const input = [
      { role: 'user', content: 'Hi' },
      { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'theirs' },
      message,
      { role: 'user', content: 'And?' },
    ];
    await (await post({ input })).text();
    expect(gateway.upstream.requests[0]?.body?.['input']).toEqual(input);
  });
});
