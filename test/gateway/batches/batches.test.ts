import { once } from 'node:events';
import { createServer } from 'node:http';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import Anthropic from '@anthropic-ai/sdk';
import OpenAI, { toFile } from 'openai';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startGateway } from '../harness.ts';
import type { TestGateway } from '../harness.ts';

let provider: Server;
let gateway: TestGateway;
let openai: OpenAI;
let anthropic: Anthropic;
const seen: { method: string; path: string; body: string }[] = [];

const file = { id: 'file-up', object: 'file', bytes: 3, created_at: 1, filename: 'a.jsonl', purpose: 'batch' };
const messageBatch = {
  id: 'msgbatch_up',
  type: 'message_batch',
  processing_status: 'ended',
  results_url: 'https://provider.example/v1/messages/batches/msgbatch_up/results',
};
const ANSWERS: Record<string, unknown> = {
  'POST /v1/files': file,
  'GET /v1/files/file-up': file,
  'POST /v1/batches': { id: 'batch_up', object: 'batch', status: 'validating', input_file_id: 'file-up' },
  'GET /v1/batches/batch_up': { id: 'batch_up', object: 'batch', status: 'completed', output_file_id: 'file-out' },
  'POST /v1/messages/batches': messageBatch,
  'GET /v1/messages/batches/msgbatch_up': messageBatch,
};

beforeAll(async () => {
  provider = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
    const [path = '', method = ''] = [request.url, request.method];
    seen.push({ method, path, body: Buffer.concat(chunks).toString('latin1') });
    if (path === '/v1/files/file-up/content') return void response.end(`${buildLine('small', 'one')}\n`);
    if (path.endsWith('/content')) return void response.end('{"custom_id":"a"}\n');
    if (path.endsWith('/results')) {
      return void response.end('{"custom_id":"a","result":{"type":"canceled"}}\n');
    }
    const answer = ANSWERS[`${method} ${path}`];
    response.writeHead(answer === undefined ? 404 : 200, { 'content-type': 'application/json' });
    response.end(JSON.stringify(answer ?? { error: { message: 'no such route' } }));
  });
  provider.listen(0, '127.0.0.1');
  await once(provider, 'listening');
  const baseUrl = `http://127.0.0.1:${(provider.address() as AddressInfo).port}/v1`;
  gateway = await startGateway({
    providers: () => ({
      batch: { format: 'chat-completions', baseUrl, apiKey: 'k' },
      claude: { format: 'messages', baseUrl, apiKey: 'k' },
    }),
  });
  openai = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: gateway.key, maxRetries: 0 });
  anthropic = new Anthropic({ baseURL: gateway.url, apiKey: gateway.key, maxRetries: 0 });
});
afterAll(async () => {
  await gateway.close();
  provider.closeAllConnections();
  provider.close();
});

const buildLine = (model: string, text: string) =>
  JSON.stringify({
    custom_id: text,
    method: 'POST',
    url: '/v1/chat/completions',
    body: { model, messages: [{ role: 'user', content: text }] },
  });

async function upload(model: string) {
  const lines = `${buildLine(model, 'one')}\n${buildLine(model, 'two')}\n`;
  return openai.files.create({ file: await toFile(Buffer.from(lines), 'a.jsonl'), purpose: 'batch' });
}

const endpoint = '/v1/chat/completions' as const;

it('a batch of script models runs without a key', async () => {
  const { id } = await upload('script/demo');
  const batch = await openai.batches.create({ input_file_id: id, endpoint, completion_window: '24h' });
  expect(batch).toMatchObject({ status: 'completed', request_counts: { total: 2, completed: 2, failed: 0 } });
  const text = await (await openai.files.content(batch.output_file_id ?? '')).text();
  const lines = text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { custom_id: string; response: { status_code: number } });
  expect(lines).toMatchObject([
    { custom_id: 'one', response: { status_code: 200, body: { object: 'chat.completion' } } },
    { custom_id: 'two' },
  ]);
  expect((await openai.batches.retrieve(batch.id)).status).toBe('completed');
  expect((await openai.batches.list()).data.map((each) => each.id)).toContain(batch.id);
  expect((await openai.files.list()).data.map((each) => each.id)).toContain(id);
  await openai.files.delete(id);
  await expect(openai.files.retrieve(id)).rejects.toMatchObject({ status: 404, code: 'not_found' });
});

it("a batch goes to the provider of its models, under the provider's names, and is the organization's alone", async () => {
  const { id } = await upload('batch/small');
  expect(seen.at(-1)?.body).toContain('"model":"small"');
  const batch = await openai.batches.create({ input_file_id: id, endpoint, completion_window: '24h' });
  expect((await openai.batches.retrieve(batch.id)).output_file_id).toBe('file-out');
  expect(await (await openai.files.content('file-out')).text()).toContain('custom_id');
  const other = new OpenAI({
    baseURL: `${gateway.url}/v1`,
    apiKey: await gateway.makeKey({ organization: 'other' }),
    maxRetries: 0,
  });
  await expect(other.files.retrieve(id)).rejects.toMatchObject({ status: 404 });
  await expect(other.batches.retrieve(batch.id)).rejects.toMatchObject({ status: 404 });
  expect((await other.files.list()).data).toEqual([]);
});

it('a key may not run a file of another key with models that it may not use', async () => {
  const { id } = await upload('batch/small');
  const start = async (models: string[]) => {
    const apiKey = await gateway.makeKey({ models });
    const limited = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey, maxRetries: 0 });
    return limited.batches.create({ input_file_id: id, endpoint, completion_window: '24h' });
  };
  expect(await start(['batch/*'])).toMatchObject({ id: 'batch_up' });
  const sent = seen.filter(({ method, path }) => method === 'POST' && path === '/v1/batches').length;
  await expect(start(['batch/large'])).rejects.toMatchObject({ status: 404, code: 'model_not_found' });
  expect(seen.filter(({ method, path }) => method === 'POST' && path === '/v1/batches')).toHaveLength(sent);
});

it('models of two providers, and providers without batches, are refused', async () => {
  const lines = `${buildLine('batch/a', 'one')}\n${buildLine('script/demo', 'two')}\n`;
  const mixed = { file: await toFile(Buffer.from(lines), 'a.jsonl'), purpose: 'batch' as const };
  await expect(openai.files.create(mixed)).rejects.toMatchObject({ status: 400, code: 'invalid_request' });
  await expect(upload('claude/x')).rejects.toMatchObject({ status: 400 });
  await expect(upload('nobody/x')).rejects.toMatchObject({ status: 404, code: 'model_not_found' });
});

const buildRequests = (model: string) => [
  { custom_id: 'a', params: { model, max_tokens: 50, messages: [{ role: 'user' as const, content: 'Hi' }] } },
];

it('message batches work with the SDK, for script models and for providers', async () => {
  const batch = await anthropic.messages.batches.create({ requests: buildRequests('script/demo') });
  expect(batch).toMatchObject({ processing_status: 'ended', request_counts: { succeeded: 1, errored: 0 } });
  expect(batch.results_url).toBe(`${gateway.url}/v1/messages/batches/${batch.id}/results`);
  const results = [];
  for await (const result of await anthropic.messages.batches.results(batch.id)) results.push(result);
  expect(results).toMatchObject([{ custom_id: 'a', result: { type: 'succeeded', message: { role: 'assistant' } } }]);
  const passed = await anthropic.messages.batches.create({ requests: buildRequests('claude/opus') });
  expect(JSON.parse(seen.at(-1)?.body ?? '')).toMatchObject({ requests: [{ params: { model: 'opus' } }] });
  expect(passed.results_url).toContain(gateway.url);
  expect((await anthropic.messages.batches.list()).data.map(({ id }) => id)).toContain(passed.id);
  const told = [];
  for await (const result of await anthropic.messages.batches.results(passed.id)) told.push(result.result.type);
  expect(told).toEqual(['canceled']);
  await anthropic.messages.batches.delete(batch.id);
  await expect(anthropic.messages.batches.retrieve(batch.id)).rejects.toMatchObject({ status: 404 });
});

it('a batch of script models has whole results, whatever its requests ask for', async () => {
  const body = { model: 'script/demo', stream: true, messages: [{ role: 'user', content: 'Hi' }] };
  const line = JSON.stringify({ custom_id: 'a', method: 'POST', url: endpoint, body });
  const uploaded = await openai.files.create({ file: await toFile(Buffer.from(line), 'a.jsonl'), purpose: 'batch' });
  const batch = await openai.batches.create({ input_file_id: uploaded.id, endpoint, completion_window: '24h' });
  expect(batch.request_counts).toEqual({ total: 1, completed: 1, failed: 0 });
});

it('the ids in a batch of messages are unique', async () => {
  const twice = [...buildRequests('script/demo'), ...buildRequests('script/demo')];
  await expect(anthropic.messages.batches.create({ requests: twice })).rejects.toMatchObject({ status: 400 });
});

it('lists are paged with the SDKs, in both directions, also past what was deleted meanwhile', async () => {
  const key = await gateway.makeKey({ organization: 'lists' });
  const own = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: key, maxRetries: 0 });
  const ids: string[] = [];
  for (const purpose of ['vision', 'user_data', 'vision', 'vision', 'user_data'] as const) {
    ids.unshift((await own.files.create({ file: await toFile(Buffer.from('x'), 'a.txt'), purpose })).id);
  }
  const visions = [];
  for await (const { id } of own.files.list({ purpose: 'vision', limit: 1 })) visions.push(id);
  expect(visions).toEqual([ids[1], ids[2], ids[4]]);
  const removed = [];
  for await (const { id } of own.files.list({ limit: 2 })) {
    removed.push(id);
    await own.files.delete(id);
  }
  expect(removed).toEqual(ids);
  expect((await own.files.list()).data).toEqual([]);
  const other = new Anthropic({ baseURL: gateway.url, apiKey: key, maxRetries: 0 });
  const batches: string[] = [];
  for (let count = 0; count < 4; count += 1) {
    batches.unshift((await other.messages.batches.create({ requests: buildRequests('script/demo') })).id);
  }
  const newer = [];
  const last = batches.at(-1) ?? '';
  for await (const { id } of other.messages.batches.list({ before_id: last, limit: 2 })) newer.push(id);
  expect(newer.toSorted()).toEqual(batches.slice(0, 3).toSorted());
});

it.each([
  'limit=0',
  'limit=-1',
  'limit=x',
  'limit=1.5',
  'limit=1&limit=2',
  'after=nobody',
  'after=a%00',
  'after_id=x&after=x',
])('a list refuses %s', async (query) => {
  for (const path of ['files', 'batches', 'messages/batches']) {
    expect((await gateway.get(`/v1/${path}?${query}`)).status).toBe(400);
  }
});

it('what others have written is no page of this server', async () => {
  const { id } = await upload('script/demo');
  const { headers } = await gateway.get(`/v1/files/${id}/content`);
  expect(headers.get('content-security-policy')).toContain('sandbox');
  expect(headers.get('x-content-type-options')).toBe('nosniff');
});
