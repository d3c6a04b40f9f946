import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
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

type Process = { app: FastifyInstance; live: LiveProviders; inference: GatewayInference };
type Body = { id: string; message: string; probe: unknown; data: { id: string }[] };
type Answer = { status: number; text: string; body: Body };

const masterKeys = buildMasterKeys(Buffer.alloc(32, 1).toString('base64'));
const KEY = 'sk-own-secret-of-acme';
let backends: TestBackends;
let egress: Egress;
let upstream: ModelServer;
/** two processes of one installation */
let processes: [Process, Process];
const keys = new Map<string, string>();

async function startProcess(): Promise<Process> {
  const { log } = backends;
  const live = await openLiveProviders({ ...backends, masterKeys });
  const providers = ProvidersConfig.parse({
    shared: { format: 'chat-completions', baseUrl: upstream.url, apiKey: 'shared-secret' },
  });
  const inference = openInference({
    providers,
    models: { fast: ['shared/small'] },
    log,
    retry: { baseMs: 1 },
    organizations: live,
    guard: egress.dispatcher,
  });
  const app = buildGateway({ ...backends, inference, providers: { live, masterKeys, egress } });
  await app.ready();
  return { app, live, inference };
}

async function makeKey(organization: string, scopes: Scope[]): Promise<void> {
  const { key } = await createKey(backends.db, { name: 'k', organization, scopes });
  keys.set(`${organization}/${scopes[0]}`, key);
}

beforeAll(async () => {
  backends = await openTestBackends();
  upstream = await startModelServer();
  egress = openEgress({ allow: [new URL(upstream.url).host] });
  processes = [await startProcess(), await startProcess()];
  for (const organization of ['acme', 'other']) {
    await makeKey(organization, ['admin', 'inference']);
    await makeKey(organization, ['inference']);
  }
});
afterAll(async () => {
  for (const { app, live, inference } of processes) {
    await app.close();
    await live.close();
    await inference.close();
  }
  await egress.close();
  await upstream.close();
  await backends.close();
});
beforeEach(() => {
  upstream.requests.length = 0;
  upstream.script(({ path, headers }) => {
    if (!path.endsWith('/models')) return {};
    if (headers.authorization !== `Bearer ${KEY}`) return { status: 401, body: '{"error":{"message":"no"}}' };
    return { body: JSON.stringify({ data: [{ id: 'own-large' }, { id: 'own-small' }] }) };
  });
});

async function ask(
  who: string,
  call: { method: 'GET' | 'POST' | 'PATCH' | 'DELETE'; url: string; body?: unknown },
  at = 0,
): Promise<Answer> {
  const { app } = processes[at]!;
  const answer = await app.inject({
    method: call.method,
    url: call.url,
    headers: { 'x-api-key': keys.get(who)!, 'content-type': 'application/json' },
    ...(call.body === undefined ? {} : { payload: JSON.stringify(call.body) }),
  });
  return { status: answer.statusCode, text: answer.body, body: answer.json<Body>() };
}

const create = (body: Record<string, unknown>, who = 'acme/admin') =>
  ask(who, { method: 'POST', url: '/v1/providers', body: { format: 'chat-completions', ...body } });
const remove = (id: string) => ask('acme/admin', { method: 'DELETE', url: `/v1/providers/${id}` });
const chat = (who: string, model: string, at = 0) =>
  ask(
    who,
    { method: 'POST', url: '/v1/chat/completions', body: { model, messages: [{ role: 'user', content: 'Hi' }] } },
    at,
  );

test('a provider is probed, sealed, and in use at once, in every process, for its organization alone', async () => {
  const made = await create({ name: 'mine', baseUrl: upstream.url, apiKey: KEY });
  expect(made.status).toBe(201);
  expect(made.body).toMatchObject({
    object: 'provider',
    name: 'mine',
    hasKey: true,
    models: null,
    probe: { status: 'ok', models: ['own-large', 'own-small'] },
  });
  await processes[1].live.refresh();
  for (const at of [0, 1]) expect((await chat('acme/inference', 'mine/own-large', at)).status).toBe(200);
  expect(upstream.requests.at(-1)?.headers.authorization).toBe(`Bearer ${KEY}`);
  expect(upstream.requests.at(-1)?.body).toMatchObject({ model: 'own-large' });
  expect((await chat('other/inference', 'mine/own-large')).status).toBe(404);
  const listed = await ask('acme/admin', { method: 'GET', url: '/v1/providers' });
  expect(listed.body.data).toEqual([made.body]);
  expect((await ask('other/admin', { method: 'GET', url: '/v1/providers' })).body.data).toEqual([]);
  expect((await ask('other/admin', { method: 'GET', url: `/v1/providers/${made.body.id}` })).status).toBe(404);
  for (const { text } of [made, listed]) expect(text).not.toContain(KEY);
  const { rows } = await backends.db.query('SELECT * FROM model_providers');
  expect(JSON.stringify(rows)).not.toContain(KEY);
  const { rows: audit } = await backends.db.query("SELECT * FROM audit_records WHERE action = 'createProvider'");
  expect(audit).toHaveLength(1);
  expect(JSON.stringify(audit)).not.toContain(KEY);
  const { rows: reads } = await backends.db.query<{ entry: string }>(
    `SELECT entry FROM audit_records WHERE action = 'readSecret' AND resource_type = 'provider'`,
  );
  expect(reads.length).toBeGreaterThan(0);
  expect(JSON.parse(reads[0]?.entry ?? '')).toMatchObject({ actor: { type: 'system', id: 'service' } });
  expect(JSON.stringify(reads)).not.toContain(KEY);

  expect((await remove(made.body.id)).body).toMatchObject({ object: 'provider.deleted', deleted: true });
  expect((await chat('acme/inference', 'mine/own-large')).status).toBe(404);
  await processes[1].live.refresh();
  expect((await chat('acme/inference', 'mine/own-large', 1)).status).toBe(404);
});

test('an own provider comes before the one of the configuration, but lists keep theirs', async () => {
  const made = await create({ name: 'shared', baseUrl: upstream.url, apiKey: KEY, models: ['small', 'extra'] });
  const keyOf = async (who: string, model: string) => {
    expect((await chat(who, model)).status).toBe(200);
    return upstream.requests.at(-1)?.headers.authorization;
  };
  expect(await keyOf('acme/inference', 'shared/small')).toBe(`Bearer ${KEY}`);
  expect(await keyOf('acme/inference', 'fast')).toBe('Bearer shared-secret');
  expect(await keyOf('other/inference', 'shared/small')).toBe('Bearer shared-secret');
  const names = async (who: string) => {
    const { body } = await ask(who, { method: 'GET', url: '/v1/models' });
    return body.data.map(({ id }) => id);
  };
  expect(await names('acme/inference')).toContain('shared/extra');
  expect(await names('other/inference')).not.toContain('shared/extra');
  await remove(made.body.id);
});

test('the key changes without the address', async () => {
  const made = await create({ name: 'rotated', baseUrl: upstream.url, apiKey: 'old', probe: false });
  expect(made.body.probe).toBeNull();
  const url = `/v1/providers/${made.body.id}`;
  const tested = await ask('acme/admin', { method: 'POST', url: `${url}/test` });
  expect(tested.body.probe).toMatchObject({ status: 'rejected' });
  const refused = await ask('acme/admin', { method: 'PATCH', url, body: { apiKey: 'wrong' } });
  expect(refused).toMatchObject({ status: 400, body: { message: expect.stringContaining('body.apiKey') } });
  const changed = await ask('acme/admin', { method: 'PATCH', url, body: { apiKey: KEY, models: ['a'] } });
  expect(changed.body).toMatchObject({ models: [{ id: 'a' }], probe: { status: 'ok' } });
  expect((await chat('acme/inference', 'rotated/a')).status).toBe(200);
  expect(upstream.requests.at(-1)?.headers.authorization).toBe(`Bearer ${KEY}`);
  await remove(made.body.id);
});

test.each([
  ['a private address', { baseUrl: 'http://169.254.169.254/v1', apiKey: KEY }, 'body.baseUrl'],
  ['a preset on this machine', { preset: 'ollama', baseUrl: undefined }, 'body.baseUrl'],
  ['a rejected key', { apiKey: 'wrong' }, 'body.apiKey'],
  ['no address', { baseUrl: undefined }, 'baseUrl'],
  ['credentials in the address', { baseUrl: 'https://a:b@example.com/v1' }, 'baseUrl'],
  ['a header of the connection', { apiKeyHeader: 'Host' }, 'apiKeyHeader'],
  ['the built-in name', { name: 'script' }, 'name'],
])('%s is refused', async (_what, body, message) => {
  const answer = await create({ name: 'bad', baseUrl: upstream.url, ...body });
  expect(answer.status).toBe(400);
  expect(answer.body.message).toContain(message);
});

test('names are unique, and changes need the scope admin', async () => {
  const made = await create({ name: 'once', baseUrl: upstream.url, apiKey: KEY });
  expect((await create({ name: 'once', baseUrl: upstream.url, apiKey: KEY })).status).toBe(409);
  expect((await create({ name: 'twice', baseUrl: upstream.url }, 'acme/inference')).status).toBe(403);
  expect((await ask('acme/inference', { method: 'DELETE', url: `/v1/providers/${made.body.id}` })).status).toBe(403);
  expect((await ask('acme/inference', { method: 'GET', url: '/v1/providers' })).status).toBe(403);
  await remove(made.body.id);
});

test('an organization has a limited number of providers, also when it asks for many at once', async () => {
  const names = Array.from({ length: 60 }, (_, index) => `many-${index}`);
  const answers = await Promise.all(names.map((name) => create({ name, baseUrl: upstream.url, probe: false })));
  const made = answers.filter(({ status }) => status === 201);
  const { text } = await ask('acme/admin', { method: 'GET', url: '/v1/providers?limit=100' });
  expect((JSON.parse(text) as { data: unknown[] }).data).toHaveLength(50);
  expect(answers.find(({ status }) => status !== 201)?.body.message).toContain('at most 50 providers');
  for (const { body } of made) await remove(body.id);
});

test('a connection goes through the guard even if the name resolves to another address later', async () => {
  const strict = openEgress({ allow: [] });
  const inference = openInference({
    providers: {},
    models: {},
    log: backends.log,
    retry: { attempts: 1 },
    organizations: {
      find: () => ProvidersConfig.parse({ mine: { format: 'chat-completions', baseUrl: upstream.url } }),
    },
    guard: strict.dispatcher,
  });
  const call = { method: 'GET' as const, path: '/models', headers: {} };
  const asked = inference.forOrganization('acme').request('mine', call, AbortSignal.timeout(10_000));
  await expect(asked).rejects.toMatchObject({ code: 'upstream' });
  expect(upstream.requests).toEqual([]);
  await inference.close();
  await strict.close();
});
