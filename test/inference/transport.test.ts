import { subscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import { createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { callUpstream } from '../../src/inference/call.ts';
import { collectReply } from '../../src/inference/collect.ts';
import { openTransport } from '../../src/inference/transport.ts';
import type { Transport } from '../../src/inference/transport.ts';
import type { UpstreamTarget } from '../../src/inference/upstream/dialect.ts';
import { encodeEvents, encodeStream } from '../support/model-server/encode.ts';
import { completeReply } from '../support/model-server/pieces.ts';
import { startModelServer } from '../support/model-server/server.ts';
import type { ModelServer, ScriptedAnswer } from '../support/model-server/server.ts';
import { buildRequest, buildTarget } from '../support/upstream.ts';

let server: ModelServer;
let transport: Transport;
let target: UpstreamTarget;

beforeAll(async () => {
  server = await startModelServer();
  transport = openTransport();
});
afterAll(async () => {
  await transport.close();
  await server.close();
});
beforeEach(() => {
  server.script(() => ({}));
  target = buildTarget('chat-completions', { baseUrl: server.url, apiKey: 'secret-key-1' });
});

async function call(to: UpstreamTarget = target, signal = new AbortController().signal, onDelta?: () => void) {
  const deltas = callUpstream(transport, to, buildRequest(), signal);
  return (await collectReply(deltas, onDelta)).content;
}

const OK = [{ type: 'text', text: 'ok' }];

describe('the transport', () => {
  it('posts JSON below the base address, whose query stays', async () => {
    expect(await call({ ...target, baseUrl: `${server.url}/?api-version=1` })).toEqual(OK);
    const request = server.requests.at(-1);
    expect(request?.path).toBe('/v1/chat/completions?api-version=1');
    expect(request?.headers).toMatchObject({
      'content-type': 'application/json',
      authorization: 'Bearer secret-key-1',
    });
  });

  it('uses a connection again for the next call, though its body ends later than the reply', async () => {
    const body = encodeEvents(encodeStream('chat-completions', completeReply({})));
    server.script(() => ({ body: `${body}: bye\n\n`, chunkBytes: body.length, gapMs: 20 }));
    const before = server.connections();
    for (let count = 0; count < 5; count += 1) {
      // The connection is busy until the rest of the body has arrived.
      const complete = new Promise((resolve) => subscribe('undici:request:trailers', resolve));
      expect(await call()).toEqual(OK);
      await complete;
    }
    expect(server.connections() - before).toBeLessThanOrEqual(1);
  });

  it('gives the connection up when the body does not end behind a complete reply', async () => {
    server.script(() => ({
      hang: 'after-body',
      body: encodeEvents(encodeStream('chat-completions', completeReply({}))),
    }));
    expect(await call()).toEqual(OK);
    await server.requests.at(-1)?.abandoned;
  });

  it('reads a stream that comes byte by byte', async () => {
    server.script(() => ({ reply: { content: [{ type: 'text', text: 'Grüße 🌍' }] }, chunkBytes: 7 }));
    expect(await call()).toEqual([{ type: 'text', text: 'Grüße 🌍' }]);
  });

  it('reads a body that a proxy compressed', async () => {
    const body = gzipSync(encodeEvents(encodeStream('chat-completions', completeReply({}))));
    server.script(() => ({ body, headers: { 'content-encoding': 'gzip' } }));
    expect(await call()).toEqual(OK);
  });

  it.each<[string, ScriptedAnswer, object]>([
    [
      '401',
      { status: 401, body: '{"error":{"message":"Incorrect API key: secret-key-1"}}' },
      { code: 'authentication', message: 'The provider rejected its API key.' },
    ],
    ['403', { status: 403, body: '{}' }, { code: 'authentication' }],
    [
      '404 for the model',
      { status: 404, body: '{"error":{"message":"The model x does not exist"}}' },
      { code: 'unknown_model' },
    ],
    [
      '404 for the path',
      { status: 404, body: '<html>not found</html>' },
      { code: 'invalid_request', retryable: false },
    ],
    [
      '400',
      { status: 400, body: '{"error":{"message":"bad tool, key secret-key-1"}}' },
      { code: 'invalid_request', message: 'bad tool, key [redacted]' },
    ],
    [
      '422 in another shape',
      { status: 422, body: '{"detail":[{"msg":"field required"}]}' },
      { code: 'invalid_request', message: 'field required' },
    ],
    [
      '400 about the context',
      { status: 400, body: '{"error":{"message":"prompt is too long: 210000 tokens > 200000 maximum"}}' },
      { code: 'context_overflow' },
    ],
    ['408', { status: 408, body: '' }, { code: 'timeout', retryable: true }],
    [
      '429 with seconds',
      { status: 429, body: '{}', headers: { 'retry-after': '7' } },
      { code: 'rate_limited', retryAfterMs: 7000, status: 429 },
    ],
    [
      '429 with a date in the past',
      { status: 429, body: '{}', headers: { 'retry-after': 'Wed, 21 Oct 2015 07:28:00 GMT' } },
      { code: 'rate_limited', retryAfterMs: 0 },
    ],
    ['500', { status: 500, body: 'boom' }, { code: 'upstream', retryable: true, message: 'The provider failed.' }],
    ['502', { status: 502, body: '<html>' }, { code: 'upstream' }],
    ['503', { status: 503, body: '' }, { code: 'unavailable' }],
    ['504', { status: 504, body: '' }, { code: 'timeout' }],
    ['529', { status: 529, body: '{"type":"error","error":{"type":"overloaded_error"}}' }, { code: 'unavailable' }],
    ['a redirect', { status: 302, body: '', headers: { location: '/elsewhere' } }, { code: 'upstream' }],
  ])('says what an error means: %s', async (_, answer, expected) => {
    server.script(() => answer);
    await expect(call()).rejects.toMatchObject(expected);
  });

  it('reads an error no further than it must', async () => {
    const body = `prompt is too long ${'x'.repeat(1_000_000)}`;
    server.script(() => ({ status: 400, body, chunkBytes: 50_000, hang: 'after-body' }));
    await expect(call()).rejects.toMatchObject({ code: 'context_overflow' });
    await server.requests.at(-1)?.abandoned;
  });

  it('says when the stream was cut', async () => {
    server.script(() => ({ cutAfterBytes: 150 }));
    await expect(call()).rejects.toMatchObject({ code: 'upstream', message: "The provider's reply was cut off." });
  });

  it('reports that there is no subscriber', async () => {
    const probe = createServer().listen(0, '127.0.0.1');
    await once(probe, 'listening');
    const { port } = probe.address() as AddressInfo;
    probe.close();
    await once(probe, 'close');
    const gone = { ...target, baseUrl: `http://127.0.0.1:${port}/v1` };
    await expect(call(gone)).rejects.toMatchObject({ code: 'upstream', retryable: true });
  });

  it.each<[string, ScriptedAnswer]>([
    ['the answer', { hang: 'before-headers' }],
    ['the next byte', { events: [{ choices: [] }], hang: 'after-body' }],
  ])('waits no longer than it may for %s', async (_, answer) => {
    server.script(() => answer);
    await expect(call({ ...target, timeoutMs: 500 })).rejects.toMatchObject({ code: 'timeout' });
    await server.requests.at(-1)?.abandoned;
  });
});

describe('an abort', () => {
  it('comes before the call', async () => {
    const before = server.requests.length;
    await expect(call(target, AbortSignal.abort(new Error('stop')))).rejects.toThrow('stop');
    expect(server.requests).toHaveLength(before);
  });

  it('ends the wait for the answer, and the upstream sees it', async () => {
    const abort = new AbortController();
    server.script(() => {
      abort.abort(new Error('stop'));
      return { hang: 'before-headers' };
    });
    await expect(call(target, abort.signal)).rejects.toThrow('stop');
    await server.requests.at(-1)?.abandoned;
  });

  it('ends a stream that is silent, and the upstream sees it', async () => {
    const abort = new AbortController();
    server.script(() => ({ events: [{ choices: [{ delta: { content: 'Hi' } }] }], hang: 'after-body' }));
    const onDelta = () => setImmediate(() => abort.abort(new Error('stop')));
    await expect(call(target, abort.signal, onDelta)).rejects.toThrow('stop');
    await server.requests.at(-1)?.abandoned;
  });

  it('ends a stream within the data that has already arrived', async () => {
    const abort = new AbortController();
    const text = 'word '.repeat(500);
    server.script(() => ({ reply: { content: [{ type: 'text', text }] }, hang: 'after-body' }));
    let seen = 0;
    const onDelta = () => {
      seen += 1;
      if (seen === 3) abort.abort(new Error('stop'));
    };
    await expect(call(target, abort.signal, onDelta)).rejects.toThrow('stop');
    expect(seen).toBe(3);
    await server.requests.at(-1)?.abandoned;
  });

  it('ends an upload that the upstream does not take', async () => {
    const deaf = createServer((socket) => socket.pause()).listen(0, '127.0.0.1');
    await once(deaf, 'listening');
    const abort = new AbortController();
    const to = { ...target, baseUrl: `http://127.0.0.1:${(deaf.address() as AddressInfo).port}` };
    const body = { text: 'x'.repeat(20_000_000) };
    const posted = transport.post(to, { path: '/x', headers: {}, body }, abort.signal);
    const [socket] = (await once(deaf, 'connection')) as [Socket];
    abort.abort(new Error('stop'));
    await expect(posted).rejects.toThrow('stop');
    socket.destroy();
    deaf.close();
  });
});
