import { connect } from 'node:net';
import { once } from 'node:events';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startApi } from '../../../src/agents/api/start.ts';
import { LimitsUnavailableError } from '../../../src/platform/limits/limits.ts';
import { DbUnavailableError } from '../../../src/platform/db/db.ts';
import { buildServer } from '../../../src/agents/api/server.ts';
import { StartupError } from '../../../src/platform/errors.ts';
import { openApi } from './harness.ts';
import type { Api } from './harness.ts';

let api: Api;
beforeAll(async () => {
  api = await openApi({ corsOrigins: ['https://console.example'] });
});
afterAll(() => api.close());

test('every answer carries a request id: the caller’s when it is fit, else a new one', async () => {
  const own = await api.call('GET', '/livez', { headers: { 'x-request-id': 'abc-1.2_3' } });
  expect(own.headers['x-request-id']).toBe('abc-1.2_3');
  for (const unfit of ['a b', 'x'.repeat(129), '{}']) {
    const reply = await api.call('GET', '/nowhere', { headers: { 'x-request-id': unfit } });
    expect(reply.headers['x-request-id']).toMatch(/^req_[0-9a-z]{26}$/);
  }
});

test('an unknown route is 404, a known path with another method 405 with Allow', async () => {
  const unknown = await api.call('GET', '/v1/nothing');
  expect([unknown.status, unknown.body.error]).toEqual([404, 'not_found']);
  const other = await api.call('PUT', '/v1/agents/agt_1?x=1');
  expect([other.status, other.body.error]).toEqual([405, 'method_not_allowed']);
  expect(other.headers['allow']).toBe('DELETE, GET, HEAD, PATCH, POST');
});

test.each([
  ['malformed JSON', '{"name": secret-word', 'application/json', 'body: must be valid JSON'],
  ['no object', '[1]', 'application/json', 'body: must be of type object'],
  ['a null', 'null', 'application/json', 'body: must be of type object'],
  ['no body', '', 'application/json', 'body: is required'],
  ['another content type', 'name=secret-word', 'text/plain', 'header.content-type: must be application/json'],
  ['a prototype', '{"__proto__": {"secret-word": 1}}', 'application/json', 'body: must be valid JSON'],
])('%s as a body is 400', async (_name, body, type, message) => {
  const reply = await api.call('POST', '/v1/agents', { body, headers: { 'content-type': type } });
  expect([reply.status, reply.body]).toEqual([400, { error: 'validation_error', message }]);
});

test('an empty body with a content type is no body', async () => {
  const reply = await api.call('POST', '/v1/agents/agt_1/archive', { body: '' });
  expect(reply.body.error).toBe('not_found');
});

test.each(['[]', '"x"', '7'])('a body that is no object is refused where none is taken: %s', async (body) => {
  const reply = await api.call('POST', '/v1/agents/agt_1/archive', { body });
  expect([reply.status, reply.body.message]).toEqual([400, 'body: must be of type object']);
});

test('a body over the limit is 413', async () => {
  const reply = await api.call('POST', '/v1/sessions', { body: { agentId: 'x'.repeat(1024 * 1024) } });
  expect([reply.status, reply.body.error]).toEqual([413, 'payload_too_large']);
});

test.each([
  ['NUL', { name: 'a\0b' }, 'name: must not contain NUL characters'],
  ['NUL in a list', { skills: [{ name: 'a', content: 'b\0' }] }, 'skills[0].content: must not contain NUL characters'],
  ['a lone surrogate', { metadata: { CANARY: '\ud800' } }, 'metadata.*: must be valid Unicode'],
  ['a NUL key', { metadata: { 'CANARY\0': 1 } }, 'metadata: must not contain NUL characters'],
  ['NUL in a field that nobody knows', { CANARY: { x: '\0' } }, 'body: must not contain NUL characters'],
])('text that no database keeps is 400: %s', async (_name, part, message) => {
  const reply = await api.call('POST', '/v1/agents', {
    body: { name: 'x', modelName: 'a/b', systemPrompt: '', skills: [], tools: [], ...part },
  });
  expect([reply.status, reply.body.error]).toEqual([400, 'validation_error']);
  expect(reply.body.message).toBe(message);
});

test('a message never holds a key that the caller has made up', async () => {
  const event = { type: 'user.message', content: [{ type: 'text', text: 'x' }], metadata: { CANARY: ['x'] } };
  const reply = await api.call('POST', '/v1/sessions/ses_1/events', { body: { events: [event] } });
  expect([reply.status, reply.body.error]).toEqual([400, 'validation_error']);
  expect(reply.body.message).toContain('events[0].metadata.*: ');
  expect(reply.body.message).not.toContain('CANARY');
});

test('endless nesting is 400', async () => {
  const deep = `${'{"a":'.repeat(5000)}1${'}'.repeat(5000)}`;
  const reply = await api.call('POST', '/v1/sessions', { body: `{"agentId":"a","subjectId":"b","metadata":${deep}}` });
  expect([reply.status, reply.body.message]).toEqual([400, 'body: must be nested at most 100 levels deep']);
});

test.each(['/v1/agents/%zz', '/v1/agents/%ff', '/%'])('bad percent-encoding in the path is 400: %s', async (path) => {
  const reply = await api.call('GET', path);
  expect([reply.status, reply.body.error]).toEqual([400, 'validation_error']);
  expect(reply.headers['x-request-id']).toBeDefined();
});

test.each(['/v1/agents/', '/v1/agents/%00', `/v1/agents/${'x'.repeat(300)}`, `/v1/agents/${'x'.repeat(9000)}`])(
  'an identifier that cannot exist is 404: %#',
  async (path) => expect((await api.call('GET', path)).status).toBe(404),
);

test('HEAD answers as GET without a body', async () => {
  const reply = await api.call('HEAD', '/v1/agents');
  expect([reply.status, reply.text]).toEqual([200, '']);
});

test('pages of allowed origins may call, others not', async () => {
  const headers = { 'access-control-request-method': 'POST', 'access-control-request-headers': 'x-api-key' };
  const allowed = await api.call('OPTIONS', '/v1/agents', {
    headers: { ...headers, origin: 'https://console.example' },
  });
  expect([allowed.status, allowed.headers['access-control-allow-origin']]).toEqual([204, 'https://console.example']);
  const other = await api.call('OPTIONS', '/v1/agents', { headers: { ...headers, origin: 'https://evil.example' } });
  expect(other.headers['access-control-allow-origin']).toBeUndefined();
});

test('what is no HTTP is answered in the service’s shape', async () => {
  const server = await startApi(api.backends, { host: '127.0.0.1', port: 0 });
  const socket = connect(server.port, '127.0.0.1').end('NONSENSE\r\n\r\n');
  const [chunk] = (await once(socket, 'data')) as [Buffer];
  await server.close();
  expect(chunk.toString()).toMatch(/^HTTP\/1\.1 400 [\s\S]*x-request-id: req_[\s\S]*"error":"validation_error"/);
});

test('what comes while the server closes is answered, and its connection is the last', async () => {
  const server = await startApi(api.backends, { host: '127.0.0.1', port: 0 });
  const socket = connect(server.port, '127.0.0.1');
  let text = '';
  socket.on('data', (chunk: Buffer) => (text += chunk.toString()));
  const write = (part: string) => new Promise((resolve) => socket.write(part, resolve));
  await write(`GET /v1/agents HTTP/1.1\r\nhost: x\r\nx-api-key: ${api.key}\r\n`);
  // The first bytes must have arrived, or the connection counts as idle.
  await fetch(`http://127.0.0.1:${server.port}/livez`);
  const closed = server.close();
  await write('\r\n');
  await Promise.all([once(socket, 'close'), closed]);
  expect(text).toMatch(/^HTTP\/1\.1 200 [\s\S]*connection: close\r\n/i);
});

test('a fault of our own is 500 with nothing of it; an unreachable backend 503 with Retry-After', async () => {
  const failing = (error: Error) => ({
    ...api.backends.db,
    query: async () => {
      throw error;
    },
  });
  const ask = async (ports: object, method: 'GET' | 'POST' = 'GET') => {
    const app = buildServer({ ...api.backends, ...ports });
    const response = await app.inject({ method, url: '/v1/agents', headers: { 'x-api-key': api.key } });
    await app.close();
    return { status: response.statusCode, body: response.json<object>(), retry: response.headers['retry-after'] };
  };
  expect(await ask({ db: failing(new Error('secret detail')) })).toEqual({
    status: 500,
    body: { error: 'server_error', message: 'The request failed unexpectedly.' },
    retry: undefined,
  });
  const unavailable = {
    status: 503,
    body: { error: 'server_error', message: expect.any(String) as string },
    retry: '1',
  };
  expect(await ask({ db: failing(new DbUnavailableError('secret detail')) })).toEqual(unavailable);
  const limits = { ...api.backends.limits, take: () => Promise.reject(new LimitsUnavailableError('secret detail')) };
  // Reads continue without the shared limits, with a limit per process.
  expect(await ask({ limits }, 'POST')).toEqual(unavailable);
  expect(await ask({ limits })).toMatchObject({ status: 200 });
});

test('an address in use is a start-up error', async () => {
  const first = await startApi(api.backends, { host: '127.0.0.1', port: 0 });
  const second = startApi(api.backends, { host: '127.0.0.1', port: first.port });
  await expect(second).rejects.toBeInstanceOf(StartupError);
  await first.close();
});
