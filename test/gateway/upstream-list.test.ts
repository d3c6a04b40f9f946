import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { Upstream } from '../../src/gateway/contract/upstreams.ts';
import { buildGateway } from '../../src/gateway/server.ts';
import { openLiveProviders } from '../../src/gateway/providers/live-providers.ts';
import type { LiveProviders } from '../../src/gateway/providers/live-providers.ts';
import { openInference } from '../../src/inference/inference.ts';
import type { GatewayInference } from '../../src/inference/inference.ts';
import { ProvidersConfig } from '../../src/inference/config.ts';
import type { Scope } from '../../src/platform/contract/keys.ts';
import { openEgress } from '../../src/platform/egress/egress.ts';
import type { Egress } from '../../src/platform/egress/egress.ts';
import { buildMasterKeys } from '../../src/platform/master-key.ts';
import { createKey } from '../../src/platform/store/keys.ts';
import { openTestBackends } from '../support/backends.ts';
import type { TestBackends } from '../support/backends.ts';
import { startModelServer } from '../support/model-server/server.ts';
import type { ModelServer } from '../support/model-server/server.ts';

const masterKeys = buildMasterKeys(Buffer.alloc(32, 1).toString('base64'));
/** of the breaker; moved by the tests */
let now = 0;
let backends: TestBackends;
let egress: Egress;
let upstream: ModelServer;
let live: LiveProviders;
let inference: GatewayInference;
let app: FastifyInstance;
const keys = new Map<string, string>();

async function makeKey(name: string, organization: string, scopes: Scope[]): Promise<void> {
  keys.set(name, (await createKey(backends.db, { name, organization, scopes })).key);
}

beforeAll(async () => {
  backends = await openTestBackends();
  upstream = await startModelServer();
  egress = openEgress({ allow: [new URL(upstream.url).host] });
  live = await openLiveProviders({ ...backends, masterKeys });
  inference = openInference({
    providers: ProvidersConfig.parse({
      shared: { format: 'chat-completions', baseUrl: upstream.url, apiKey: 'shared-secret', models: [{ id: 'small' }] },
    }),
    models: {},
    log: backends.log,
    retry: { baseMs: 1, attempts: 1 },
    breaker: { now: () => now, minCalls: 2, openMs: 1000 },
    organizations: live,
    guard: egress.dispatcher,
  });
  app = buildGateway({ ...backends, inference, providers: { live, masterKeys, egress } });
  await app.ready();
  await makeKey('acme', 'acme', ['admin', 'inference']);
  await makeKey('viewer', 'acme', ['services:read']);
  await makeKey('caller', 'acme', ['inference']);
  await makeKey('other', 'other', ['admin', 'inference']);
});
afterAll(async () => {
  await app.close();
  await live.close();
  await inference.close();
  await egress.close();
  await upstream.close();
  await backends.close();
});
beforeEach(() => upstream.script(() => ({})));

async function send(who: string, method: 'GET' | 'POST', url: string, body?: unknown) {
  return await app.inject({
    method,
    url,
    headers: { 'x-api-key': keys.get(who) ?? '', 'content-type': 'application/json' },
    ...(body === undefined ? {} : { payload: JSON.stringify(body) }),
  });
}

const chat = (who: string, model: string) =>
  send(who, 'POST', '/v1/chat/completions', { model, messages: [{ role: 'user', content: 'Hi' }] });

async function list(who: string): Promise<Upstream[]> {
  const answer = await send(who, 'GET', '/v1/upstreams');
  expect(answer.statusCode).toBe(200);
  return answer.json<{ data: Upstream[] }>().data;
}

const UNUSED = { breaker: 'closed', lastErrorAt: null, lastErrorCode: null, latencyMs: null };

test('the providers of the server and of the organization are listed, to those who may read them', async () => {
  const body = { name: 'mine', format: 'chat-completions', baseUrl: upstream.url, probe: false };
  expect((await send('acme', 'POST', '/v1/providers', body)).statusCode).toBe(201);
  const shared = { object: 'upstream', name: 'shared', format: 'chat-completions', source: 'server', models: 1 };
  expect(await list('viewer')).toEqual([
    { object: 'upstream', name: 'mine', format: 'chat-completions', source: 'organization', models: 0, ...UNUSED },
    { ...shared, ...UNUSED },
  ]);
  expect(await list('other')).toEqual([{ ...shared, ...UNUSED }]);
  const refused = await send('caller', 'GET', '/v1/upstreams');
  expect(refused.statusCode).toBe(403);
  expect(refused.body).not.toContain('shared-secret');
});

test('a provider that fails is open, then tried again, for the organization that called it alone', async () => {
  expect((await chat('acme', 'shared/small')).statusCode).toBe(200);
  const find = async (who: string) => (await list(who)).find(({ name }) => name === 'shared');
  expect(await find('acme')).toMatchObject({ breaker: 'closed', lastErrorCode: null, latencyMs: expect.any(Number) });
  upstream.script(() => ({ status: 500, body: '{"error":{"message":"broken"}}' }));
  for (let call = 0; call < 3; call += 1) await chat('acme', 'shared/small');
  expect(await find('acme')).toMatchObject({
    breaker: 'open',
    lastErrorCode: expect.stringMatching(/^(?:upstream|unavailable)$/),
    lastErrorAt: expect.stringMatching(/^\d{4}-/),
  });
  expect(await find('other')).toMatchObject(UNUSED);
  now += 1001;
  expect(await find('acme')).toMatchObject({ breaker: 'half_open' });
  upstream.script(() => ({}));
  expect((await chat('acme', 'shared/small')).statusCode).toBe(200);
  expect(await find('acme')).toMatchObject({ breaker: 'closed' });
});
