import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { StartupError } from '../../../src/platform/errors.ts';
import { startHttp } from '../../../src/platform/http/start.ts';
import { buildHttpServer } from '../../../src/platform/http/server.ts';
import type { ServerOptions } from '../../../src/platform/http/server.ts';
import { openTestBackends } from '../../support/backends.ts';

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close();
});

async function build(options: ServerOptions = {}) {
  const backends = await openTestBackends();
  closers.push(() => backends.close());
  return buildHttpServer(backends, [], options);
}

async function findPort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

test('without a metrics port, metrics and the state of backends are for callers on this machine', async () => {
  const app = await build();
  closers.push(() => app.close());
  const ask = async (url: string, remoteAddress: string, headers = {}) => {
    const { statusCode, body } = await app.inject({ url, remoteAddress, headers });
    return { statusCode, hasDetails: body.includes('checks') || body.includes('process_cpu') };
  };
  expect(await ask('/metrics', '127.0.0.1')).toEqual({ statusCode: 200, hasDetails: true });
  expect(await ask('/metrics', '::1')).toEqual({ statusCode: 200, hasDetails: true });
  expect(await ask('/readyz', '::ffff:127.0.0.1')).toEqual({ statusCode: 200, hasDetails: true });
  expect(await ask('/metrics', '203.0.113.9')).toEqual({ statusCode: 403, hasDetails: false });
  expect(await ask('/readyz', '203.0.113.9')).toEqual({ statusCode: 200, hasDetails: false });
  // What a proxy on this machine passes on comes from elsewhere.
  const forwarded = { 'x-forwarded-for': '203.0.113.9' };
  expect(await ask('/metrics', '127.0.0.1', forwarded)).toEqual({ statusCode: 403, hasDetails: false });
  expect(await ask('/readyz', '127.0.0.1', forwarded)).toEqual({ statusCode: 200, hasDetails: false });
});

test('with a metrics port, only it serves metrics and the state of backends', async () => {
  const port = await findPort();
  const app = await build({ metricsServer: { host: '127.0.0.1', port } });
  const server = await startHttp(app, { host: '127.0.0.1', port: 0 });
  const get = async (base: string, path: string) => (await fetch(base + path)).json();
  const own = `http://127.0.0.1:${port}`;
  expect((await fetch(`${server.address}/metrics`)).status).toBe(404);
  expect(await get(server.address, '/readyz')).toEqual({ status: 'ok' });
  expect(await (await fetch(`${own}/metrics`)).text()).toContain('http_request_duration_seconds');
  expect(await get(own, '/readyz')).toMatchObject({ status: 'ok', checks: { database: 'ok' } });
  expect(await get(own, '/livez')).toEqual({ status: 'ok' });
  await server.close();
  await expect(
    new Promise((resolve, reject) => request(`${own}/livez`, resolve).once('error', reject).end()),
  ).rejects.toThrow(/ECONNREFUSED/);
});

test('a metrics port in use stops the start and is named', async () => {
  const other = createServer().listen(0, '127.0.0.1');
  closers.push(() => other.close());
  await new Promise((resolve) => other.once('listening', resolve));
  const { port } = other.address() as AddressInfo;
  const app = await build({ metricsServer: { host: '127.0.0.1', port } });
  const started = startHttp(app, { host: '127.0.0.1', port: 0 });
  await expect(started).rejects.toThrow(StartupError);
  await expect(started).rejects.toThrow(`Metrics cannot be served on 127.0.0.1:${port}`);
});
