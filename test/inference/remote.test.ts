import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { collectReply } from '../../src/inference/collect.ts';
import type { Inference, ModelReply, ModelRequest } from '../../src/inference/model.ts';
import { openRemoteInference } from '../../src/inference/remote.ts';
import { startGateway } from '../gateway/harness.ts';
import type { TestGateway } from '../gateway/harness.ts';
import { WEATHER_TOOL, buildRequest } from '../support/upstream.ts';

const price = { input: 1, output: 10, cacheRead: 0.1 };
const usage = { input: 50, output: 20, cacheRead: 30, cacheWrite: 0, reasoning: 0 };

let gateway: TestGateway;
let inference: Inference;
const open = (baseUrl: string, apiKey: string, refreshMs?: number) =>
  openRemoteInference({
    baseUrl,
    apiKey,
    log: gateway.ports.log,
    retry: { baseMs: 1 },
    ...(refreshMs === undefined ? {} : { refreshMs }),
  });

beforeAll(async () => {
  gateway = await startGateway({
    models: { fast: ['listed/big', 'anth/small'] },
    providers: (baseUrl) => ({
      listed: {
        format: 'chat-completions',
        baseUrl,
        models: [{ id: 'big', contextWindow: 9000, maxOutputTokens: 700, vision: false, price }],
      },
    }),
    retry: { attempts: 1 },
  });
  inference = await open(`${gateway.url}/v1`, gateway.key);
});
afterAll(async () => {
  await inference.close();
  await gateway.close();
});
beforeEach(() => {
  gateway.upstream.requests.length = 0;
  gateway.upstream.script(() => ({}));
});

const signal = new AbortController().signal;
const ask = (request: Partial<ModelRequest>): Promise<ModelReply> =>
  collectReply(inference.stream(buildRequest(request), signal));

describe('known facts about models', () => {
  it('is the gateway’s list, including prices', () => {
    expect(inference.findModel('listed/big')).toEqual({
      name: 'listed/big',
      contextWindow: 9000,
      maxOutputTokens: 700,
      vision: false,
      price,
    });
    expect(inference.findModel('fast')).toMatchObject({ name: 'fast', vision: false });
  });

  it('is guessed of those that a provider may have, and of no others', () => {
    expect(inference.findModel('chat/any')).toEqual({ name: 'chat/any', contextWindow: 128_000, vision: true });
    expect(inference.findModel('nobody')).toBeUndefined();
  });

  it('is learned later where the gateway could not be reached at first', async () => {
    let up = false;
    const { createServer, request } = await import('node:http');
    const door = createServer((incoming, response) => {
      if (!up) return void incoming.socket.destroy();
      const out = request(
        gateway.url + incoming.url,
        { method: incoming.method, headers: incoming.headers },
        (answer) => {
          response.writeHead(answer.statusCode ?? 500, answer.headers);
          answer.pipe(response);
        },
      );
      incoming.pipe(out);
    });
    await new Promise<void>((resolve) => void door.listen(0, '127.0.0.1', resolve));
    const { port } = door.address() as { port: number };
    const late = await open(`http://127.0.0.1:${port}/v1`, gateway.key, 20);
    expect(late.findModel('fast')).toMatchObject({ contextWindow: 128_000 });
    up = true;
    await expect.poll(() => late.findModel('fast')?.contextWindow).toBe(9000);
    await late.close();
    door.closeAllConnections();
    door.close();
  });
});

describe.each([
  ['chat-completions', 'chat/small'],
  ['messages', 'anth/small'],
  ['responses', 'resp/small'],
])('a conversation over the gateway to an upstream of %s', (format, model) => {
  it('has text, calls, reasoning and usage, and its reasoning goes back to the upstream as it came', async () => {
    gateway.upstream.script(() => ({
      reply: {
        content: [
          {
            type: 'reasoning',
            text: 'let me see',
            ...(format === 'messages' ? { signature: 'sig-1' } : format === 'responses' ? { encrypted: 'enc-1' } : {}),
          },
          { type: 'text', text: 'Looking.' },
          { type: 'tool_call', id: 'call_1', name: 'weather', arguments: '{"city":"Bonn"}' },
        ],
        finish: 'tool_calls',
        usage,
      },
    }));
    const first = await ask({ model, tools: [WEATHER_TOOL], reasoning: { effort: 'low' } });
    expect(first).toMatchObject({ model, finish: 'tool_calls', usage: { input: 50, output: 20 } });
    expect(first.content.filter(({ type }) => type !== 'reasoning')).toMatchObject([
      { type: 'text', text: 'Looking.' },
      { type: 'tool_call', name: 'weather', arguments: '{"city":"Bonn"}' },
    ]);
    expect(first.content[0]).toMatchObject({ type: 'reasoning', text: 'let me see', issuer: model });

    const { id } = first.content.find((part) => part.type === 'tool_call')!;
    const result = { callId: id, content: [{ type: 'text' as const, text: '12 degrees' }], isError: false };
    await ask({
      model,
      tools: [WEATHER_TOOL],
      reasoning: { effort: 'low' },
      messages: [
        { role: 'user', content: [{ type: 'text', text: 'Weather in Bonn?' }] },
        { role: 'assistant', content: first.content },
        { role: 'tool', results: [result] },
      ],
    });
    const sent = JSON.stringify(gateway.upstream.requests.at(-1)?.body);
    expect(sent).toContain('12 degrees');
    expect(sent).toContain(
      {
        'chat-completions': '"reasoning_content":"let me see"',
        messages: '"signature":"sig-1"',
        responses: '"encrypted_content":"enc-1"',
      }[format],
    );
    expect(sent).not.toContain('cap1_');
  });
});

it('says which model of a list has answered', async () => {
  gateway.upstream.script(({ format }) => (format === 'chat-completions' ? { status: 500 } : {}));
  expect(await ask({ model: 'fast' })).toMatchObject({ model: 'anth/small', content: [{ type: 'text', text: 'ok' }] });
});

it('no effort of reasoning is asked for where the caller named none', async () => {
  await ask({ model: 'chat/small' });
  expect(gateway.upstream.requests[0]?.body).not.toHaveProperty('reasoning_effort');
});

it('tells faults apart as if the upstream had been asked itself', async () => {
  const faults: Record<string, unknown> = {};
  for (const status of [400, 401, 429, 500, 503]) {
    gateway.upstream.script(() => ({ status, body: JSON.stringify({ error: { message: 'no' } }) }));
    await ask({ model: 'chat/small' }).catch((error: { code: string }) => {
      faults[status] = error.code;
    });
  }
  expect(faults).toEqual({
    400: 'invalid_request',
    401: 'authentication',
    429: 'rate_limited',
    500: 'upstream',
    503: 'unavailable',
  });
  await expect(ask({ model: 'nobody/x' })).rejects.toMatchObject({ code: 'unknown_model' });
});

it('an abort reaches the upstream', async () => {
  gateway.upstream.script(() => ({ hang: 'before-headers' }));
  const controller = new AbortController();
  const reply = collectReply(inference.stream(buildRequest({ model: 'chat/small' }), controller.signal));
  await expect.poll(() => gateway.upstream.requests.length).toBe(1);
  controller.abort(new Error('enough'));
  await expect(reply).rejects.toThrow('enough');
  await gateway.upstream.requests[0]?.abandoned;
});
