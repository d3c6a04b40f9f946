import { connect } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { clientNetwork } from '../../../src/platform/http/client-address.ts';
import type { Bounds } from '../../../src/platform/http/bounds.ts';
import { makeAgent, makeSession, openApi } from '../../agents/api/harness.ts';
import type { Api } from '../../agents/api/harness.ts';

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close();
});

async function start(bounds: Partial<Bounds>): Promise<{ api: Api; port: number; url: string }> {
  const api = await openApi({ bounds });
  closers.push(() => api.close());
  await api.app.listen({ host: '127.0.0.1', port: 0 });
  const { port } = api.app.server.address() as AddressInfo;
  return { api, port, url: `http://127.0.0.1:${port}` };
}

async function open(port: number): Promise<{ socket: Socket; closed: Promise<void> }> {
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => {});
  closers.push(() => socket.destroy());
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
  await new Promise<void>((resolve) => socket.once('connect', () => resolve()));
  return { socket, closed };
}

test('a key has a limit of open event streams; a closed one makes room', async () => {
  const { api, url } = await start({ streamsPerKey: 2 });
  const session = await makeSession(api, await makeAgent(api));
  const controllers: AbortController[] = [];
  const stream = async () => {
    const controller = new AbortController();
    controllers.push(controller);
    closers.push(() => controller.abort());
    const { signal } = controller;
    return fetch(`${url}/v1/sessions/${session}/events/stream`, { headers: { 'x-api-key': api.key }, signal });
  };
  expect([(await stream()).status, (await stream()).status]).toEqual([200, 200]);
  const refused = await stream();
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '5']);
  expect(await refused.json()).toMatchObject({ error: 'rate_limited' });
  // A stream that failed to open takes no slot.
  const missing = await fetch(`${url}/v1/sessions/ses_missing/events/stream`, { headers: { 'x-api-key': api.key } });
  expect(missing.status).toBe(404);
  controllers[0]?.abort();
  await expect.poll(async () => (await stream()).status).toBe(200);
});

test('of idle connections without a key the oldest of the address is closed', async () => {
  const { api, port } = await start({ idleConnectionsPerAddress: 3 });
  const accepted = await open(port);
  accepted.socket.write(`GET /v1/agents HTTP/1.1\r\nhost: x\r\nx-api-key: ${api.key}\r\n\r\n`);
  await new Promise<void>((resolve) => accepted.socket.once('data', () => resolve()));
  const half = await open(port);
  half.socket.write('GET /livez HTTP/1.1\r\nhost: x\r\n');
  const others = [await open(port), await open(port), await open(port)];
  await half.closed;
  expect([accepted, ...others].map(({ socket }) => socket.closed)).toEqual([false, false, false, false]);
  await Promise.all([open(port), open(port), open(port)]);
  await Promise.all(others.map(({ closed }) => closed));
  expect(accepted.socket.closed).toBe(false);
});

test('connections have a limit', async () => {
  const { port } = await start({ connections: 2 });
  const [first, second] = [await open(port), await open(port)];
  const third = await open(port);
  await third.closed;
  expect([first?.socket.closed, second?.socket.closed]).toEqual([false, false]);
});

test('past its limit of unknown keys an address causes no more queries, and known keys go on', async () => {
  const { api } = await start({ unknownKeysPerMinute: 3 });
  const call = (key: string) => api.call('GET', '/v1/agents', { key });
  expect((await call(api.key)).status).toBe(200);
  const replies = await Promise.all(['a', 'b', 'c', 'd', 'e'].map(call));
  expect(replies.map(({ status }) => status)).toEqual([401, 401, 401, 429, 429]);
  expect(Number(replies[3]?.headers['retry-after'])).toBeGreaterThan(0);
  expect((await call('a')).status).toBe(401);
  expect((await call(api.key)).status).toBe(200);
});

test('keys that are known do not count as attempts', async () => {
  const { api } = await start({ unknownKeysPerMinute: 1 });
  expect((await api.call('GET', '/v1/agents')).status).toBe(200);
  expect((await api.call('GET', '/v1/agents', { key: api.otherKey })).status).toBe(200);
  expect((await api.call('GET', '/v1/agents', { key: 'a' })).status).toBe(401);
});

test.each([
  ['192.0.2.7', '192.0.2.7'],
  ['::ffff:192.0.2.7', '192.0.2.7'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2'],
  ['fe80::1%eth0', 'fe80:0:0:0'],
  [undefined, 'unknown'],
])('%s counts as %s', (address, network) => {
  expect(clientNetwork(address)).toBe(network);
});
