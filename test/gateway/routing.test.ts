import { expect, it } from 'vitest';
import { shareGateway } from './harness.ts';

const windows = [
  { id: 'narrow', contextWindow: 1000 },
  { id: 'wide', contextWindow: 100_000 },
];

const gateway = shareGateway({
  retry: { attempts: 1 },
  breaker: { minCalls: 2, openMs: 3_600_000 },
  providers: (url) => ({
    first: { format: 'chat-completions', baseUrl: url, apiKey: 'one', timeoutSeconds: 20 },
    second: { format: 'messages', baseUrl: url, apiKey: 'two', timeoutSeconds: 20 },
    sized: { format: 'chat-completions', baseUrl: url, apiKey: 'k', models: windows },
    keyed: { format: 'chat-completions', baseUrl: url, apiKeys: ['key-a', 'key-b', 'key-c'] },
    same: { format: 'chat-completions', baseUrl: url, passThrough: true, extraHeaders: { 'x-team': 'blue' } },
  }),
  models: {
    pair: ['first/a', 'second/b'],
    wider: ['sized/narrow', 'sized/wide'],
    narrower: ['sized/wide', 'sized/narrow'],
    alias: 'first/a',
    weighted: {
      models: [
        { model: 'first/heavy', weight: 1_000_000 },
        { model: 'first/light', weight: 0.000001 },
      ],
      routing: 'weighted',
    },
    fastest: { models: ['first/slow', 'first/quick'], routing: 'latency' },
    eager: { models: [{ model: 'first/a', retries: 2, timeoutSeconds: 5 }] },
    hasty: { models: [{ model: 'first/a', timeoutSeconds: 0.05 }, 'second/b'] },
    strict: { models: ['first/a', 'second/b'], fallbackOn: ['content_policy'] },
    special: { models: ['same/x'], extraBody: { top_k: 7 }, extraHeaders: { 'x-team': 'red' } },
  },
});

type Answer = { model: string; error: { code: string } };

async function ask(model: string, { key = gateway.key, more = {} }: { key?: string; more?: object } = {}) {
  const body = { model, messages: [{ role: 'user', content: 'Hi' }], ...more };
  const response = await gateway.post('/v1/chat/completions', body, { authorization: `Bearer ${key}` });
  return { status: response.status, body: (await response.json()) as Answer };
}

const listModels = () => gateway.upstream.requests.map(({ body }) => String(body['model']));

it('failures of one organization do not close a model for another, and a single upstream is always tried', async () => {
  const other = await gateway.makeKey({ organization: 'neighbour' });
  gateway.upstream.script(() => ({ status: 500, body: '{}' }));
  for (let count = 0; count < 6; count += 1) expect((await ask('pair')).status).toBe(count < 2 ? 502 : 503);
  for (let count = 0; count < 6; count += 1) expect((await ask('first/only')).status).toBe(502);
  expect(listModels().filter((model) => model === 'only')).toHaveLength(6);
  gateway.upstream.script(() => ({}));
  expect((await ask('pair', { key: other })).status).toBe(200);
  expect((await ask('first/only')).status).toBe(200);
});

it.each([401, 402, 403, 404])('a list continues if the provider itself answers %i', async (status) => {
  gateway.upstream.script(({ body }) => (body['model'] === 'a' ? { status, body: '{"error":{"message":"no"}}' } : {}));
  const key = await gateway.makeKey({ organization: `refused-${status}` });
  expect(await ask('pair', { key })).toMatchObject({ status: 200, body: { model: 'second/b' } });
});

it('a list continues after an overflow only if the next window is larger', async () => {
  const body = JSON.stringify({ error: { code: 'context_length_exceeded', message: 'too long' } });
  gateway.upstream.script((request) => (request.body['model'] === 'narrow' ? { status: 400, body } : {}));
  expect(await ask('wider')).toMatchObject({ status: 200, body: { model: 'sized/wide' } });
  gateway.upstream.script(() => ({ status: 400, body }));
  gateway.upstream.requests.length = 0;
  expect(await ask('narrower')).toMatchObject({ status: 400, body: { error: { code: 'context_length_exceeded' } } });
  expect(listModels()).toEqual(['wide']);
});

it('an invalid request is not sent to the next model', async () => {
  gateway.upstream.script(() => ({ status: 400, body: '{"error":{"message":"bad"}}' }));
  const key = await gateway.makeKey({ organization: 'invalid' });
  expect((await ask('pair', { key })).status).toBe(400);
  expect(listModels()).toEqual(['a']);
});

it('with content_policy a blocked prompt and a blocked reply go to the next model', async () => {
  const key = await gateway.makeKey({ organization: 'blocked' });
  const body = JSON.stringify({ error: { code: 'content_policy_violation', message: 'blocked' } });
  gateway.upstream.script((request) => (request.body['model'] === 'a' ? { status: 400, body } : {}));
  expect(await ask('strict', { key })).toMatchObject({ status: 200, body: { model: 'second/b' } });
  gateway.upstream.script((request) =>
    request.body['model'] === 'a' ? { reply: { content: [], finish: 'content_filter' } } : {},
  );
  expect(await ask('strict', { key })).toMatchObject({ status: 200, body: { model: 'second/b' } });
});

it('keys are used in turn, and a refused one rests', async () => {
  const used = () => gateway.upstream.requests.map(({ headers }) => String(headers['authorization']).slice(7));
  for (let count = 0; count < 3; count += 1) expect((await ask('keyed/x')).status).toBe(200);
  expect(used().sort()).toEqual(['key-a', 'key-b', 'key-c']);
  gateway.upstream.requests.length = 0;
  gateway.upstream.script(({ headers }) =>
    headers['authorization'] === 'Bearer key-b' ? { status: 401, body: '{"error":{"message":"revoked"}}' } : {},
  );
  for (let count = 0; count < 6; count += 1) expect((await ask('keyed/x')).status).toBe(200);
  expect(used().filter((key) => key === 'key-b')).toHaveLength(1);
});

it('weights, latency, retries and aliases decide the upstream', async () => {
  for (let count = 0; count < 5; count += 1) expect((await ask('weighted')).body.model).toBe('first/heavy');
  gateway.upstream.script(({ body }) => ({ delayMs: body['model'] === 'slow' ? 600 : 0 }));
  for (let count = 0; count < 30; count += 1) await ask('fastest');
  const slow = listModels().filter((model) => model === 'slow').length;
  expect(slow).toBeLessThan(15);
  gateway.upstream.requests.length = 0;
  gateway.upstream.script((_, number) => (number < 2 ? { status: 500, body: '{}' } : {}));
  expect((await ask('eager')).status).toBe(200);
  expect(gateway.upstream.requests).toHaveLength(3);
  expect((await ask('alias')).body.model).toBe('first/a');
});

it('a model of a list has a time limit of its own', async () => {
  gateway.upstream.script(({ body }) => (body['model'] === 'a' ? { hang: 'before-headers' } : {}));
  const key = await gateway.makeKey({ organization: 'hasty' });
  expect(await ask('hasty', { key })).toMatchObject({ status: 200, body: { model: 'second/b' } });
  expect(listModels()).toEqual(['a', 'b']);
});

it('a client may send the list itself', async () => {
  gateway.upstream.script(({ body }) => (body['model'] === 'one' ? { status: 503, body: '{}' } : {}));
  const more = { models: ['second/two', 'first/three'] };
  expect((await ask('first/one', { more })).body.model).toBe('second/two');
  expect(listModels()).toEqual(['one', 'two']);
  expect(gateway.upstream.requests[1]?.body).not.toHaveProperty('models');
  const unknown = await ask('first/one', { more: { models: ['nobody/x'] } });
  expect(unknown).toMatchObject({ status: 404, body: { error: { code: 'model_not_found' } } });
  const passed = await ask('same/one', { more: { models: ['same/two'] } });
  expect(passed.status).toBe(200);
  expect(gateway.upstream.requests.at(-1)?.body).not.toHaveProperty('models');
});

it("the upstream's error code and request id reach the client", async () => {
  const error = { code: 'content_policy_violation', type: 'image_error', message: 'blocked' };
  const answer = { status: 400, body: JSON.stringify({ error }), headers: { 'x-request-id': 'req_up_1' } };
  gateway.upstream.script(() => answer);
  const upstream = { status: 400, code: error.code, type: error.type, request_id: 'req_up_1' };
  const said = { model: 'first/x', max_tokens: 5, messages: [{ role: 'user', content: 'Hi' }] };
  const chat = await gateway.post('/v1/chat/completions', said);
  expect(chat.headers.get('x-upstream-request-id')).toBe('req_up_1');
  expect(await chat.json()).toMatchObject({ error: { code: 'invalid_request', upstream } });
  const message = await gateway.post('/v1/messages', said);
  expect(await message.json()).toMatchObject({ error: { type: 'invalid_request_error', details: { upstream } } });
});

it('the configuration adds fields and headers', async () => {
  await ask('special');
  expect(gateway.upstream.requests[0]).toMatchObject({ body: { top_k: 7, model: 'x' }, headers: { 'x-team': 'red' } });
  await ask('same/x');
  expect(gateway.upstream.requests[1]?.headers['x-team']).toBe('blue');
});
