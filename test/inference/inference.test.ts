import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { ProvidersConfig } from '../../src/inference/config.ts';
import { collectReply } from '../../src/inference/collect.ts';
import { openInference } from '../../src/inference/inference.ts';
import type { Inference } from '../../src/inference/model.ts';
import { openLog } from '../../src/platform/log.ts';
import { startModelServer } from '../support/model-server/server.ts';
import type { ModelServer } from '../support/model-server/server.ts';
import { buildRequest } from '../support/upstream.ts';

const log = openLog({ level: 'silent', pretty: false });
const price = { input: 1, output: 2 };
const signal = new AbortController().signal;

let server: ModelServer;
let inference: Inference;

function open(models: Record<string, string[]>) {
  const providers = ProvidersConfig.parse({
    acme: {
      format: 'chat-completions',
      baseUrl: server.url,
      apiKey: 'k',
      headers: { 'x-team': 'blue' },
      models: [
        { id: 'small', contextWindow: 32_000, vision: false, price },
        { id: 'org/large', maxOutputTokens: 4000 },
      ],
    },
    anth: { format: 'messages', baseUrl: server.url, apiKey: 'k' },
    resp: { format: 'responses', baseUrl: server.url },
  });
  return openInference({ providers, models, log, retry: { baseMs: 0 } });
}

beforeAll(async () => {
  server = await startModelServer();
  inference = open({ fast: ['acme/small', 'anth/claude'], both: ['acme/org/large', 'acme/small'] });
});
afterAll(async () => {
  await inference.close();
  await server.close();
});
beforeEach(() => {
  server.requests.length = 0;
  server.script(() => ({}));
});

const ask = (model: string) => collectReply(inference.stream(buildRequest({ model }), signal));

describe('model names', () => {
  it('are those that the providers list, if any', () => {
    expect(inference.findModel('acme/small')).toEqual({
      name: 'acme/small',
      contextWindow: 32_000,
      vision: false,
      price,
    });
    expect(inference.findModel('acme/unknown')).toBeUndefined();
  });

  it('may hold slashes', () => {
    expect(inference.findModel('acme/org/large')).toMatchObject({ name: 'acme/org/large', maxOutputTokens: 4000 });
  });

  it('are any where a provider lists none', () => {
    expect(inference.findModel('anth/claude')).toEqual({ name: 'anth/claude', contextWindow: 128_000, vision: true });
  });

  it('of a list are the common abilities of its models', () => {
    expect(inference.findModel('fast')).toEqual({ name: 'fast', contextWindow: 32_000, vision: false, price });
    expect(inference.findModel('both')).toMatchObject({ contextWindow: 32_000, vision: false, maxOutputTokens: 4000 });
  });

  it.each(['', 'small', 'acme/', '/small', 'nobody/small', 'constructor', '__proto__/x', 'script/other'])(
    'are not %j',
    async (model) => {
      expect(inference.findModel(model)).toBeUndefined();
      await expect(ask(model)).rejects.toMatchObject({ code: 'unknown_model' });
    },
  );

  it('of a list must exist', () => {
    expect(() => open({ fast: ['acme/unknown'] })).toThrow('Model fast names acme/unknown, which no provider has.');
  });
});

describe('a model call', () => {
  it.each([
    ['acme/org/large', '/v1/chat/completions', { authorization: 'Bearer k', 'x-team': 'blue' }],
    ['anth/claude', '/v1/messages', { 'x-api-key': 'k', 'anthropic-version': '2023-06-01' }],
    ['resp/any', '/v1/responses', {}],
  ])('to %s goes out in the format of its provider', async (model, path, headers) => {
    const reply = await ask(model);
    expect(reply).toMatchObject({
      model,
      content: [{ type: 'text', text: 'ok' }],
      finish: 'stop',
      usage: { input: 10, output: 5 },
    });
    expect(server.requests).toMatchObject([
      { path, headers, body: { model: model.slice(model.indexOf('/') + 1), stream: true } },
    ]);
  });

  it('by a list falls back to the next model, and tells which one answered', async () => {
    server.script(({ format }) => (format === 'messages' ? {} : { status: 503, body: '{}' }));
    expect((await ask('fast')).model).toBe('anth/claude');
    expect(server.requests.map((request) => request.format)).toEqual([
      'chat-completions',
      'chat-completions',
      'chat-completions',
      'messages',
    ]);
  });

  it('is made again after a passing failure', async () => {
    server.script((_, number) => (number === 0 ? { status: 500, body: '' } : {}));
    expect((await ask('acme/small')).finish).toBe('stop');
    expect(server.requests).toHaveLength(2);
  });

  it('is not made again when its stream was cut after the first words', async () => {
    server.script(() => ({
      reply: { content: [{ type: 'text', text: 'a b c d e f g h i j k l m n' }] },
      cutAfterBytes: 400,
    }));
    await expect(ask('acme/small')).rejects.toMatchObject({ code: 'upstream', retryable: true });
    expect(server.requests).toHaveLength(1);
  });
});
