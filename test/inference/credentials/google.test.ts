import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { GoogleGenAI } from '@google/genai';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { callUpstream } from '../../../src/inference/call.ts';
import { collectReply } from '../../../src/inference/collect.ts';
import { authorize } from '../../../src/inference/credentials/authorize.ts';
import type { AssistantPart } from '../../../src/inference/model.ts';
import { openTransport } from '../../../src/inference/transport.ts';
import { startModelServer } from '../../support/model-server/server.ts';
import type { ModelServer } from '../../support/model-server/server.ts';
import { WEATHER_TOOL, buildRequest, buildTarget } from '../../support/upstream.ts';

const transport = openTransport();
let server: ModelServer;
let folder: string;
let tokens = 0;

/** Google's token service, for workload identities. */
const issuer = createServer((request, response) => {
  request.resume();
  tokens += 1;
  response.setHeader('content-type', 'application/json');
  response.end(
    JSON.stringify({
      access_token: `token-${tokens}`,
      expires_in: 3600,
      token_type: 'Bearer',
      issued_token_type: 'urn:ietf:params:oauth:token-type:access_token',
    }),
  );
});

beforeAll(async () => {
  server = await startModelServer();
  folder = await mkdtemp(join(tmpdir(), 'capstan-google-'));
  await writeFile(join(folder, 'subject'), 'subject-token');
  issuer.listen(0, '127.0.0.1');
  await once(issuer, 'listening');
});
afterAll(async () => {
  issuer.close();
  await transport.close();
  await server.close();
  await rm(folder, { recursive: true });
});
beforeEach(() => {
  server.requests.length = 0;
  server.script(() => ({}));
});

const signal = new AbortController().signal;
const buildCredentials = () =>
  JSON.stringify({
    type: 'external_account',
    audience: '//iam.googleapis.com/projects/1/locations/global/workloadIdentityPools/p/providers/q',
    subject_token_type: 'urn:ietf:params:oauth:token-type:jwt',
    token_url: `http://127.0.0.1:${(issuer.address() as AddressInfo).port}/token`,
    credential_source: { file: join(folder, 'subject') },
  });

describe('calls with Google credentials', () => {
  it('have a token, which is obtained once', async () => {
    const google = { project: 'p', location: 'global', credentials: buildCredentials() };
    const baseUrl = `${server.url}/projects/p/locations/global/publishers/google`;
    const target = buildTarget('generate-content', { baseUrl, model: 'gemini-2.5-flash', google });
    for (let call = 0; call < 2; call += 1) await collectReply(callUpstream(transport, target, buildRequest(), signal));
    expect(server.requests.map(({ headers }) => headers.authorization)).toEqual(['Bearer token-1', 'Bearer token-1']);
    expect(server.requests[0]?.path).toMatch(
      /\/publishers\/google\/models\/gemini-2\.5-flash:streamGenerateContent\?alt=sse$/,
    );
  });

  it('fail without them, in plain words', async () => {
    const google = { project: 'p', location: 'global', credentials: '{"type":"external_account"}' };
    const request = { method: 'POST', origin: server.url, path: '/', headers: {} };
    await expect(authorize(buildTarget('generate-content', { google }), request)).rejects.toMatchObject({
      code: 'authentication',
      message: 'The Google credentials of the provider could not be obtained.',
    });
    const guarded = buildTarget('generate-content', { google: { project: 'p', location: 'global' }, isGuarded: true });
    await expect(authorize(guarded, request)).rejects.toMatchObject({ code: 'authentication' });
  });
});

describe("Google's own client", () => {
  const content: AssistantPart[] = [
    { type: 'reasoning', text: 'hm', signature: 'call-0:c2ln', issuer: 'acme/small' },
    { type: 'tool_call', id: 'call_1', name: 'weather', arguments: '{"city":"Ulm"}' },
  ];
  const openClient = () => {
    const baseUrl = new URL(server.url).origin;
    return new GoogleGenAI({ apiKey: 'k', httpOptions: { baseUrl, apiVersion: 'v1' } });
  };
  const ask = { model: 'gemini-2.5-flash', contents: 'Hi' };

  it('reads the stream of the test server as our reader does', async () => {
    server.script(() => ({ reply: { content }, chunkBytes: 50 }));
    const parts = [];
    let usage;
    for await (const chunk of await openClient().models.generateContentStream(ask)) {
      parts.push(...(chunk.candidates?.[0]?.content?.parts ?? []));
      usage = chunk.usageMetadata;
    }
    expect(parts).toMatchObject([
      { text: 'hm', thought: true },
      { functionCall: { id: 'call_1', name: 'weather', args: { city: 'Ulm' } }, thoughtSignature: 'c2ln' },
      { text: '' },
    ]);
    expect(usage?.promptTokenCount).toBe(10);
    const target = buildTarget('generate-content', { baseUrl: server.url, apiKey: 'k', model: ask.model });
    const request = buildRequest({ tools: [WEATHER_TOOL] });
    expect(await collectReply(callUpstream(transport, target, request, signal))).toMatchObject({ content });
    const [theirs, ours] = server.requests;
    expect(ours?.path).toBe(theirs?.path);
    expect(ours?.headers['x-goog-api-key']).toBe(theirs?.headers['x-goog-api-key']);
    expect(ours?.body).toMatchObject(theirs?.body ?? {});
  });

  it('reads a whole reply and an error of the test server', async () => {
    server.script(() => ({ reply: { content: [{ type: 'text', text: 'Grüße 🌍' }] } }));
    expect((await openClient().models.generateContent(ask)).text).toBe('Grüße 🌍');
    const error = { error: { code: 429, status: 'RESOURCE_EXHAUSTED', message: 'x' } };
    server.script(() => ({ status: 429, body: JSON.stringify(error) }));
    await expect(openClient().models.generateContent(ask)).rejects.toMatchObject({ status: 429 });
  });
});
