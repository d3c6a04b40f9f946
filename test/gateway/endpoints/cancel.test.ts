import { once } from 'node:events';
import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startGateway } from '../harness.ts';
import type { TestGateway } from '../harness.ts';

/** Holds every call until it is closed. */
const provider = createServer((request) => void request.resume());
let gateway: TestGateway;
beforeAll(async () => {
  provider.listen(0, '127.0.0.1');
  await once(provider, 'listening');
  const baseUrl = `http://127.0.0.1:${(provider.address() as AddressInfo).port}/v1`;
  gateway = await startGateway({
    providers: () => ({ media: { format: 'chat-completions', baseUrl, apiKey: 'k' } }),
  });
});
afterAll(async () => {
  await gateway.close();
  provider.closeAllConnections();
  provider.close();
});

function buildForm(): FormData {
  const form = new FormData();
  form.append('model', 'media/hear');
  form.append('file', new File(['RIFF'], 'a.wav'));
  return form;
}

const CALLS: [path: string, body: () => string | FormData][] = [
  ['/v1/embeddings', () => JSON.stringify({ model: 'media/embed', input: 'a' })],
  ['/v1/rerank', () => JSON.stringify({ model: 'media/rank', query: 'q', documents: ['d'] })],
  ['/v1/images/generations', () => JSON.stringify({ model: 'media/draw', prompt: 'p' })],
  ['/v1/audio/speech', () => JSON.stringify({ model: 'media/say', input: 'a', voice: 'v' })],
  ['/v1/audio/transcriptions', buildForm],
  ['/v1/moderations', () => JSON.stringify({ model: 'media/judge', input: 'a' })],
  ['/v1/completions', () => JSON.stringify({ model: 'media/small', prompt: 'a' })],
];

/** Starts a call; resolves with what the provider has got, and how to hang up. */
async function call(path: string, body: string | FormData) {
  const arrived = once(provider, 'request') as Promise<[IncomingMessage, ServerResponse]>;
  const client = new AbortController();
  const headers = {
    authorization: `Bearer ${gateway.key}`,
    ...(typeof body === 'string' ? { 'content-type': 'application/json' } : {}),
  };
  const answer = fetch(gateway.url + path, { method: 'POST', headers, body, signal: client.signal });
  answer.catch(() => undefined);
  const [request, response] = await arrived;
  return { request, response, answer, hangUp: () => client.abort() };
}

it.each(CALLS)(
  'a caller of %s that hangs up before the first byte ends the call of the provider',
  async (path, body) => {
    const { request, response, answer, hangUp } = await call(path, body());
    const closed = once(response, 'close');
    hangUp();
    await expect(answer).rejects.toThrow(/abort/i);
    await closed;
    expect([request.url, response.writableFinished]).toEqual([path, false]);
  },
);

it('a caller that hangs up while the provider answers ends the call, too', async () => {
  const { response, answer, hangUp } = await call('/v1/embeddings', CALLS[0]![1]());
  const closed = once(response, 'close');
  response.writeHead(200, { 'content-type': 'application/json' }).write('{"object":');
  hangUp();
  await expect(answer).rejects.toThrow(/abort/i);
  await closed;
  expect(response.writableFinished).toBe(false);
});
