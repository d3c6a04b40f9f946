import { createHash, createHmac } from 'node:crypto';
import { BedrockRuntimeClient, ConverseCommand, ConverseStreamCommand } from '@aws-sdk/client-bedrock-runtime';
import { NodeHttpHandler } from '@smithy/node-http-handler';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { authorize } from '../../../src/inference/credentials/authorize.ts';
import { callUpstream } from '../../../src/inference/call.ts';
import { collectReply } from '../../../src/inference/collect.ts';
import { openTransport } from '../../../src/inference/transport.ts';
import type { AssistantPart } from '../../../src/inference/model.ts';
import { startModelServer } from '../../support/model-server/server.ts';
import type { ModelServer, RecordedRequest } from '../../support/model-server/server.ts';
import { WEATHER_TOOL, buildRequest, buildTarget } from '../../support/upstream.ts';

const MODEL = 'us.anthropic.claude-sonnet-4-5-20250929-v1:0';
const credentials = { accessKeyId: 'AKIDEXAMPLE', secretAccessKey: 'secret/key', sessionToken: 'session' };
const transport = openTransport();
let server: ModelServer;
let official: BedrockRuntimeClient;

beforeAll(async () => {
  server = await startModelServer();
  official = new BedrockRuntimeClient({
    region: 'eu-west-1',
    endpoint: server.url,
    credentials,
    maxAttempts: 1,
    // Its own choice is HTTP/2.
    requestHandler: new NodeHttpHandler(),
  });
});
afterAll(async () => {
  official.destroy();
  await transport.close();
  await server.close();
});
beforeEach(() => {
  server.requests.length = 0;
  server.script(() => ({}));
});

const target = () =>
  buildTarget('converse', { baseUrl: server.url, model: MODEL, aws: { region: 'eu-west-1', ...credentials } });
const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
const hmac = (key: string | Buffer, text: string) => createHmac('sha256', key).update(text).digest();

/** The signature that AWS would compute for a received request. */
function sign({ path, headers, rawBody }: RecordedRequest): string {
  const { authorization = '', 'x-amz-date': date = '' } = headers as Record<string, string>;
  const names = /SignedHeaders=([^,]+)/.exec(authorization)?.[1] ?? '';
  const canonical = [
    'POST',
    path.split('/').map(encodeURIComponent).join('/'),
    '',
    ...names.split(';').map((name) => `${name}:${String(headers[name])}`),
    '',
    names,
    sha256(rawBody),
  ].join('\n');
  const scope = `${date.slice(0, 8)}/eu-west-1/bedrock/aws4_request`;
  const key = ['eu-west-1', 'bedrock', 'aws4_request'].reduce<Buffer>(
    hmac,
    hmac(`AWS4${credentials.secretAccessKey}`, date.slice(0, 8)),
  );
  return hmac(key, ['AWS4-HMAC-SHA256', date, scope, sha256(canonical)].join('\n')).toString('hex');
}

const content: AssistantPart[] = [
  { type: 'reasoning', text: 'hm', signature: 'c2ln', issuer: 'acme/small' },
  { type: 'text', text: 'Grüße 🌍 from here' },
  { type: 'tool_call', id: 'call_1', name: 'weather', arguments: '{"city":"Ulm"}' },
];

describe('calls signed with AWS credentials', () => {
  it('have the path and a signature that AWS computes as well', async () => {
    await collectReply(callUpstream(transport, target(), buildRequest(), new AbortController().signal));
    const messages = [{ role: 'user' as const, content: [{ text: 'Hi' }] }];
    const { stream } = await official.send(new ConverseStreamCommand({ modelId: MODEL, messages }));
    for await (const _ of stream ?? []);
    const [ours, theirs] = server.requests;
    expect(ours?.path).toBe(theirs?.path);
    expect(ours?.body).toMatchObject({ messages });
    for (const request of [ours, theirs]) {
      expect(request?.headers.authorization).toContain(`Signature=${request && sign(request)}`);
      expect(request?.headers['x-amz-security-token']).toBe('session');
    }
  });

  it('use an API key instead, if there is one', async () => {
    const keyed = { ...target(), apiKey: 'bedrock-api-key' };
    await collectReply(callUpstream(transport, keyed, buildRequest(), new AbortController().signal));
    expect(server.requests[0]?.headers.authorization).toBe('Bearer bedrock-api-key');
  });

  it('never use the credentials of this machine for a provider of an organization', async () => {
    const guarded = { ...target(), isGuarded: true, aws: { region: 'eu-west-1' } };
    const request = { method: 'POST', origin: server.url, path: '/', headers: {} };
    await expect(authorize(guarded, request)).rejects.toMatchObject({ code: 'authentication' });
  });
});

describe("AWS's own client", () => {
  const input = {
    modelId: MODEL,
    messages: [{ role: 'user' as const, content: [{ text: 'Hi' }] }],
    toolConfig: {
      tools: [{ toolSpec: { name: 'weather', inputSchema: { json: { type: 'object', properties: {} } } } }],
    },
  };

  it('reads the stream of the test server as our reader does', async () => {
    server.script(() => ({ reply: { content }, chunkBytes: 50 }));
    const { stream } = await official.send(new ConverseStreamCommand(input));
    const events = [];
    for await (const event of stream ?? []) events.push(event);
    const deltas = events.map((event) => event.contentBlockDelta?.delta);
    const join = (read: (delta: (typeof deltas)[number]) => string | undefined) =>
      deltas.map((delta) => read(delta) ?? '').join('');
    expect([
      join((delta) => delta?.text),
      join((delta) => delta?.reasoningContent?.text),
      join((delta) => delta?.reasoningContent?.signature),
      join((delta) => delta?.toolUse?.input),
    ]).toEqual(['Grüße 🌍 from here', 'hm', 'c2ln', '{"city":"Ulm"}']);
    expect(events.at(-2)?.messageStop?.stopReason).toBe('tool_use');
    expect(events.at(-1)?.metadata?.usage?.totalTokens).toBe(15);
    const request = buildRequest({ tools: [WEATHER_TOOL] });
    const reply = await collectReply(callUpstream(transport, target(), request, new AbortController().signal));
    expect(reply).toMatchObject({ content, finish: 'tool_calls' });
  });

  it('reads a whole reply and an error of the test server', async () => {
    server.script(() => ({ reply: { content } }));
    const { output, stopReason } = await official.send(new ConverseCommand(input));
    expect([output?.message?.content?.[1]?.text, stopReason]).toEqual(['Grüße 🌍 from here', 'tool_use']);
    const headers = { 'x-amzn-errortype': 'ThrottlingException:http://internal/' };
    server.script(() => ({ status: 429, headers, body: '{"message":"Too many requests"}' }));
    await expect(official.send(new ConverseCommand(input))).rejects.toMatchObject({ name: 'ThrottlingException' });
    const call = callUpstream(transport, target(), buildRequest(), new AbortController().signal);
    await expect(collectReply(call)).rejects.toMatchObject({
      code: 'rate_limited',
      upstream: { type: 'ThrottlingException' },
    });
  });
});
