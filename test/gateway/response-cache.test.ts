import { beforeEach, expect, test } from 'vitest';
import { FORMATS, UPSTREAMS, shareGateway } from './harness.ts';

const gateway = shareGateway({
  providers: (url) => ({ straight: { format: 'chat-completions', baseUrl: url, passThrough: true } }),
});
const PATHS = { 'chat-completions': 'chat/completions', messages: 'messages', responses: 'responses' } as const;
const CACHE = { 'x-capstan-cache': '60' };
let said = 0;
beforeEach(() => {
  said += 1;
});

function buildBody(format: (typeof FORMATS)[number], stream: boolean, model: string = UPSTREAMS[format]) {
  const messages = [{ role: 'user', content: `Hello ${said}` }];
  const rest = format === 'responses' ? { input: messages } : { messages };
  return { model, stream, ...rest, ...(format === 'messages' ? { max_tokens: 10 } : {}) };
}

async function ask(path: string, body: unknown, headers: Record<string, string> = CACHE) {
  const response = await gateway.post(path, body, headers);
  return { status: response.status, cache: response.headers.get('x-capstan-cache'), text: await response.text() };
}

const CASES = FORMATS.flatMap((format) => [false, true].map((stream) => [format, stream] as const));

test.each(CASES)('an equal %s request gets the same response without a call, streamed: %s', async (format, stream) => {
  const body = buildBody(format, stream);
  const path = `/v1/${PATHS[format]}`;
  const first = await ask(path, body);
  expect(first).toMatchObject({ status: 200, cache: 'miss' });
  expect(await ask(path, body)).toEqual({ ...first, cache: 'hit' });
  expect(gateway.upstream.requests).toHaveLength(1);
});

test.each([false, true])('a forwarded response is kept too, streamed: %s', async (stream) => {
  const body = buildBody('chat-completions', stream, 'straight/small');
  const first = await ask('/v1/chat/completions', body);
  expect(await ask('/v1/chat/completions', body)).toEqual({ ...first, cache: 'hit' });
});

test('only callers who ask get it, of their own key, for exactly the same request', async () => {
  const body = buildBody('chat-completions', false);
  const path = '/v1/chat/completions';
  await ask(path, body);
  expect((await ask(path, body, {})).cache).toBeNull();
  const other = await gateway.makeKey({});
  expect((await ask(path, body, { ...CACHE, authorization: `Bearer ${other}` })).cache).toBe('miss');
  expect((await ask(path, { ...body, temperature: 0 })).cache).toBe('miss');
  expect(gateway.upstream.requests).toHaveLength(4);
});

test('failures are not kept, before the first frame or after it', async () => {
  const path = '/v1/chat/completions';
  gateway.upstream.script(() => ({ status: 400, body: '{"error":{"message":"no"}}' }));
  const whole = buildBody('chat-completions', false);
  expect((await ask(path, whole)).status).toBe(400);
  gateway.upstream.script(() => ({
    reply: { content: [{ type: 'text', text: 'long '.repeat(100) }] },
    cutAfterBytes: 600,
  }));
  const streamed = buildBody('chat-completions', true);
  expect((await ask(path, streamed)).text).toContain('error');
  gateway.upstream.script(() => ({}));
  expect(await ask(path, whole)).toMatchObject({ status: 200, cache: 'miss' });
  expect(await ask(path, streamed)).toMatchObject({ status: 200, cache: 'miss' });
});

test.each(['0', 'yes', '86401', '1.5'])('x-capstan-cache: %s is refused', async (value) => {
  const answer = await ask('/v1/chat/completions', buildBody('chat-completions', false), { 'x-capstan-cache': value });
  expect(answer.status).toBe(400);
  expect(answer.text).toContain('x-capstan-cache');
});

test.each(CASES)('the id of the provider reaches the client of %s, streamed: %s', async (format, stream) => {
  gateway.upstream.script(() => ({ headers: { 'x-request-id': 'req-of-provider' } }));
  const response = await gateway.post(`/v1/${PATHS[format]}`, buildBody(format, stream));
  expect(response.headers.get('x-upstream-request-id')).toBe('req-of-provider');
  await response.text();
});
