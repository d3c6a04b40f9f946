import { Writable } from 'node:stream';
import { pino } from 'pino';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startGateway } from './harness.ts';
import type { TestGateway } from './harness.ts';

const CANARY = 'canary-7f3a91';

let gateway: TestGateway;
let logged = '';

beforeAll(async () => {
  const sink = new Writable({
    write(chunk: Buffer, _encoding, done) {
      logged += chunk.toString();
      done();
    },
  });
  gateway = await startGateway({
    log: pino({ level: 'trace' }, sink),
    models: { cheap: ['paid/small'] },
    providers: (baseUrl) => ({
      paid: {
        format: 'chat-completions',
        baseUrl,
        models: [{ id: 'small', price: { input: 1, output: 10, cacheRead: 0.1 } }],
      },
    }),
    retry: { attempts: 1 },
  });
});
afterAll(() => gateway.close());

type Report = { data: { requests: number; model: string | null; keyId: string | null; day: string | null }[] };

async function report(query: string): Promise<Report['data']> {
  return ((await (await gateway.get(`/v1/usage${query}`)).json()) as Report).data;
}

const usage = { input: 1000, output: 100, cacheRead: 400, cacheWrite: 0, reasoning: 30 };

it('is counted by key, model and day with its cost, streamed or not', async () => {
  gateway.upstream.script(() => ({ reply: { usage } }));
  const said = [{ role: 'user', content: 'Hi' }];
  await (await gateway.post('/v1/chat/completions', { model: 'paid/small', messages: said })).text();
  await (await gateway.post('/v1/messages', { model: 'cheap', max_tokens: 9, messages: said, stream: true })).text();
  await (await gateway.post('/v1/responses', { model: 'chat/any', input: 'Hi' })).text();
  await expect.poll(async () => (await report('?groupBy=model')).reduce((sum, row) => sum + row.requests, 0)).toBe(3);
  const day = new Date().toISOString().slice(0, 10);
  expect(await report('?groupBy=model')).toEqual([
    expect.objectContaining({ model: 'chat/any', keyId: null, day: null, requests: 1, costUsd: 0 }),
    expect.objectContaining({
      model: 'paid/small',
      requests: 2,
      inputTokens: 2000,
      cachedInputTokens: 800,
      outputTokens: 200,
      reasoningTokens: 60,
      costUsd: expect.closeTo((2 * (600 + 400 * 0.1 + 100 * 10)) / 1_000_000, 9),
    }),
  ]);
  expect(await report(`?groupBy=day,key&from=${day}&to=${day}`)).toEqual([
    expect.objectContaining({ model: null, keyId: expect.stringMatching(/^key_/), day, requests: 3 }),
  ]);
  expect(await report('?from=2020-01-01&to=2020-01-02')).toEqual([]);
  expect((await gateway.get('/v1/usage?groupBy=colour')).status).toBe(400);
  expect((await gateway.get('/v1/usage?from=yesterday')).status).toBe(400);
});

it('of an organization is for its own keys only', async () => {
  const { createKey } = await import('../../src/platform/store/keys.ts');
  const { key } = await createKey(gateway.ports.db, { name: 'o', organization: 'other', scopes: ['inference'] });
  expect(await (await gateway.get('/v1/usage', { 'x-api-key': key })).json()).toMatchObject({
    object: 'list',
    data: [],
  });
});

it('is seen by Prometheus, where models that callers make up share a label', async () => {
  const text = await (await gateway.get('/metrics', {})).text();
  expect(text).toContain('capstan_gateway_requests_total{format="messages",model="paid/small",outcome="ok"} 1');
  expect(text).toContain('gen_ai_client_token_usage_total{model="paid/small",type="input"} 2000');
  expect(text).toContain('capstan_gateway_requests_total{format="responses",model="chat/*",outcome="ok"} 1');
  expect(text).toContain('gen_ai_server_time_to_first_token_seconds_count{model="cheap"} 1');
  expect(text).toContain('gen_ai_server_time_per_output_token_seconds_count{model="paid/small"} 1');
});

it('of an aborted or broken stream is the part received so far', async () => {
  const words = { content: [{ type: 'text' as const, text: 'word '.repeat(2000) }] };
  const body = { messages: [{ role: 'user', content: 'x'.repeat(400) }], max_tokens: 9, stream: true };
  gateway.upstream.script(() => ({ reply: words, chunkBytes: 4000, cutAfterBytes: 60_000 }));
  await (await gateway.post('/v1/chat/completions', { model: 'chat/broken', ...body })).text();
  gateway.upstream.script(() => ({ reply: { ...words, usage }, chunkBytes: 4000, gapMs: 50 }));
  const leaving = await gateway.post('/v1/messages', { model: 'anth/left', ...body });
  const reader = leaving.body!.getReader();
  for (let bytes = 0; bytes < 8000;) bytes += (await reader.read()).value?.length ?? 8000;
  await reader.cancel();
  const find = async (model: string) => (await report('?groupBy=model')).find((row) => row.model === model);
  await expect.poll(() => find('anth/left')).toBeDefined();
  await expect.poll(() => find('chat/broken')).toBeDefined();
  // Neither had a count at its end: a quarter of the characters, and for messages the count of its start.
  expect(await find('chat/broken')).toMatchObject({ inputTokens: expect.toSatisfy((n: number) => n > 100 && n < 200) });
  expect(await find('anth/left')).toMatchObject({ inputTokens: 1000, cachedInputTokens: 400 });
  for (const model of ['chat/broken', 'anth/left']) {
    expect(await find(model)).toMatchObject({ outputTokens: expect.toSatisfy((n: number) => n > 5 && n < 2600) });
  }
});

it('ends for the day when the tokens of a key are used up', async () => {
  const small = await startGateway({ tokensPerDay: 20 });
  try {
    const ask = (key: string) =>
      small.post('/v1/responses', { model: 'chat/any', input: 'Hi' }, { authorization: `Bearer ${key}` });
    // Fifteen tokens per call: the second call exceeds the budget, and is the last.
    await expect.poll(async () => (await ask(small.key)).status).toBe(429);
    expect(small.upstream.requests.length).toBeGreaterThanOrEqual(2);
    const refused = await ask(small.key);
    expect(await refused.json()).toMatchObject({ error: { code: 'rate_limit_exceeded' } });
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(3600);
    expect((await ask(await small.makeKey({}))).status).toBe(200);
  } finally {
    await small.close();
  }
});

it('no content appears in the log, the metrics, the errors or the database', async () => {
  const call = {
    type: 'tool_call' as const,
    id: 'call_1',
    name: 'weather',
    arguments: JSON.stringify({ city: CANARY }),
  };
  gateway.upstream.script((_request, number) => {
    if (number === 0) return { reply: { content: [{ type: 'text', text: CANARY }, call] } };
    if (number === 1) return { status: 500, body: JSON.stringify({ error: { message: `cannot ${CANARY}` } }) };
    return { reply: { content: [{ type: 'text', text: CANARY.repeat(500) }] }, cutAfterBytes: 900 };
  });
  const body = { model: 'chat/small', messages: [{ role: 'user', content: CANARY }] };
  expect(await (await gateway.post('/v1/chat/completions', body)).text()).toContain(CANARY);
  const failed = await (await gateway.post('/v1/chat/completions', body)).text();
  await (await gateway.post('/v1/chat/completions', { ...body, stream: true })).text();
  const refused = await (await gateway.post('/v1/chat/completions', { ...body, temperature: CANARY })).text();
  const malformed = await (await gateway.post('/v1/chat/completions', `{"model":"${CANARY}`)).text();
  const metrics = await (await gateway.get('/metrics', {})).text();
  await gateway.stop();
  const { rows } = await gateway.ports.db.query('SELECT row_to_json(u)::text AS text FROM usage_hours u');
  expect(rows.length).toBeGreaterThan(0);
  expect(logged).toContain('model call failed');
  for (const kept of [failed, refused, malformed, metrics, logged, JSON.stringify(rows)])
    expect(kept).not.toContain(CANARY);
});
