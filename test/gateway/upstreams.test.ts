import { afterAll, beforeAll, expect, it } from 'vitest';
import { startGateway } from './harness.ts';
import type { TestGateway } from './harness.ts';

let gateway: TestGateway;

beforeAll(async () => {
  gateway = await startGateway({
    models: { pair: ['chat/a', 'anth/b'], failing: ['resp/x', 'resp/y'] },
    retry: { attempts: 1 },
    breaker: { minCalls: 2, openMs: 3_600_000 },
  });
});
afterAll(() => gateway.close());

const ask = async (model: string, key?: string) => {
  const body = {
    model,
    messages: [{ role: 'user', content: 'Hi' }],
    ...(key === undefined ? {} : { prompt_cache_key: key }),
  };
  const response = await gateway.post('/v1/chat/completions', body);
  return {
    status: response.status,
    headers: response.headers,
    body: (await response.json()) as Record<string, unknown>,
  };
};

it('a conversation stays with its upstream, and goes to another while that one fails', async () => {
  const seen = new Set<unknown>();
  for (let index = 0; index < 20; index += 1) {
    const [first, again] = [await ask('pair', `key-${index}`), await ask('pair', `key-${index}`)];
    expect(again.body['model']).toBe(first.body['model']);
    seen.add(first.body['model']);
  }
  expect(seen).toEqual(new Set(['anth/b', 'chat/a']));
  expect((await ask('pair')).body['model']).toBe('chat/a');
});

it('the circuit of a list of failing models opens, and callers get a retry-after', async () => {
  gateway.upstream.script(() => ({ status: 500 }));
  for (let count = 0; count < 2; count += 1) expect((await ask('failing')).status).toBe(502);
  const before = gateway.upstream.requests.length;
  const refused = await ask('failing');
  expect(refused).toMatchObject({ status: 503, body: { error: { code: 'upstream_unavailable' } } });
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
  expect(gateway.upstream.requests.length).toBe(before);
  gateway.upstream.script(() => ({}));
  // It does not apply to its neighbours.
  expect((await ask('chat/x')).status).toBe(200);
});

it('a model that refuses to be told how much to reason is not told', async () => {
  const efforts: unknown[] = [];
  for (const model of [
    'chat/gpt-4o',
    'chat/gpt-5',
    'anth/claude-3-5-sonnet-20241022',
    'anth/claude-3-7-sonnet-20250219',
  ]) {
    await (await gateway.post('/v1/responses', { model, input: 'Hi' })).text();
    const body = gateway.upstream.requests.at(-1)?.body;
    efforts.push(body?.['reasoning_effort'] ?? (body?.['thinking'] === undefined ? undefined : 'thinks'));
  }
  expect(efforts).toEqual([undefined, 'high', undefined, 'thinks']);
});

it('retries are a share of the calls: an upstream that fails is not asked twice as often for it', async () => {
  const calls = 60;
  const eager = await startGateway({
    retry: { attempts: 3, baseMs: 0 },
    breaker: { minCalls: Number.MAX_SAFE_INTEGER },
  });
  eager.upstream.script(() => ({ status: 500 }));
  const started = performance.now();
  for (let call = 0; call < calls; call += 1) {
    const body = { model: 'chat/small', messages: [{ role: 'user', content: 'Hi' }] };
    expect((await eager.post('/v1/chat/completions', body)).status).toBe(502);
  }
  // The reserve, a fifth of the calls, and one for each second that the test took; without a budget 120.
  const bound = 10 + calls / 5 + (performance.now() - started) / 1000;
  const retries = eager.upstream.requests.length - calls;
  expect(retries).toBeGreaterThanOrEqual(10);
  expect(retries).toBeLessThanOrEqual(Math.ceil(bound));
  await eager.close();
});
