import { afterAll, beforeAll, expect, test } from 'vitest';
import { matchesPattern } from '../../src/gateway/allowed-models.ts';
import { createKey } from '../../src/platform/store/keys.ts';
import { buildGateway } from '../../src/gateway/server.ts';
import { openInference } from '../../src/inference/inference.ts';
import { openTestBackends } from '../support/backends.ts';
import type { TestBackends } from '../support/backends.ts';

test.each([
  ['acme/small', 'acme/small', true],
  ['acme/small', 'acme/small-2', false],
  ['acme/*', 'acme/', true],
  ['acme/*', 'acme/small', true],
  ['acme/*', 'other/small', false],
  ['*/small', 'acme/small', true],
  ['a*b*c', 'aXbYc', true],
  ['a*b*c', 'abc', true],
  ['a*ba', 'aba', true],
  ['ab*ba', 'aba', false],
  ['*', '', true],
  ['**', 'anything', true],
])('%s and %s: %s', (pattern, text, expected) => {
  expect(matchesPattern(pattern, text)).toBe(expected);
});

let backends: TestBackends;
let app: ReturnType<typeof buildGateway>;
let key: string;
beforeAll(async () => {
  backends = await openTestBackends();
  const inference = openInference({
    providers: {},
    models: { fast: ['script/demo'] },
    log: backends.log,
    retry: { baseMs: 1 },
  });
  app = buildGateway({ ...backends, inference });
  await app.ready();
  ({ key } = await createKey(backends.db, { name: 'k', organization: 'default', models: ['fa*'] }));
});
afterAll(async () => {
  await app.close();
  await backends.close();
});

const headers = () => ({ 'x-api-key': key });
const chat = (model: string) => ({ model, messages: [{ role: 'user', content: 'Hello' }] });

test('a key sees and calls the models of its list only', async () => {
  const list = await app.inject({ url: '/v1/models', headers: headers() });
  expect(list.json<{ data: { id: string }[] }>().data.map(({ id }) => id)).toEqual(['fast']);
  const get = async (name: string) => (await app.inject({ url: `/v1/models/${name}`, headers: headers() })).statusCode;
  expect([await get('fast'), await get('script/demo')]).toEqual([200, 404]);
  const call = async (url: string, payload: object) =>
    (await app.inject({ method: 'POST', url, headers: headers(), payload })).statusCode;
  expect(await call('/v1/chat/completions', chat('fast'))).toBe(200);
  expect(await call('/v1/chat/completions', chat('script/demo'))).toBe(404);
  expect(await call('/v1/responses', { model: 'script/demo', input: 'Hello' })).toBe(404);
  expect(await call('/v1/messages', { ...chat('script/demo'), max_tokens: 10 })).toBe(404);
  expect(await call('/v1/messages/count_tokens', chat('script/demo'))).toBe(404);
  expect(await call('/v1/embeddings', { model: 'script/embed', input: 'Hello' })).toBe(404);
});

test('a key may have a limit of tokens of its own', async () => {
  const made = await createKey(backends.db, { name: 'k', organization: 'default', tokensPerDay: 1 });
  const call = async () => {
    const own = { 'x-api-key': made.key };
    return (await app.inject({ method: 'POST', url: '/v1/chat/completions', headers: own, payload: chat('fast') }))
      .statusCode;
  };
  expect(await call()).toBe(200);
  await expect.poll(call).toBe(429);
});
