import { afterAll, beforeAll, expect, it } from 'vitest';
import { FORMATS, UPSTREAMS, startGateway } from './harness.ts';
import type { TestGateway } from './harness.ts';

const LIMIT = 20_000;
let gateway: TestGateway;

beforeAll(async () => {
  gateway = await startGateway({ maxBytesInFlight: LIMIT });
});
afterAll(async () => {
  await gateway.close();
});

const PATHS = { 'chat-completions': 'chat/completions', messages: 'messages', responses: 'responses' } as const;

function post(format: (typeof FORMATS)[number], characters: number, stream = false): Promise<Response> {
  const said = [{ role: 'user', content: 'x'.repeat(characters) }];
  const body = { model: UPSTREAMS[format], stream, ...(format === 'responses' ? { input: said } : { messages: said }) };
  return gateway.post(`/v1/${PATHS[format]}`, { ...body, ...(format === 'messages' ? { max_tokens: 10 } : {}) });
}

it.each(FORMATS)(
  'large %s requests beyond the room are told to come again, and have it once others left',
  async (format) => {
    const go = Promise.withResolvers<void>();
    gateway.upstream.requests.length = 0;
    gateway.upstream.script(async () => {
      await go.promise;
      return {};
    });
    const first = post(format, LIMIT - 1000, true);
    await expect.poll(() => gateway.upstream.requests.length).toBe(1);
    const refused = await post(format, 2000);
    expect(refused.status).toBe(503);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(JSON.stringify(await refused.json())).toContain('Too many large requests');
    const small = post(format, 100);
    await expect.poll(() => gateway.upstream.requests.length).toBe(2);
    go.resolve();
    for (const answer of [await first, await small]) {
      expect(answer.status).toBe(200);
      await answer.text();
    }
    await expect.poll(async () => (await post(format, LIMIT - 1000)).status).toBe(200);
  },
);

it('a single request is always admitted, and a rejected one reserves no memory', async () => {
  gateway.upstream.script(() => ({}));
  expect((await post('messages', 2 * LIMIT)).status).toBe(200);
  for (let count = 0; count < 3; count += 1) {
    const wrong = await gateway.post('/v1/chat/completions', { model: 'chat/small', messages: 'x'.repeat(LIMIT) });
    expect(wrong.status).toBe(400);
  }
  expect((await post('responses', LIMIT - 1000)).status).toBe(200);
});
