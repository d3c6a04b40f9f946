import { once } from 'node:events';
import { createServer } from 'node:http';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import OpenAI, { toFile } from 'openai';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { startGateway } from '../harness.ts';
import type { TestGateway } from '../harness.ts';

type Seen = { path: string; type: string; body: string };

let provider: Server;
let gateway: TestGateway;
let client: OpenAI;
const seen: Seen[] = [];

const ANSWERS: Record<string, { type: string; body: string }> = {
  '/v1/embeddings': {
    type: 'application/json',
    body: JSON.stringify({
      object: 'list',
      data: [{ object: 'embedding', index: 0, embedding: [0.5, 0.25] }],
      model: 'e',
      usage: { prompt_tokens: 7, total_tokens: 7 },
    }),
  },
  '/v1/audio/speech': { type: 'audio/mpeg', body: 'ID3audio' },
  '/v1/audio/transcriptions': { type: 'application/json', body: '{"text":"heard"}' },
  '/v1/moderations': { type: 'application/json', body: '{"results":' },
  '/v1/completions': { type: 'text/html', body: '<html><script>alert(1)</script></html>' },
  '/v1/rerank': { type: 'application/json', body: '{"results":[{"index":0,"relevance_score":0.9}]}' },
};

beforeAll(async () => {
  provider = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
    const path = request.url ?? '';
    seen.push({
      path,
      type: request.headers['content-type'] ?? '',
      body: Buffer.concat(chunks).toString('latin1'),
    });
    const answer = ANSWERS[path];
    response.writeHead(answer === undefined ? 404 : 200, {
      'content-type': answer?.type ?? 'application/json',
      'x-request-id': 'up_1',
    });
    response.end(answer?.body ?? '{"error":{"message":"no such route"}}');
  });
  provider.listen(0, '127.0.0.1');
  await once(provider, 'listening');
  const baseUrl = `http://127.0.0.1:${(provider.address() as AddressInfo).port}/v1`;
  gateway = await startGateway({
    providers: () => ({
      media: { format: 'chat-completions', baseUrl, apiKey: 'provider-key', extraBody: { tag: 'x' } },
    }),
    models: { search: ['media/embed-small'] },
  });
  client = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: gateway.key, maxRetries: 0 });
});
afterAll(async () => {
  await gateway.close();
  provider.closeAllConnections();
  provider.close();
});
beforeEach(() => {
  seen.length = 0;
});

it('embeddings go to the provider, under its own name of the model, and are metered', async () => {
  const { data } = await client.embeddings.create({ model: 'search', input: 'Hello', encoding_format: 'float' });
  expect(data[0]?.embedding).toEqual([0.5, 0.25]);
  expect(JSON.parse(seen[0]?.body ?? '')).toMatchObject({ model: 'embed-small', input: 'Hello', tag: 'x' });
  await expect
    .poll(async () => ((await (await gateway.get('/v1/usage?groupBy=model')).json()) as { data: object[] }).data)
    .toContainEqual(expect.objectContaining({ model: 'media/embed-small', inputTokens: 7, requests: 1 }));
});

it('audio passes in both directions, and forms name the model of the provider', async () => {
  const speech = await client.audio.speech.create({ model: 'media/tts', input: 'Hi', voice: 'alloy' });
  expect(speech.headers.get('content-type')).toBe('audio/mpeg');
  expect(speech.headers.get('x-upstream-request-id')).toBe('up_1');
  expect(await speech.text()).toBe('ID3audio');
  const file = await toFile(Buffer.from('RIFF1234'), 'a.wav', { type: 'audio/wav' });
  expect((await client.audio.transcriptions.create({ model: 'media/hear', file })).text).toBe('heard');
  expect(seen[1]?.type).toMatch(/^multipart\/form-data/);
  expect(seen[1]?.body).toContain('RIFF1234');
  expect(seen[1]?.body).toMatch(/name="model"\r\n\r\nhear\r\n/);
  expect(seen[1]?.body).not.toContain('media/hear');
});

it('rerank goes to the provider', async () => {
  const response = await gateway.post('/v1/rerank', { model: 'media/rank', query: 'q', documents: ['d'] });
  expect(await response.json()).toEqual({ results: [{ index: 0, relevance_score: 0.9 }] });
});

it('errors have the shape of the SDK, and name the problem', async () => {
  const codeOf = (call: Promise<unknown>) =>
    call.then(
      () => 'none',
      (error: InstanceType<typeof OpenAI.APIError>) => `${error.status} ${error.code}`,
    );
  expect(await codeOf(client.embeddings.create({ model: 'nobody/x', input: 'a' }))).toBe('404 model_not_found');
  expect(await codeOf(client.embeddings.create({ model: 'anth/small', input: 'a' }))).toBe('400 invalid_request');
  expect(await codeOf(client.embeddings.create({ model: 'search', input: '' }))).toBe('400 invalid_request');
  expect(await codeOf(client.images.generate({ model: 'media/none', prompt: 'a' }))).toBe('400 invalid_request');
  const wrong = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: 'cap_wrong', maxRetries: 0 });
  expect(await codeOf(wrong.embeddings.create({ model: 'script/embedding', input: 'a' }))).toBe('401 invalid_api_key');
  expect(await codeOf(client.audio.transcriptions.create({ model: 'script/x', file: new File([], 'a') }))).toBe(
    '400 invalid_request',
  );
});

it('script models answer each of them without a key', async () => {
  const near = async (input: string) =>
    (await client.embeddings.create({ model: 'script/embedding', input })).data[0]?.embedding;
  const [cat, kitten, other] = [await near('the black cat'), await near('a black cat'), await near('tax form')];
  const product = (a: number[] = [], b: number[] = []) =>
    a.reduce((sum, value, index) => sum + value * (b[index] ?? 0), 0);
  expect(cat).toHaveLength(256);
  expect(product(cat, kitten)).toBeGreaterThan(product(cat, other));
  const image = await client.images.generate({ model: 'script/image', prompt: 'sea', size: '256x256' });
  const png = Buffer.from(image.data?.[0]?.b64_json ?? '', 'base64');
  expect([png.subarray(1, 4).toString(), png.readUInt32BE(16)]).toEqual(['PNG', 256]);
  const edit = await client.images.edit({ model: 'script/image', prompt: 'sea', image: await toFile(png, 'a.png') });
  expect(edit.data).toHaveLength(1);
  const wav = await client.audio.speech.create({
    model: 'script/speech',
    input: 'one two',
    voice: 'alloy',
    response_format: 'wav',
  });
  expect(
    Buffer.from(await wav.arrayBuffer())
      .subarray(0, 4)
      .toString(),
  ).toBe('RIFF');
  const heard = { model: 'script/hear', file: await toFile(Buffer.from('abc'), 'a.mp3') };
  expect((await client.audio.transcriptions.create(heard)).text).toContain('a.mp3');
  expect((await client.audio.translations.create(heard)).text).toContain('3 bytes');
  const { results } = await client.moderations.create({ input: ['I will kill him', 'a cake'] });
  expect(results.map(({ flagged }) => flagged)).toEqual([true, false]);
  const ranked = await gateway.post('/v1/rerank', {
    model: 'script/rerank',
    query: 'cats',
    documents: ['dogs', 'about cats'],
    top_n: 1,
  });
  expect(await ranked.json()).toMatchObject({ results: [{ index: 1 }] });
  const completion = await client.completions.create({ model: 'script/demo', prompt: 'Hi' });
  expect(completion.choices[0]?.text).toBe('You said: Hi');
  let text = '';
  for await (const chunk of await client.completions.create({ model: 'script/demo', prompt: 'Hi', stream: true })) {
    text += chunk.choices[0]?.text ?? '';
  }
  expect(text).toBe('You said: Hi');
});

it('rate limits are sent under the header names of the SDKs', async () => {
  const key = await gateway.makeKey({ requestsPerMinute: 1 });
  const ask = () => gateway.post('/v1/moderations', { input: 'a' }, { authorization: `Bearer ${key}` });
  const first = (await ask()).headers;
  expect(first.get('x-ratelimit-limit-requests')).toBe('1');
  expect(first.get('anthropic-ratelimit-requests-remaining')).toBe('0');
  const second = await ask();
  expect(second.status).toBe(429);
  expect(second.headers.get('ratelimit-remaining')).toBe('0');
  expect(Date.parse(second.headers.get('anthropic-ratelimit-requests-reset') ?? '')).toBeGreaterThan(0);
  expect(second.headers.get('x-ratelimit-reset-requests')).toMatch(/^\d+s$/);
});

it('unknown paths answer each SDK in its own shape', async () => {
  const shapeOf = async (headers: Record<string, string>) => (await gateway.get('/v1/nothing', headers)).json();
  const unknown = { error: { code: 'not_found', type: 'invalid_request_error' } };
  expect(await shapeOf({ 'x-stainless-lang': 'js' })).toMatchObject(unknown);
  expect(await shapeOf({ 'anthropic-version': '2023-06-01' })).toMatchObject({
    type: 'error',
    error: { type: 'not_found_error' },
  });
});

it.each([
  ['/v1/embeddings', { input: Array.from({ length: 2048 }, () => 'a'), dimensions: 4096 }],
  ['/v1/embeddings', { input: 'a '.repeat(200_000) }],
  ['/v1/rerank', { query: 'a', documents: ['a '.repeat(200_000)] }],
  ['/v1/images/generations', { prompt: 'a', n: 10, size: '2048x2048' }],
  ['/v1/moderations', { input: Array.from({ length: 2000 }, () => 'a') }],
])('the built-in provider refuses %s that would hold up every other request', async (path, body) => {
  expect((await gateway.post(path, { model: 'script/demo', ...body })).status).toBe(400);
});

it.each([
  ['/v1/moderations', { input: 'a' }],
  ['/v1/completions', { prompt: 'a' }],
])('what is no response of %s is an error of the provider', async (path, body) => {
  const response = await gateway.post(path, { model: 'media/x', ...body });
  expect(response.status).toBe(502);
  expect(await response.json()).toMatchObject({ error: { code: 'upstream_error' } });
});
