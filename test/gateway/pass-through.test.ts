import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { readFrames, startGateway } from './harness.ts';
import type { TestGateway } from './harness.ts';

let gateway: TestGateway;

beforeAll(async () => {
  gateway = await startGateway({
    providers: (baseUrl) => ({
      straight: { format: 'chat-completions', baseUrl, apiKey: 'k', passThrough: true },
      direct: { format: 'messages', baseUrl, apiKey: 'k', passThrough: true },
    }),
    models: { mixed: ['straight/a', 'anth/b'] },
    retry: { attempts: 1 },
  });
});
afterAll(() => gateway.close());
beforeEach(() => {
  gateway.upstream.requests.length = 0;
});

const said = [{ role: 'user', content: 'Hi' }];
const chunk = (delta: object, rest: object = {}) => ({ id: 'up-1', x_own: 7, choices: [{ index: 0, delta, ...rest }] });
const events = [
  chunk({ role: 'assistant', content: '' }),
  chunk({ content: 'Hé' }, { logprobs: { content: [] } }),
  chunk({}, { finish_reason: 'stop' }),
  { id: 'up-1', choices: [], usage: { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 } },
];

it('a stream goes through as it came, but for the count that the client did not ask for', async () => {
  gateway.upstream.script(() => ({ events: [...events, { data: '[DONE]' }], chunkBytes: 5 }));
  const body = {
    model: 'straight/a',
    messages: said,
    stream: true,
    seed: 3,
    reasoning: { effort: 'low' },
    cache_ttl: '1h',
  };
  const plain = readFrames(await (await gateway.post('/v1/chat/completions', body)).text());
  expect(plain.map(({ data }) => data)).toEqual([...events.slice(0, 3).map((each) => JSON.stringify(each)), '[DONE]']);
  const sent = gateway.upstream.requests[0]?.body;
  expect(sent).toMatchObject({ model: 'a', seed: 3, reasoning_effort: 'low', stream_options: { include_usage: true } });
  expect(sent).not.toHaveProperty('cache_ttl');
  expect(sent).not.toHaveProperty('reasoning');
  const counted = await gateway.post('/v1/chat/completions', { ...body, stream_options: { include_usage: true } });
  expect(readFrames(await counted.text()).at(-2)?.data).toBe(JSON.stringify(events[3]));
});

it('a whole answer goes through byte for byte, and is counted', async () => {
  const text =
    '{ "id":"up-2",  "choices":[{"index":0,"message":{"role":"assistant","content":"Hi"},"finish_reason":"stop"}], "usage":{"prompt_tokens":41,"completion_tokens":1} }';
  gateway.upstream.script(() => ({ body: text }));
  const response = await gateway.post('/v1/chat/completions', { model: 'straight/whole', messages: said });
  expect(await response.text()).toBe(text);
  await expect
    .poll(async () => await (await gateway.get('/v1/usage?groupBy=model')).json())
    .toMatchObject({
      data: expect.arrayContaining([expect.objectContaining({ model: 'straight/whole', inputTokens: 41 })]),
    });
});

it('a message goes through with all that its format can say', async () => {
  gateway.upstream.script(() => ({ reply: { content: [{ type: 'text', text: 'ok' }] } }));
  const system = [{ type: 'text', text: 'x', cache_control: { type: 'ephemeral' } }];
  const body = {
    model: 'direct/m',
    max_tokens: 5,
    messages: said,
    system,
    context_management: { edits: [] },
    stream: true,
  };
  const response = await gateway.post('/v1/messages', body, { 'anthropic-beta': 'a,b' });
  expect(
    readFrames(await response.text())
      .map(({ event }) => event)
      .at(-1),
  ).toBe('message_stop');
  const [request] = gateway.upstream.requests;
  expect(request?.body).toEqual({ ...body, model: 'm' });
  expect(request?.headers).toMatchObject({
    'anthropic-beta': 'a,b',
    'anthropic-version': '2023-06-01',
    'x-api-key': 'k',
  });
});

it('a stream that breaks off or reports an error ends with an error, never as complete', async () => {
  const body = { model: 'straight/a', messages: said, stream: true };
  gateway.upstream.script(() => ({ events: events.slice(0, 2) }));
  expect(readFrames(await (await gateway.post('/v1/chat/completions', body)).text()).at(-1)?.data).toContain('cut off');
  gateway.upstream.script(() => ({
    events: [...events.slice(0, 2), { error: { message: 'upstream-secret', code: 500 } }],
  }));
  const text = await (await gateway.post('/v1/chat/completions', body)).text();
  expect(readFrames(text).at(-1)?.data).toContain('upstream_error');
  expect(text).not.toMatch(/upstream-secret|DONE/);
});

it('another upstream is asked while nothing has come, in its own format', async () => {
  gateway.upstream.script(({ format }) => (format === 'chat-completions' ? { status: 500 } : {}));
  const response = await gateway.post('/v1/chat/completions', { model: 'mixed', messages: said });
  expect(await response.json()).toMatchObject({ model: 'anth/b' });
});

it('several choices come from upstreams of the same format, and from no other', async () => {
  const choice = (index: number) => ({
    index,
    message: { role: 'assistant', content: `c${index}` },
    finish_reason: 'stop',
  });
  gateway.upstream.script(() => ({ body: JSON.stringify({ id: 'x', choices: [choice(0), choice(1)] }) }));
  const ask = async (model: string) => {
    const response = await gateway.post('/v1/chat/completions', { model, messages: said, n: 2 });
    return [response.status, await response.json()];
  };
  expect(await ask('chat/small')).toMatchObject([200, { choices: [{ index: 0 }, { index: 1 }] }]);
  expect(gateway.upstream.requests[0]?.body).toMatchObject({ n: 2 });
  for (const model of ['anth/small', 'resp/small', 'script/demo', 'mixed']) {
    expect(await ask(model)).toMatchObject([400, { error: { code: 'unsupported_field', param: 'n' } }]);
  }
});

it('a thread goes to its provider unchanged', async () => {
  gateway.upstream.script(() => ({}));
  const thread = { type: 'continue', previous_message_id: 'msg_1' };
  const messages = [{ role: 'user', content: [{ type: 'tool_result', tool_use_id: 'call_1', content: 'sun' }] }];
  const response = await gateway.post('/v1/messages', { model: 'direct/a', max_tokens: 9, messages, thread });
  expect(response.status).toBe(200);
  expect(gateway.upstream.requests[0]?.body).toMatchObject({ thread, messages });
});
