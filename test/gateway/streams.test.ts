import { connect } from 'node:net';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { FORMATS, UPSTREAMS, readFrames, startGateway } from './harness.ts';
import type { TestGateway, TestGatewayOptions } from './harness.ts';

let shared: TestGateway | undefined;
let hasty: TestGateway | undefined;
const own: TestGateway[] = [];

/** One gateway for all tests without special needs. */
async function start(options?: TestGatewayOptions): Promise<TestGateway> {
  if (options !== undefined) {
    const gateway = await startGateway(options);
    own.push(gateway);
    return gateway;
  }
  shared ??= await startGateway();
  shared.upstream.requests.length = 0;
  return shared;
}

afterEach(async () => {
  for (const gateway of own.splice(0)) await gateway.close();
});
afterAll(async () => {
  await shared?.close();
  await hasty?.close();
});

const PATHS = {
  'chat-completions': '/v1/chat/completions',
  messages: '/v1/messages',
  responses: '/v1/responses',
} as const;

function bodyFor(format: (typeof FORMATS)[number], model: string, stream: boolean): object {
  const said = [{ role: 'user', content: 'Hi' }];
  if (format === 'responses') return { model, stream, input: said };
  return { model, stream, messages: said, ...(format === 'messages' ? { max_tokens: 10 } : {}) };
}

/** Polls the condition; the test's own timeout bounds it. */
async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 2));
}

describe.each(FORMATS)('a %s client that goes away', (format) => {
  const post = (to: TestGateway, stream: boolean, signal: AbortSignal) =>
    fetch(to.url + PATHS[format], {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${to.key}` },
      body: JSON.stringify(bodyFor(format, UPSTREAMS[format], stream)),
      signal,
    });

  it.each([
    ['whole', false],
    ['streamed', true],
  ])('before the upstream has begun its %s answer takes the call with it', async (_name, stream) => {
    const to = await start();
    to.upstream.script(() => ({ hang: 'before-headers' }));
    const leave = new AbortController();
    const answer = post(to, stream, leave.signal);
    await until(() => to.upstream.requests.length === 1);
    leave.abort();
    await expect(answer).rejects.toMatchObject({ name: 'AbortError' });
    await to.upstream.requests[0]!.abandoned;
    expect(to.upstream.requests.length).toBe(1);
  });

  it('in the middle of a stream takes the call with it', async () => {
    const to = await start();
    const long = { content: [{ type: 'text' as const, text: 'word '.repeat(100_000) }] };
    to.upstream.script(() => ({ reply: long, chunkBytes: 2000, gapMs: 5 }));
    const leave = new AbortController();
    const response = await post(to, true, leave.signal);
    await response.body!.getReader().read();
    leave.abort();
    await to.upstream.requests[0]!.abandoned;
    expect(to.upstream.requests.length).toBe(1);
  });
});

/** The gateway's possible states when its client leaves, each with a sign of it. */
describe.each([
  ['translated', 'chat/small'],
  ['passed through', 'straight/small'],
])('a client of a call that is %s takes the call with it when it leaves', (_name, model) => {
  const straight = (baseUrl: string) => ({ straight: { format: 'chat-completions', baseUrl, passThrough: true } });
  const send = (to: TestGateway, stream: boolean, signal: AbortSignal) =>
    fetch(`${to.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${to.key}` },
      body: JSON.stringify(bodyFor('chat-completions', model, stream)),
      signal,
    });
  const long = { reply: { content: [{ type: 'text' as const, text: 'word '.repeat(400_000) }] } };

  it.each([
    ['after the head of the answer', true, { events: [], hang: 'after-body' as const }],
    ['in the middle of a whole answer', false, { ...long, chunkBytes: 2000, gapMs: 5 }],
  ])('%s', async (_phase, stream, answer) => {
    const to = await start({ providers: straight });
    to.upstream.script(() => answer);
    const leave = new AbortController();
    const response = send(to, stream, leave.signal).then((begun) => begun.text());
    await until(() => to.upstream.requests.length === 1);
    await to.upstream.requests[0]!.begun;
    // Sent data is read before the response to a later request.
    await to.get('/health');
    leave.abort();
    await expect(response).rejects.toMatchObject({ name: 'AbortError' });
    await to.upstream.requests[0]!.abandoned;
  });

  it('before the next try', async () => {
    const to = await start({ providers: straight, retry: { attempts: 2, baseMs: 1e9, maxMs: 1e9, random: () => 1 } });
    to.upstream.script(() => ({ status: 500 }));
    const leave = new AbortController();
    const response = send(to, true, leave.signal);
    await until(() => to.upstream.requests.length === 1);
    leave.abort();
    await expect(response).rejects.toMatchObject({ name: 'AbortError' });
    const readMetrics = async () => (await to.get('/metrics')).text();
    await expect.poll(readMetrics).toContain('outcome="client_gone"} 1');
    expect(to.upstream.requests.length).toBe(1);
  });

  it('while it reads so slowly that the upstream is held back', async () => {
    const to = await start({ providers: straight });
    to.upstream.script(() => ({ ...long, chunkBytes: 100_000 }));
    const leave = new AbortController();
    const response = await send(to, true, leave.signal);
    await until(() => to.upstream.requests[0]!.unsent() > 100_000);
    leave.abort();
    await response.body!.cancel().catch(() => {});
    await to.upstream.requests[0]!.abandoned;
    expect(to.upstream.requests.length).toBe(1);
  });
});

it('a client that leaves while it sends its request causes no call', async () => {
  const to = await start();
  to.upstream.script(() => ({}));
  const { hostname, port } = new URL(to.url);
  const socket = connect(Number(port), hostname);
  const head = `POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${to.key}\r\n`;
  socket.write(`${head}content-type: application/json\r\ncontent-length: 1000\r\n\r\n{"model":`);
  await new Promise((resolve) => socket.once('connect', resolve));
  socket.destroy();
  expect((await to.post('/v1/chat/completions', bodyFor('chat-completions', 'chat/small', false))).status).toBe(200);
  expect(to.upstream.requests.length).toBe(1);
});

describe.each([
  ['chat-completions', ': keepalive'],
  ['messages', 'event: ping'],
  ['responses', ': keepalive'],
] as const)('a %s stream', (format, mark) => {
  it('is kept alive while the model is silent, and its failure is then told in the stream', async () => {
    const to = await start({ timing: { keepaliveMs: 20 }, retry: { attempts: 1 } });
    to.upstream.script(() => ({ delayMs: 300, status: 500, body: '{"error":{"message":"boom"}}' }));
    const response = await to.post(PATHS[format], bodyFor(format, UPSTREAMS[format], true));
    expect(response.status).toBe(200);
    const text = await response.text();
    expect(text.startsWith(mark)).toBe(true);
    const last = readFrames(text).at(-1);
    expect(last?.data).toContain('The provider failed.');
    expect(text).not.toContain('[DONE]');
    expect(last?.event).toBe(
      { 'chat-completions': undefined, messages: 'error', responses: 'response.failed' }[format],
    );
  });

  it('that breaks in the middle says so in its own way, and is not tried again', async () => {
    const to = await start();
    const reply = { content: [{ type: 'text' as const, text: 'x'.repeat(9000) }] };
    to.upstream.script(() => ({ reply, cutAfterBytes: 5000 }));
    const text = await (await to.post(PATHS[format], bodyFor(format, UPSTREAMS[format], true))).text();
    expect(readFrames(text).at(-1)?.data).toContain('cut off');
    expect(text).not.toContain('[DONE]');
    expect(to.upstream.requests.length).toBe(1);
  });
});

it.each([
  [401, 400, 'upstream_authentication_failed'],
  [400, 400, 'invalid_request'],
  [404, 404, 'model_not_found'],
  [429, 429, 'rate_limit_exceeded'],
  [500, 502, 'upstream_error'],
  [503, 503, 'upstream_unavailable'],
  [529, 503, 'upstream_unavailable'],
  [504, 504, 'upstream_timeout'],
])('an upstream that answers %i is answered by %i %s, without a trace of its key', async (status, answered, code) => {
  const to = (hasty ??= await startGateway({ retry: { attempts: 1 } }));
  to.upstream.script(() => ({
    status,
    headers: { 'retry-after': '7' },
    body: JSON.stringify({ error: { message: `no model, key upstream-secret at ${to.upstream.url}` } }),
  }));
  const response = await to.post('/v1/chat/completions', bodyFor('chat-completions', 'chat/small', true));
  const text = await response.text();
  expect([response.status, JSON.parse(text)]).toMatchObject([answered, { error: { code } }]);
  expect(text).not.toMatch(/upstream-secret|127\.0\.0\.1/);
  // Errors for which another try may help.
  expect(response.headers.get('retry-after')).toBe(answered === 429 || answered >= 500 ? '7' : null);
});

it('a conversation beyond the context window gets the error text that clients act on', async () => {
  const to = await start();
  to.upstream.script(() => ({
    status: 400,
    body: '{"error":{"message":"maximum context length is 10","code":"context_length_exceeded"}}',
  }));
  const chat = await to.post('/v1/chat/completions', bodyFor('chat-completions', 'chat/small', false));
  expect(await chat.json()).toMatchObject({ error: { code: 'context_length_exceeded' } });
  const message = await to.post('/v1/messages', bodyFor('messages', 'chat/small', false));
  expect(await message.json()).toMatchObject({
    error: { type: 'invalid_request_error', message: expect.stringContaining('prompt is too long') },
  });
});

it('a list is tried in order until one answers', async () => {
  const to = await start({ models: { fast: ['chat/a', 'anth/b'] }, retry: { attempts: 1 } });
  to.upstream.script(({ format }) => (format === 'chat-completions' ? { status: 503 } : {}));
  const response = await to.post('/v1/responses', bodyFor('responses', 'fast', false));
  expect(await response.json()).toMatchObject({ status: 'completed', model: 'anth/b' });
});

it('a slow reader holds the upstream back', async () => {
  const to = await start();
  const chunk = { id: 'c', choices: [{ index: 0, delta: { content: 'x'.repeat(1000) }, finish_reason: null }] };
  const events = Array.from({ length: 60_000 }, () => chunk);
  to.upstream.script(() => ({ events }));
  const response = await to.post('/v1/chat/completions', bodyFor('chat-completions', 'chat/small', true));
  const reader = response.body!.getReader();
  await reader.read();
  const [request] = to.upstream.requests;
  let unsent = -1;
  for (let same = 0; same < 25; same = request!.unsent() === unsent ? same + 1 : 0) {
    unsent = request!.unsent();
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  // Sockets on the way buffer a few megabytes; the rest of the sixty waits at its source.
  expect(unsent).toBeGreaterThan(20_000_000);
  await reader.cancel();
  await request!.abandoned;
});

it('a stopping server lets streams end, and cancels those that do not', async () => {
  const to = await start({ timing: { drainMs: 3000 } });
  const reply = { content: [{ type: 'text' as const, text: 'word '.repeat(20) }] };
  to.upstream.script((_request, number) =>
    number === 0
      ? { reply, chunkBytes: 1000, gapMs: 10 }
      : { hang: 'after-body', events: [{ id: 'c', choices: [{ index: 0, delta: { content: 'x' } }] }] },
  );
  const body = bodyFor('chat-completions', 'chat/small', true);
  const ends = await to.post('/v1/chat/completions', body);
  const hangs = await to.post('/v1/chat/completions', body);
  const stopped = to.stop();
  expect(readFrames(await ends.text()).at(-1)?.data).toBe('[DONE]');
  expect(readFrames(await hangs.text()).at(-1)?.data).toContain('shutting down');
  await stopped;
  await expect(to.get('/health')).rejects.toBeInstanceOf(TypeError);
});
