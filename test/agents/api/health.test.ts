import { afterAll, beforeAll, expect, test } from 'vitest';
import { buildServer } from '../../../src/agents/api/server.ts';
import { VERSION } from '../../../src/platform/contract/version.ts';
import { openApi } from './harness.ts';
import type { Api } from './harness.ts';

let api: Api;
beforeAll(async () => {
  api = await openApi();
});
afterAll(() => api.close());

test('a ready server names its backends, without a key', async () => {
  expect((await api.call('GET', '/livez', { key: null })).body).toEqual({ status: 'ok' });
  const reply = await api.call('GET', '/readyz', { key: null });
  const checks = { database: 'ok', bus: 'ok', limits: 'ok', objects: 'ok', sandbox: 'ok' };
  expect([reply.status, reply.body]).toMatchObject([200, { status: 'ok', checks, storage: { state: 'ok' } }]);
});

test('a backend that fails or never answers makes the server not ready', async () => {
  const app = buildServer({
    ...api.backends,
    bus: { ...api.backends.bus, ping: () => new Promise<void>(() => {}) },
    limits: {
      ...api.backends.limits,
      ping: async () => {
        throw new Error('refused');
      },
    },
  });
  const response = await app.inject('/readyz');
  expect(response.statusCode).toBe(503);
  expect(response.json()).toMatchObject({
    status: 'unavailable',
    checks: { database: 'ok', bus: 'unavailable', limits: 'unavailable' },
  });
  expect((await app.inject('/livez')).statusCode).toBe(200);
  await app.close();
});

test('requests are measured by route, not by path', async () => {
  await api.call('GET', '/v1/agents/agt_some');
  const { text } = await api.call('GET', '/metrics', { key: null });
  expect(text).toContain(
    'http_request_duration_seconds_count{method="GET",route="/v1/agents/:agentId",status="404"} 1',
  );
  expect(text).toContain('capstan_event_streams 0');
  expect(text).toContain('process_cpu_user_seconds_total');
  expect(text).not.toContain('agt_some');
});

test('the document and its page are open', async () => {
  const document = await api.call<{ openapi: string; info: object }>('GET', '/openapi/agents.json', { key: null });
  expect(document.body).toMatchObject({ openapi: '3.1.0', info: { version: VERSION, 'x-api-version': '1.0.0' } });
  expect((await api.call('GET', '/openapi.json', { key: null })).text).toBe(document.text);
  const page = await api.call('GET', '/docs', { key: null });
  expect([page.status, page.headers['content-type']]).toEqual([200, 'text/html; charset=utf-8']);
});
