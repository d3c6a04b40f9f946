import { connect } from 'node:net';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { openApi } from '../../agents/api/harness.ts';

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close();
});

async function open() {
  const api = await openApi();
  closers.push(() => api.close());
  await api.app.listen({ host: '127.0.0.1', port: 0 });
  const socket = connect((api.app.server.address() as AddressInfo).port, '127.0.0.1');
  closers.push(() => socket.destroy());
  const state = { received: '', isClosed: false };
  socket.on('data', (bytes: Buffer) => void (state.received += bytes.toString('latin1')));
  socket.on('error', () => {});
  socket.once('close', () => void (state.isClosed = true));
  const head = (size: string) =>
    `POST /v1/vaults HTTP/1.1\r\nhost: a\r\nx-api-key: ${api.key}\r\ncontent-type: application/json\r\n${size}\r\n\r\n`;
  return { socket, state, head };
}

test.each([
  ['of a known size', 2 * 1024 * 1024, (size: number) => `content-length: ${size}`],
  ['in chunks', 2 * 1024 * 1024, () => 'transfer-encoding: chunked'],
])('a client that still sends a body %s reads that it is too large', async (_how, size, describe) => {
  const { socket, state, head } = await open();
  const header = describe(size);
  const isChunked = header.includes('chunked');
  const first = isChunked ? `${size.toString(16)}\r\n${'x'.repeat(size)}\r\n` : '';
  socket.write(head(header) + first);
  await expect.poll(() => state.received).toContain('"payload_too_large"');
  // The rest of the body, and another request on the same connection.
  const rest = isChunked ? `5\r\nxxxxx\r\n0\r\n\r\n` : 'x'.repeat(size);
  socket.write(`${rest}GET /livez HTTP/1.1\r\nhost: a\r\n\r\n`);
  await expect.poll(() => state.received).toContain('HTTP/1.1 200');
  expect(state.received).toMatch(/^HTTP\/1\.1 413/);
});

test('a body beyond all bounds ends the connection', async () => {
  const { socket, state, head } = await open();
  socket.write(head(`content-length: ${128 * 1024 * 1024}`));
  await expect.poll(() => state.isClosed).toBe(true);
  expect(state.received).toMatch(/^HTTP\/1\.1 413/);
});
