import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ConnectionError, buildClient } from '../../clients/typescript/index.ts';
import { buildSseParser } from '../../clients/typescript/sse.ts';
import type { SseMessage } from '../../clients/typescript/sse.ts';

type Handler = (request: IncomingMessage, reply: ServerResponse, nth: number) => void;

let asked: IncomingMessage[];
let handle: Handler;
let http: ReturnType<typeof createServer>;
let client: ReturnType<typeof buildClient>;
beforeEach(async () => {
  asked = [];
  http = createServer((request, reply) => {
    asked.push(request);
    request.resume().on('end', () => handle(request, reply, asked.length));
  });
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  client = buildClient({ baseUrl: `http://127.0.0.1:${(http.address() as AddressInfo).port}/`, apiKey: 'k' });
});
afterEach(() => {
  http.close();
  http.closeAllConnections();
});

const answer = (reply: ServerResponse, status: number, body: object, headers: Record<string, string> = {}) =>
  void reply.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
const failing =
  (status: number, body: object = { error: 'server_error', message: 'x' }, headers = {}): Handler =>
  (_request, reply, nth) =>
    nth === 1 ? answer(reply, status, body, headers) : answer(reply, 200, { ok: true });
const AGENT = { name: 'a', modelName: 'm/m', systemPrompt: '', skills: [], tools: [] };
const EVENTS = { events: [{ type: 'user.steer' as const, message: 'x' }] };

describe('a request is sent again', () => {
  it.each([502, 503, 504])('after %i, when it only reads', async (status) => {
    handle = failing(status);
    expect(await client.getAgent('a')).toEqual({ ok: true });
    expect(asked).toHaveLength(2);
  });

  it('after a broken connection, under the same idempotency key', async () => {
    handle = (request, reply, nth) => (nth === 1 ? request.socket.destroy() : answer(reply, 200, { ok: true }));
    await client.sendEvents('s', EVENTS);
    const keys = asked.map(({ headers }) => headers['idempotency-key']);
    expect(keys).toEqual([expect.stringMatching(/^[0-9a-f-]{36}$/), keys[0]]);
    await client.sendEvents('s', EVENTS);
    expect(asked[2]?.headers['idempotency-key']).not.toBe(keys[0]);
  });

  it('after 429, whatever it does, when the server allows', async () => {
    handle = failing(429, { error: 'rate_limited', message: 'x' }, { 'retry-after': '1' });
    await client.createAgent(AGENT);
    expect(asked).toHaveLength(2);
  });
});

describe('a request is not sent again', () => {
  it('that may have been done', async () => {
    handle = failing(503);
    await expect(client.createAgent(AGENT)).rejects.toMatchObject({ status: 503, code: 'server_error' });
    handle = (request) => void request.socket.destroy();
    await expect(client.createAgent(AGENT)).rejects.toBeInstanceOf(ConnectionError);
    expect(asked).toHaveLength(2);
  });

  it.each([
    [500, {}],
    [503, { retryable: false }],
    [409, {}],
  ])('after %i with %j', async (status, more) => {
    handle = failing(status, { error: 'server_error', message: 'x', ...more });
    await expect(client.getAgent('a')).rejects.toMatchObject({ status });
    expect(asked).toHaveLength(1);
  });

  it('once the caller has aborted', async () => {
    const leave = new AbortController();
    handle = (_request, reply) => {
      answer(reply, 503, { error: 'server_error', message: 'x' });
      leave.abort(new Error('enough'));
    };
    await expect(client.listAgents({}, { signal: leave.signal })).rejects.toThrow('enough');
    expect(asked).toHaveLength(1);
  });
});

it('says so when an answer is not the service’s own', async () => {
  handle = (_request, reply) => void reply.writeHead(404).end('<html>');
  await expect(client.getAgent('a')).rejects.toMatchObject({
    code: 'unknown',
    message: 'The server answered 404 Not Found',
  });
});

it('puts parameters where they belong', async () => {
  handle = (_request, reply) => answer(reply, 200, {});
  await client.listFiles('a/b', 'ü?', { path: 'x y&z', recursive: true });
  expect(asked[0]?.url).toBe('/v1/agents/a%2Fb/users/%C3%BC%3F/files?path=x+y%26z&recursive=true');
});

it.each([1, 2, 3, 7, 1000])('reads a stream in pieces of %i', (size) => {
  const text = '\uFEFFretry: 1\nid: 1\n\n: note\r\nevent: x\r\ndata: a\r\ndata:b\rid: 2\n\ndata\n\n';
  const messages: SseMessage[] = [];
  const parse = buildSseParser((message) => messages.push(message));
  for (let at = 0; at < text.length; at += size) parse(text.slice(at, at + size));
  expect(messages).toEqual([
    { data: '', lastEventId: '1' },
    { data: 'a\nb', lastEventId: '2' },
    { data: '', lastEventId: '2' },
  ]);
});
