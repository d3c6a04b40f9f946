import { createServer } from 'node:http';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Anthropic } from '@anthropic-ai/sdk';
import { OpenAI } from 'openai';
import { pino } from 'pino';
import { Webhook } from 'standardwebhooks';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { HookConfig } from '../../src/gateway/contract/hooks.ts';
import { openHooks } from '../../src/gateway/hooks/hooks.ts';
import { openEgress } from '../../src/platform/egress/egress.ts';
import type { Egress } from '../../src/platform/egress/egress.ts';
import { makeWebhookSecret } from '../../src/platform/webhook-signature.ts';
import { makeScratch } from '../support/scratch.ts';
import { FORMATS, UPSTREAMS, shareGateway } from './harness.ts';
import { buildGateway } from '../../src/gateway/server.ts';
import { startHttp } from '../../src/platform/http/start.ts';

type Seen = { type: string; data: Record<string, unknown> };

const secret = makeWebhookSecret();
const log = pino({ level: 'silent' });
const PATHS = {
  'chat-completions': '/v1/chat/completions',
  messages: '/v1/messages',
  responses: '/v1/responses',
} as const;
let receiver: Server;
let url: string;
let egress: Egress;
const gateway = shareGateway({
  providers: (baseUrl) => ({ same: { format: 'chat-completions', baseUrl, apiKey: 'k', passThrough: true } }),
});
/** The servers of a test. */
const servers: { address: string; close(): Promise<void> }[] = [];
const seen: Seen[] = [];
/** What the receiver answers; undefined: nothing, ever. */
let decide: (message: Seen) => { status?: number; body?: unknown } | undefined;

beforeAll(async () => {
  receiver = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
    const text = Buffer.concat(chunks).toString('utf8');
    const message = new Webhook(secret).verify(text, request.headers as Record<string, string>) as Seen;
    seen.push(message);
    const answer = decide(message);
    if (answer === undefined) return;
    response.writeHead(answer.status ?? 200).end(answer.body === undefined ? '' : JSON.stringify(answer.body));
  });
  receiver.listen(0, '127.0.0.1');
  await once(receiver, 'listening');
  url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/check`;
  egress = openEgress({ allow: ['127.0.0.1/32'] });
});
afterAll(async () => {
  receiver.closeAllConnections();
  receiver.close();
  await egress.close();
});
beforeEach(() => {
  seen.length = 0;
  decide = () => ({ status: 204 });
});
afterEach(async () => void (await Promise.all(servers.splice(0).map((server) => server.close()))));

/** The gateway once more, with a hook. */
async function open(hook: object, guard = egress) {
  const target = 'module' in hook ? {} : { url, secret };
  const config = HookConfig.parse({ name: 'guard', timeoutSeconds: 30, ...target, ...hook });
  const hooks = await openHooks([config], { egress: guard, log });
  const server = await startHttp(buildGateway({ ...gateway.ports, hooks }), { host: '127.0.0.1', port: 0 });
  servers.push(server);
  const post = (path: string, body: object, headers: Record<string, string> = {}) =>
    fetch(server.address + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${gateway.key}`, ...headers },
      body: JSON.stringify(body),
    });
  return { url: server.address, post };
}

function buildBody(format: (typeof FORMATS)[number], text: string, model: string = UPSTREAMS[format]) {
  if (format === 'responses') return { model, input: text };
  return { model, max_tokens: 50, messages: [{ role: 'user', content: text }] };
}

const refuse = { body: { action: 'refuse', message: 'No names, please.' } };

describe.each(FORMATS)('hooks of %s calls', (format) => {
  it('get the signed request, and let it pass', async () => {
    const { post } = await open({ on: ['request', 'response'] });
    const body = buildBody(format, 'Hi');
    expect((await post(PATHS[format], body, { 'x-request-id': `seen-${format}` })).status).toBe(200);
    const about = {
      requestId: `seen-${format}`,
      organizationId: expect.stringMatching(/^org_/),
      format,
      model: UPSTREAMS[format],
    };
    expect(seen.map(({ type }) => type)).toEqual(['gateway.request', 'gateway.response']);
    for (const { data } of seen) expect(data).toMatchObject({ ...about, stream: false, request: body });
    expect(JSON.stringify(seen[1]?.data['response'])).toContain('"ok"');
  });

  it('refuse requests in the shape of the format', async () => {
    const { post } = await open({});
    decide = () => refuse;
    const response = await post(PATHS[format], buildBody(format, 'Hi'));
    const error = { type: 'invalid_request_error', message: 'No names, please.' };
    const code = format === 'messages' ? { details: { hook: 'guard' } } : { code: 'content_policy_violation' };
    expect([response.status, await response.json()]).toMatchObject([400, { error: { ...error, ...code } }]);
    expect(gateway.upstream.requests).toEqual([]);
  });

  it('replace requests and responses', async () => {
    const { post } = await open({ on: ['request', 'response'] });
    decide = ({ type, data }) => {
      const subject = type === 'gateway.request' ? data['request'] : data['response'];
      const body: unknown = JSON.parse(
        JSON.stringify(subject).replaceAll('Ann', '[name]').replaceAll('"ok"', '"fine"'),
      );
      return { body: { action: 'replace', body } };
    };
    const response = await post(PATHS[format], buildBody(format, 'I am Ann'));
    expect(await response.text()).toContain('fine');
    expect(JSON.stringify(gateway.upstream.requests[0]?.body)).toContain('I am [name]');
  });

  it('end a stream with an error in place of its last frames, or hold it back', async () => {
    decide = ({ data }) => (JSON.stringify(data['response']).includes('Ann') ? refuse : {});
    for (const streams of ['end', 'hold']) {
      const { post } = await open({ on: ['response'], streams });
      gateway.upstream.script(() => ({ reply: { content: [{ type: 'text', text: 'It was Ann.' }] } }));
      const response = await post(PATHS[format], { ...buildBody(format, 'Who?'), stream: true });
      const text = await response.text();
      expect(text).toContain('No names, please.');
      expect(text).not.toMatch(/\[DONE\]|message_stop|response\.completed/);
      expect([response.status, text.includes('Ann')]).toEqual(streams === 'end' ? [200, true] : [400, false]);
      gateway.upstream.script(() => ({}));
      const clean = await post(PATHS[format], { ...buildBody(format, 'Hi'), stream: true });
      expect(await clean.text()).toMatch(/\[DONE\]|message_stop|response\.completed/);
    }
  });
});

it('replies that are passed through are inspected too', async () => {
  const { post } = await open({ on: ['request', 'response'] });
  gateway.upstream.script(() => ({ reply: { content: [{ type: 'text', text: 'It was Ann.' }] } }));
  decide = ({ type }) => (type === 'gateway.response' ? refuse : {});
  const body = buildBody('chat-completions', 'Who?', 'same/small');
  expect((await post('/v1/chat/completions', body)).status).toBe(400);
  const streamed = await post('/v1/chat/completions', { ...body, stream: true });
  expect(await streamed.text()).toContain('No names, please.');
  expect(JSON.stringify(seen.at(-1)?.data['response'])).toContain('It was Ann.');
});

it('the official SDKs see a refusal as a bad request, and do not repeat it', async () => {
  const { url: baseURL } = await open({});
  decide = () => refuse;
  const openai = new OpenAI({ baseURL: `${baseURL}/v1`, apiKey: gateway.key });
  const anthropic = new Anthropic({ baseURL, apiKey: gateway.key });
  const messages = [{ role: 'user' as const, content: 'Hi' }];
  const chat = openai.chat.completions.create({ model: 'script/demo', messages });
  await expect(chat).rejects.toMatchObject({ status: 400, code: 'content_policy_violation' });
  const message = anthropic.messages.create({ model: 'script/demo', max_tokens: 5, messages });
  await expect(message).rejects.toMatchObject({ status: 400, message: expect.stringContaining('No names') });
  expect(seen).toHaveLength(2);
});

it('a replacement of a streamed reply counts as a refusal', async () => {
  const { post } = await open({ on: ['response'], streams: 'hold' });
  decide = () => ({ body: { action: 'replace', body: {} } });
  const response = await post('/v1/chat/completions', { ...buildBody('chat-completions', 'Hi'), stream: true });
  expect([response.status, await response.json()]).toMatchObject([
    400,
    { error: { code: 'content_policy_violation' } },
  ]);
});

it('a refused reply has cost its tokens, and is logged as refused', async () => {
  const { url: base, post } = await open({ on: ['response'] });
  decide = () => refuse;
  const headers = { 'x-request-id': 'refused-reply' };
  expect((await post('/v1/chat/completions', buildBody('chat-completions', 'Hi'), headers)).status).toBe(400);
  const read = async () => {
    const response = await fetch(`${base}/v1/requests/refused-reply`, {
      headers: { authorization: `Bearer ${gateway.key}` },
    });
    return response.json();
  };
  await expect.poll(read).toMatchObject({ outcome: 'content_policy_violation', inputTokens: 10, outputTokens: 5 });
});

it('embeddings are inspected', async () => {
  const { post } = await open({});
  decide = () => refuse;
  const response = await post('/v1/embeddings', { model: 'script/embedding', input: 'Ann' });
  expect(response.status).toBe(400);
  expect(seen[0]?.data).toMatchObject({ format: 'embeddings', request: { input: 'Ann' } });
});

const FAILURES = {
  'no answer': () => undefined,
  'status 500': () => ({ status: 500 }),
  nonsense: () => ({ body: { action: 'dance' } }),
  'a replacement without a body': () => ({ body: { action: 'replace' } }),
};
describe.each(Object.entries(FAILURES))('a hook with %s', (_, failure) => {
  it.each([
    [false, 503],
    [true, 200],
  ])('with failOpen %s gives %i', async (failOpen, status) => {
    const { post } = await open({ failOpen, timeoutSeconds: 0.05 });
    decide = failure;
    const response = await post('/v1/chat/completions', buildBody('chat-completions', 'Hi'));
    expect(response.status).toBe(status);
  });
});

it('addresses that are not open to egress are never asked', async () => {
  const closed = openEgress({ allow: [] });
  const { post } = await open({}, closed);
  expect((await post('/v1/chat/completions', buildBody('chat-completions', 'Hi'))).status).toBe(503);
  expect(seen).toEqual([]);
  await closed.close();
});

it('modules run in the process', async () => {
  const path = join(makeScratch('hooks'), 'guard.mjs');
  writeFileSync(
    path,
    `export function onRequest({ request }) {
      if (JSON.stringify(request).includes('secret')) return { action: 'refuse', message: 'Keep it.' };
    }
    export const onResponse = async ({ response }) => ({ action: 'replace', body: { ...response, inspected: true } });`,
  );
  const { post } = await open({ module: path });
  const refused = await post('/v1/chat/completions', buildBody('chat-completions', 'my secret'));
  expect([refused.status, await refused.json()]).toMatchObject([400, { error: { message: 'Keep it.' } }]);
  const passed = await post('/v1/chat/completions', buildBody('chat-completions', 'Hi'));
  expect(await passed.json()).toMatchObject({ object: 'chat.completion', inspected: true });
  const missing = HookConfig.parse({ name: 'x', module: join(path, '../none.mjs') });
  await expect(openHooks([missing], { egress, log })).rejects.toThrow(/gateway.hooks: x: .*cannot be loaded/);
});
