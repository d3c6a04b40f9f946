import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { UPSTREAM_FORMATS, UPSTREAMS, readFrames, startGateway } from './harness.ts';
import type { TestGateway } from './harness.ts';

let gateway: TestGateway;

beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.close());
beforeEach(() => gateway.upstream.script(() => ({})));

const hello = (model: string, more: object = {}) => ({ model, messages: [{ role: 'user', content: 'Hi' }], ...more });

type Chunk = { id: string; choices: { delta: { content?: string }; finish_reason: string | null }[]; usage?: unknown };

describe.each(UPSTREAM_FORMATS)('a chat over a %s upstream', (format) => {
  const model = UPSTREAMS[format];

  it('answers whole', async () => {
    gateway.upstream.script(() => ({ reply: { content: [{ type: 'text', text: 'Hello there' }] } }));
    const response = await gateway.post('/v1/chat/completions', hello(model));
    expect(response.status).toBe(200);
    expect(await response.json()).toEqual({
      id: expect.stringMatching(/^chatcmpl-/),
      object: 'chat.completion',
      created: expect.any(Number),
      model,
      choices: [
        {
          index: 0,
          message: { role: 'assistant', content: 'Hello there', refusal: null },
          logprobs: null,
          finish_reason: 'stop',
        },
      ],
      usage: expect.objectContaining({ prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 }),
    });
  });

  it('answers as a stream that ends with [DONE], with usage only where it is asked for', async () => {
    const read = async (more: object) => {
      const response = await gateway.post('/v1/chat/completions', hello(model, { stream: true, ...more }));
      expect(response.headers.get('content-type')).toBe('text/event-stream');
      const frames = readFrames(await response.text());
      expect(frames.at(-1)?.data).toBe('[DONE]');
      return frames.slice(0, -1).map(({ data }) => JSON.parse(data) as Chunk);
    };
    const plain = await read({});
    expect(plain.map((chunk) => chunk.choices[0]?.delta.content ?? '').join('')).toBe('ok');
    expect(plain.at(-1)?.choices[0]?.finish_reason).toBe('stop');
    expect(plain.some((chunk) => chunk.usage !== undefined)).toBe(false);
    expect(new Set(plain.map((chunk) => chunk.id)).size).toBe(1);
    const counted = await read({ stream_options: { include_usage: true } });
    expect(counted.at(-1)).toMatchObject({ choices: [], usage: { total_tokens: 15 } });
  });
});

describe('a request', () => {
  it('is answered by the built-in model without any provider', async () => {
    const response = await gateway.post('/v1/chat/completions', hello('script/demo'));
    expect(await response.json()).toMatchObject({ choices: [{ message: { content: 'You said: Hi' } }] });
  });

  it('carries its id on every answer', async () => {
    const good = await gateway.post('/v1/chat/completions', hello('script/demo'), { 'x-request-id': 'mine-1' });
    expect(good.headers.get('x-request-id')).toBe('mine-1');
    const streamed = await gateway.post('/v1/chat/completions', hello('script/demo', { stream: true }));
    expect(streamed.headers.get('x-request-id')).toMatch(/^req_/);
    await streamed.text();
    expect((await gateway.post('/v1/chat/completions', {})).headers.get('x-request-id')).toMatch(/^req_/);
  });

  it('takes the key as bearer or as x-api-key, and no other', async () => {
    const ask = (headers: Record<string, string>) =>
      fetch(`${gateway.url}/v1/chat/completions`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: JSON.stringify(hello('script/demo')),
      });
    expect((await ask({ authorization: `Bearer ${gateway.key}` })).status).toBe(200);
    expect((await ask({ 'x-api-key': gateway.key })).status).toBe(200);
    for (const headers of [{}, { authorization: 'Bearer cap_wrong' }, { 'x-api-key': 'cap_wrong' }]) {
      const response = await ask(headers);
      expect(response.status).toBe(401);
      expect(await response.json()).toEqual({
        error: {
          message: expect.any(String),
          code: 'invalid_api_key',
          type: 'authentication_error',
          param: null,
        },
      });
    }
    const blunt = await gateway.makeKey({ scopes: ['agents:read'] });
    const forbidden = await ask({ 'x-api-key': blunt });
    expect([forbidden.status, await forbidden.json()]).toMatchObject([403, { error: { code: 'forbidden' } }]);
  });

  it('is limited per key', async () => {
    const key = await gateway.makeKey({ requestsPerMinute: 1 });
    const ask = () => gateway.post('/v1/chat/completions', hello('script/demo'), { authorization: `Bearer ${key}` });
    expect((await ask()).status).toBe(200);
    const limited = await ask();
    expect([limited.status, await limited.json()]).toMatchObject([429, { error: { code: 'rate_limit_exceeded' } }]);
    expect(Number(limited.headers.get('retry-after'))).toBeGreaterThan(0);
  });

  it('is refused where the model is unknown', async () => {
    const response = await gateway.post('/v1/chat/completions', hello('nobody/none'));
    expect([response.status, await response.json()]).toMatchObject([404, { error: { code: 'model_not_found' } }]);
  });

  it.each([
    ['{', 'body: must be valid JSON'],
    ['[]', 'body: must be a JSON object'],
    ['{"messages":[]}', 'model: must be a string'],
    ['{"model":"script/demo"}', 'messages: must be an array'],
    ['{"model":"script/demo","messages":[{"role":"robot"}]}', 'messages[0].role'],
    ['{"model":"script/demo","messages":[{"role":"user","content":"x"}],"temperature":3}', 'temperature'],
    ['{"model":"script/demo","messages":[{"role":"user","content":"x"}],"cache_ttl":"2h"}', 'cache_ttl'],
    [
      '{"model":"script/demo","messages":[{"role":"user","content":"x"}],"reasoning":{"effort":"none"}}',
      'reasoning.effort',
    ],
    ['{"model":"script/demo","messages":[{"role":"tool","tool_call_id":"a","content":"x"}]}', 'has no tool call'],
  ])('%s is answered by 400 that says %s', async (body, message) => {
    const response = await gateway.post('/v1/chat/completions', body);
    const { error } = (await response.json()) as { error: { code: string; message: string } };
    expect([response.status, error.code]).toEqual([400, 'invalid_request']);
    expect(error.message).toContain(message);
  });

  it('needs the right method', async () => {
    const response = await gateway.get('/v1/chat/completions');
    expect([response.status, response.headers.get('allow')]).toEqual([405, 'POST']);
    expect(await response.json()).toMatchObject({ error: { code: 'method_not_allowed' } });
    expect(await (await gateway.get('/v1/nothing')).json()).toMatchObject({ error: { code: 'not_found' } });
  });
});

describe('four mebibytes', () => {
  const LIMIT = 4 * 1024 * 1024;
  const bodyOf = (size: number) => {
    const frame = JSON.stringify(hello('script/demo', { pad: '' }));
    return JSON.stringify(hello('script/demo', { pad: 'x'.repeat(size - frame.length) }));
  };

  it('are taken, and one byte more is not', async () => {
    expect((await gateway.post('/v1/chat/completions', bodyOf(LIMIT))).status).toBe(200);
    const response = await gateway.post('/v1/chat/completions', bodyOf(LIMIT + 1));
    expect([response.status, await response.json()]).toMatchObject([413, { error: { code: 'request_too_large' } }]);
  });

  it('are counted where no length is declared, too', async () => {
    const response = await fetch(`${gateway.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${gateway.key}` },
      body: new Blob([bodyOf(LIMIT + 1)]).stream(),
      duplex: 'half',
    });
    expect(response.status).toBe(413);
  });

  it('cannot be had by compression', async () => {
    const response = await gateway.post('/v1/chat/completions', bodyOf(100), { 'content-encoding': 'gzip' });
    expect(response.status).toBe(400);
  });
});
