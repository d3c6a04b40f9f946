import { once } from 'node:events';
import { createServer } from 'node:http';
import type { ServerResponse } from 'node:http';
import { connect } from 'node:net';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { FORMATS, UPSTREAMS, readFrames, startGateway } from './harness.ts';
import type { TestGateway } from './harness.ts';

const MIB = 1024 * 1024;
let gateway: TestGateway;
let hostile: ReturnType<typeof createServer>;
let answer: (response: ServerResponse) => void = () => {};

beforeAll(async () => {
  hostile = createServer((request, response) => {
    request.resume();
    request.once('end', () => answer(response));
  });
  hostile.listen(0, '127.0.0.1');
  await once(hostile, 'listening');
  const baseUrl = `http://127.0.0.1:${(hostile.address() as AddressInfo).port}`;
  gateway = await startGateway({
    providers: () => ({
      bad: { format: 'chat-completions', baseUrl },
      raw: { format: 'chat-completions', baseUrl, passThrough: true },
    }),
    retry: { attempts: 1 },
    breaker: { minCalls: Number.MAX_SAFE_INTEGER },
  });
});
afterAll(async () => {
  hostile.closeAllConnections();
  hostile.close();
  await gateway.close();
});

const said = [{ role: 'user', content: 'Hi' }];
const ask = (model: string, stream: boolean) => gateway.post('/v1/chat/completions', { model, stream, messages: said });
const chunk = (content: string) =>
  `data: ${JSON.stringify({ id: 'c', choices: [{ index: 0, delta: { content } }] })}\n\n`;

/** Writes as fast as the peer reads, until the peer stops. */
async function pour(response: ServerResponse, piece: Buffer, limit = Number.POSITIVE_INFINITY): Promise<void> {
  for (let sent = 0; sent < limit && !response.destroyed; sent += piece.length) {
    if (!response.write(piece)) {
      await new Promise<void>((resolve) => {
        const go = (): void => {
          response.off('drain', go).off('close', go);
          resolve();
        };
        response.on('drain', go).on('close', go);
      });
    }
  }
}

describe.each(['bad/x', 'raw/x'])('an upstream that misbehaves (%s)', (model) => {
  it.each([
    ['bytes that are no text', Buffer.from([0, 255, 254, 10, 10, 0, 200, 13, 10, 13, 10])],
    ['events without data', Buffer.from('event: a\n\nid: 3\n\nretry: x\n\n:\n\n')],
    ['an event that is cut', Buffer.from('data: {"choices":[{"delta":{"con')],
    ['JSON that is no object', Buffer.from('data: 3\n\ndata: null\n\ndata: [[]]\n\n')],
    [
      'fields of other types',
      Buffer.from(
        'data: {"choices":[{"delta":{"content":{"a":[7]},"tool_calls":7},"finish_reason":{}}],"usage":"x"}\n\n',
      ),
    ],
    ['a web page', Buffer.from('<html><body>Sign in</body></html>')],
    ['nothing', Buffer.alloc(0)],
  ])('by %s is told of, streamed or whole', async (_what, bytes) => {
    answer = (response) => void response.writeHead(200, { 'content-type': 'text/event-stream' }).end(bytes);
    for (const stream of [false, true]) {
      const response = await ask(model, stream);
      const text = await response.text();
      expect(text).toContain('upstream_error');
      expect(text).not.toContain('[DONE]');
    }
  });

  it('by a line that never ends is given up', async () => {
    let ended: Promise<unknown> | undefined;
    answer = (response) => {
      ended = once(response, 'close');
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write('data: {"id":"');
      void pour(response, Buffer.alloc(MIB, 'x'));
    };
    const response = await ask(model, false);
    expect([response.status, await response.json()]).toMatchObject([502, { error: { code: 'upstream_error' } }]);
    await ended;
  });

  it('by blanks that never end is given up', async () => {
    answer = (response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      void pour(response, Buffer.alloc(MIB, ' '));
    };
    expect((await ask(model, false)).status).toBe(502);
  });

  it('by a little that unpacks to much is given up', async () => {
    const bomb = gzipSync(Buffer.concat([Buffer.from('data: "'), Buffer.alloc(64 * MIB, 'x')]));
    answer = (response) =>
      void response.writeHead(200, { 'content-type': 'text/event-stream', 'content-encoding': 'gzip' }).end(bomb);
    expect((await ask(model, false)).status).toBe(502);
  });

  it('by headers that say anything changes nothing of ours', async () => {
    answer = (response) =>
      void response
        .writeHead(429, { 'retry-after': '1e300', 'set-cookie': 'a=b', 'x-request-id': 'theirs', location: 'http://x' })
        .end('{}');
    const { status, headers } = await ask(model, false);
    expect([status, headers.get('set-cookie'), headers.get('location')]).toEqual([429, null, null]);
    expect(headers.get('x-request-id')).toMatch(/^req_/);
    expect(Number(headers.get('retry-after'))).toBe(86_400);
  });

  it('by pointing elsewhere is not followed', async () => {
    const before = gateway.upstream.requests.length;
    answer = (response) => void response.writeHead(307, { location: `${gateway.upstream.url}/chat/completions` }).end();
    expect((await ask(model, false)).status).toBe(502);
    expect(gateway.upstream.requests.length).toBe(before);
  });

  it('by carriage returns inside its events does not tear the frames of the client', async () => {
    const text = JSON.stringify({
      id: 'c',
      choices: [{ index: 0, message: { role: 'assistant', content: 'Hi' }, finish_reason: 'stop' }],
    });
    answer = (response) =>
      void response.writeHead(200, { 'content-type': 'application/json' }).end(text.replaceAll(',', ',\r'));
    const frames = readFrames(await (await ask(model, true)).text());
    const whole = frames.filter(({ data }) => data !== '[DONE]').map(({ data }) => JSON.parse(data) as object);
    expect(JSON.stringify(whole)).toContain('Hi');
  });
});

it('an upstream that says too much to one caller leaves the others alone', async () => {
  answer = (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    void pour(response, Buffer.from(chunk('x'.repeat(1000)).repeat(1000)));
  };
  const endless = ask('bad/x', false);
  const { status } = await gateway.post('/v1/chat/completions', { model: 'chat/small', messages: said });
  expect(status).toBe(200);
  expect((await endless).status).toBe(502);
});

const { stringify } = JSON;
const nested = (open: string, close: string, depth: number) => open.repeat(depth) + close.repeat(depth);

describe.each(FORMATS)('a caller of %s that misbehaves', (format) => {
  const path = { 'chat-completions': '/v1/chat/completions', messages: '/v1/messages', responses: '/v1/responses' }[
    format
  ];
  const model = stringify(UPSTREAMS[format]);
  const conversation = format === 'responses' ? 'input' : 'messages';
  const rest = format === 'messages' ? '"max_tokens":9,' : '';
  const schema = nested('{"a":', '}', 200_000).replace(':}', ':1}');
  const tool =
    format === 'chat-completions'
      ? `{"type":"function","function":{"name":"f","parameters":${schema}}}`
      : format === 'messages'
        ? `{"name":"f","input_schema":${schema}}`
        : `{"type":"function","name":"f","parameters":${schema}}`;

  it.each([
    [
      'a schema as deep as a body may be',
      `{"model":${model},${rest}"tools":[${tool}],"${conversation}":${stringify(said)}}`,
    ],
    [
      'a conversation as deep as a body may be',
      `{"model":${model},${rest}"${conversation}":${nested('[', ']', 1_000_000)}}`,
    ],
    [
      'a field of a name like no other',
      `{"model":${model},${rest}"${conversation}":[{"role":"user","content":{"__proto__":{"type":"text"}}}]}`,
    ],
    [
      'a number beyond all',
      `{"model":${model},"max_tokens":1e999,"max_output_tokens":1e999,"${conversation}":${stringify(said)}}`,
    ],
    [
      'a model whose name breaks lines',
      `{"model":"chat/a\\r\\nx-evil: 1","max_tokens":-1,"max_output_tokens":-1,"${conversation}":[]}`,
    ],
  ])('by %s is refused, and not as a fault of ours', async (_what, body) => {
    const response = await gateway.post(path, body);
    expect(response.status).toBe(400);
    expect(response.headers.get('x-evil')).toBeNull();
  });
});

/** Writes bytes to the gateway's port and returns the response until the connection ends. */
async function sendRaw(text: string): Promise<string> {
  const { hostname, port } = new URL(gateway.url);
  const socket = connect(Number(port), hostname);
  let back = '';
  socket.on('data', (data) => (back += data.toString('latin1')));
  socket.on('error', () => {});
  socket.write(text, 'latin1');
  await once(socket, 'close');
  return back;
}

it.each([
  ['/v1/files/a%00', 404],
  ['/v1/files/a%00/content', 404],
  ['/v1/batches/%00', 404],
  ['/v1/messages/batches/%00', 404],
  ['/v1/requests/%00', 404],
  ['/v1/files?after=%00', 400],
  ['/v1/usage?groupBy=metadata.%00', 400],
  ['/v1/usage?from=0000-01-01', 400],
  ['/v1/usage?to=0001-01-01', 400],
  ['/v1/usage?to=1970-01-01', 200],
  ['/v1/usage?from=9999-12-31&to=9999-12-31', 200],
  ['/v1/usage?from=9999-12-31T23:59:59Z', 200],
])('text and times that the database does not know: GET %s is %i', async (path, status) => {
  expect((await gateway.get(path)).status).toBe(status);
});

it('an id with NUL in a body names nothing', async () => {
  const response = await gateway.post('/v1/batches', { input_file_id: 'a\0', endpoint: '/v1/responses' });
  expect(response.status).toBe(404);
});

describe('bytes that are no request', () => {
  const head = (more: string) =>
    `POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${gateway.key}\r\ncontent-type: application/json\r\n${more}\r\n`;
  it.each([
    ['a length and chunks at once', 'content-length: 5\r\ntransfer-encoding: chunked\r\n', '0\r\n\r\n'],
    ['two lengths', 'content-length: 5\r\ncontent-length: 7\r\n', 'hello'],
    ['a chunk of no size', 'transfer-encoding: chunked\r\n', 'zz\r\n{}\r\n0\r\n\r\n'],
    ['a header without an end', `x-long: ${'a'.repeat(100_000)}\r\n`, ''],
    ['a header with a NUL', 'x-a: \u0000\r\n', ''],
  ])('such as %s are refused', async (_what, headers, body) => {
    const before = gateway.upstream.requests.length;
    expect(await sendRaw(head(headers) + body)).toMatch(/^HTTP\/1\.1 4(00|31)/);
    expect(gateway.upstream.requests.length).toBe(before);
  });

  it('interrupted uploads, however many, cause no call and delay nobody', async () => {
    const before = gateway.upstream.requests.length;
    const { hostname, port } = new URL(gateway.url);
    await Promise.all(
      Array.from({ length: 200 }, async (_, index) => {
        const socket = connect(Number(port), hostname);
        socket.on('error', () => {});
        await once(socket, 'connect');
        socket.write(`${head(`content-length: ${3 * MIB}\r\n`)}{"model":"${'x'.repeat(index * 500)}`);
        await new Promise((resolve) => setImmediate(resolve));
        socket.destroy();
      }),
    );
    expect((await gateway.post('/v1/chat/completions', { model: 'chat/small', messages: said })).status).toBe(200);
    expect(gateway.upstream.requests.length).toBe(before + 1);
  });
});
