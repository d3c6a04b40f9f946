import { afterAll, beforeAll, expect, test } from 'vitest';
import { LimitsUnavailableError } from '../../../src/platform/limits/limits.ts';
import { openLocalAllowance } from '../../../src/platform/http/local-allowance.ts';
import { buildServer } from '../../../src/agents/api/server.ts';
import type { ApiKeyCreated } from '../../../src/platform/contract/keys.ts';
import { openApi } from '../../agents/api/harness.ts';
import type { Api } from '../../agents/api/harness.ts';

let api: Api;
beforeAll(async () => {
  api = await openApi();
});
afterAll(() => api.close());

test('without the counters reads go on within the limit of their key, and writes are 503', async () => {
  const made = await api.call<ApiKeyCreated>('POST', '/v1/api-keys', { body: { name: 'few', requestsPerMinute: 3 } });
  const { key } = made.body;
  let calls = 0;
  const limits = {
    ...api.backends.limits,
    take: async () => {
      calls += 1;
      throw new LimitsUnavailableError('refused');
    },
  };
  const app = buildServer({ ...api.backends, limits });
  const call = (method: 'GET' | 'HEAD' | 'POST') =>
    app.inject({
      method,
      url: '/v1/agents',
      headers: { 'x-api-key': key },
      ...(method === 'POST' ? { payload: {} } : {}),
    });
  const write = await call('POST');
  expect([write.statusCode, write.headers['retry-after']]).toEqual([503, '1']);
  const reads = [await call('GET'), await call('HEAD'), await call('GET'), await call('GET')];
  expect(reads.map(({ statusCode }) => statusCode)).toEqual([200, 200, 200, 429]);
  expect(reads[0]?.headers).toMatchObject({ 'ratelimit-limit': '3', 'ratelimit-remaining': '2' });
  // A hanging counter must not slow down every read.
  expect(calls).toBeLessThan(5);
  await app.close();
});

test('a local allowance opens a new window after its period', () => {
  let now = 0;
  const local = openLocalAllowance(1000, () => now);
  expect([local.take('a', 1), local.take('a', 1), local.take('b', 1)]).toMatchObject([
    { allowed: true, remaining: 0, resetMs: 1000 },
    { allowed: false },
    { allowed: true },
  ]);
  now = 1000;
  expect(local.take('a', 1)).toMatchObject({ allowed: true });
});
