import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { pino } from 'pino';
import type { HookAnswer } from '../../src/gateway/contract/hooks.ts';
import type { HookCall } from '../../src/gateway/hooks/hook.ts';
import { Hooks } from '../../src/gateway/hooks/hooks.ts';
import { buildGateway } from '../../src/gateway/server.ts';
import { startHttp } from '../../src/platform/http/start.ts';
import { shareGateway } from './harness.ts';

const gateway = shareGateway();
/** What the hook was asked about, and its answer. */
const seen: HookCall[] = [];
let answer: HookAnswer;
let server: { address: string; close(): Promise<void> };

beforeAll(async () => {
  const ask = async (call: HookCall) => {
    seen.push(call);
    return answer;
  };
  const hook = { name: 'guard', timeoutMs: 60_000, failOpen: false, holdStreams: false };
  const hooks = new Hooks([{ ...hook, onRequest: ask, onResponse: ask }], pino({ level: 'silent' }));
  server = await startHttp(buildGateway({ ...gateway.ports, hooks }), { host: '127.0.0.1', port: 0 });
});
afterAll(() => server.close());
beforeEach(() => {
  seen.length = 0;
  answer = { action: 'allow' };
});

const send = (path: string, body: string | FormData, headers: Record<string, string> = {}) =>
  fetch(server.address + path, {
    method: 'POST',
    headers: { authorization: `Bearer ${gateway.key}`, ...headers },
    body,
  });
const post = (path: string, body: object) => send(path, JSON.stringify(body), { 'content-type': 'application/json' });
const readParam = async (response: Response) => {
  const { error } = (await response.json()) as { error: { param: string; message: string } };
  return { status: response.status, param: error.param };
};

function buildForm(fields: Record<string, string>, file: [field: string, text: string]): FormData {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) form.set(name, value);
  form.set(file[0], new Blob([file[1]]), 'file');
  return form;
}

describe('with a hook', () => {
  it.each(['script/demo', 'chat/small'])('the JSON of other endpoints is inspected, of %s', async (model) => {
    gateway.upstream.script(() => ({ body: '{"choices":[{"text":"secret"}]}' }));
    const first = await post('/v1/completions', { model, prompt: 'Hi' });
    expect(first.status).toBe(200);
    expect(seen.map(({ format }) => format)).toEqual(['completion', 'completion']);
    answer = { action: 'refuse', message: 'no' };
    expect((await post('/v1/completions', { model, prompt: 'Hi' })).status).toBe(400);
  });

  it.each(['script/demo', 'chat/small'])('streams of other endpoints are refused by name, of %s', async (model) => {
    const refused = await post('/v1/completions', { model, prompt: 'Hi', stream: true });
    expect(await readParam(refused)).toEqual({ status: 400, param: 'stream' });
    expect(gateway.upstream.requests).toEqual([]);
  });

  it('transcripts in plain text are refused by name', async () => {
    const fields = { model: 'chat/small', response_format: 'srt' };
    const refused = await send('/v1/audio/transcriptions', buildForm(fields, ['file', 'RIFF']));
    expect(await readParam(refused)).toEqual({ status: 400, param: 'response_format' });
    expect(gateway.upstream.requests).toEqual([]);
  });

  it('a text that a provider sends in place of JSON does not arrive', async () => {
    gateway.upstream.script(() => ({ body: 'secret', headers: { 'content-type': 'text/plain' } }));
    const refused = await post('/v1/completions', { model: 'chat/small', prompt: 'Hi' });
    expect(refused.status).toBe(502);
    expect(await refused.text()).not.toContain('secret');
  });

  it('batches that providers run are refused by name', async () => {
    const params = { model: 'anth/small', max_tokens: 5, messages: [{ role: 'user', content: 'Hi' }] };
    const messages = await post('/v1/messages/batches', { requests: [{ custom_id: 'a', params }] });
    expect(messages.status).toBe(400);
    expect(await messages.text()).toContain('requests: ');

    gateway.upstream.script(() => ({ body: '{"id":"file-1"}' }));
    const body = { model: 'chat/small', messages: params.messages };
    const line = JSON.stringify({ custom_id: 'a', method: 'POST', url: '/v1/chat/completions', body });
    const uploaded = await send('/v1/files', buildForm({ purpose: 'batch' }, ['file', line]));
    expect(uploaded.status).toBe(200);
    const batch = { input_file_id: 'file-1', endpoint: '/v1/chat/completions', completion_window: '24h' };
    expect(await readParam(await post('/v1/batches', batch))).toEqual({ status: 400, param: 'input_file_id' });
    expect(gateway.upstream.requests.filter(({ path }) => path.endsWith('/batches'))).toEqual([]);
  });

  it('requests of batches of the built-in models are inspected one by one', async () => {
    const params = { model: 'script/demo', max_tokens: 5, messages: [{ role: 'user', content: 'Hi' }] };
    expect((await post('/v1/messages/batches', { requests: [{ custom_id: 'a', params }] })).status).toBe(200);
    expect(seen.map(({ format }) => format)).toEqual(['messages', 'messages']);
  });
});
