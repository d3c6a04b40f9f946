import { fc } from '../../support/property.ts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Document } from '../../../src/platform/http/docs/document.ts';
import { buildAgentsDocument } from '../../../src/agents/contract/document.ts';
import { openAnswerCheck } from './fuzz/answers.ts';
import { makeRequests } from './fuzz/requests.ts';
import type { FuzzRequest } from './fuzz/requests.ts';
import { makeAgent, makeSession, openApi } from './harness.ts';
import type { Api, Reply } from './harness.ts';

const RUNS = 10_000;
const MORE_RUNS = 1000;
/** The seed is fixed per build; another seed explores other requests. */
const SEED = Number(process.env['CAPSTAN_FUZZ_SEED'] ?? 20_261_121);
/** A dot segment that the client resolves, so that the path may be another operation's. */
const DOTS = /\/(\.|%2e){1,2}(\/|\?|$)/i;
/** A stream does not end, so it is only requested for sessions that do not exist. */
const STREAM = 'streamEvents';
/** It never ends and names no session, so it is requested with an unknown key only. */
const ORGANIZATION_STREAM = 'streamOrganizationEvents';
const ENDLESS = '/v1/events/stream';
/** This test writes no events, pending actions or deliveries to name. */
const OF_TURNS = ['getEvent', 'getEventAttachment', 'getPendingAction', 'redeliverWebhook'];
/** Scope and id of a budget must match. */
const OF_BUDGETS = ['getBudget', 'putBudget', 'deleteBudget'];
/** They need a key, a cookie or the URL of an endpoint, which requests cannot generate. */
const NOT_MADE_UP = ['createSignIn', 'deleteSignIn', 'createWebhook'];
/** Success is not required here: approvals need running sessions, and servers are named by versions. */
const RARELY_GOOD = [
  STREAM,
  ORGANIZATION_STREAM,
  ...OF_TURNS,
  ...OF_BUDGETS,
  ...NOT_MADE_UP,
  'testMcpServer',
  'installMcpServer',
  'deleteApproval',
];

const document = buildAgentsDocument() as unknown as Document;
const check = openAnswerCheck(document);
let api: Api;
const pools: Record<string, string[]> = {
  agentId: [],
  sessionId: [],
  vaultId: [],
  credentialId: [],
  automationId: [],
  keyId: ['key_unknown'],
  webhookId: [],
};

beforeAll(async () => {
  api = await openApi();
  const roles = [{ name: 'reader', tools: [] }];
  pools['agentId'] = [await makeAgent(api, { roles }), await makeAgent(api, { roles })];
  for (let index = 0; index < 20; index += 1) pools['sessionId']?.push(await makeSession(api, pools['agentId'][0]!));
  const made = async (path: string, body: object) => (await api.call<{ id: string }>('POST', path, { body })).body.id;
  const vaultId = await made('/v1/vaults', { displayName: 'x' });
  pools['vaultId']?.push(vaultId);
  const auth = { type: 'static_bearer', mcpServerUrl: 'https://tools.example/mcp', token: 't' };
  for (let index = 0; index < 20; index += 1) {
    pools['credentialId']?.push(await made(`/v1/vaults/${vaultId}/credentials`, { displayName: 'x', auth }));
  }
  for (let index = 0; index < 20; index += 1) {
    pools['webhookId']?.push(await made('/v1/webhooks', { url: 'https://hooks.example', events: '*' }));
  }
  const automations = `/v1/agents/${pools['agentId'][0]}/users/anna/automations`;
  for (let index = 0; index < 20; index += 1) {
    pools['automationId']?.push(await made(automations, { prompt: 'x', schedule: 'every 30d', enabled: false }));
  }
});
afterAll(() => api.close());

/** Operations that end a resource spare the first and the newest, so that others find live ones. */
function resolve(text: string, operationId: string): string {
  return text.replaceAll(/@(\w+):(\d+)/g, (_match, kind: string, index: string) => {
    const all = pools[kind] ?? [];
    // a volume costs a process, so all files belong to two agents
    if (kind === 'agentId' && isFileOperation(operationId)) return all[Number(index) % 2] ?? 'unknown';
    // a credential exists only in its own vault
    if (kind === 'vaultId' && /Credential/.test(operationId)) return all[0] ?? 'unknown';
    // an automation exists only with its own agent
    if (kind === 'agentId' && /Automation/.test(operationId)) return all[0] ?? 'unknown';
    const pool = /^(delete|archive|revoke)/.test(operationId) ? all.slice(2, -3) : all.slice(-3);
    return operationId === STREAM ? 'ses_unknown' : (pool[Number(index) % pool.length] ?? 'unknown');
  });
}

function isFileOperation(operationId: string): boolean {
  return Object.entries(document.paths).some(
    ([path, methods]) =>
      /\/(files|volume)\b/.test(path) &&
      Object.values(methods).some((operation) => operation.operationId === operationId),
  );
}

/** Whether the path leads to the organization's stream, which never ends; dot segments may resolve to it. */
function isEndless(path: string): boolean {
  return URL.parse(path, 'http://localhost')?.pathname === ENDLESS;
}

async function send({ method, path, headers, payload, key, operationId }: FuzzRequest): Promise<Reply<unknown>> {
  const keys = { own: api.key, other: api.otherKey, none: null, unknown: 'cap_unknown' };
  const address = resolve(path, operationId);
  return api.call<unknown>(method, address, {
    key: isEndless(address) ? keys.unknown : keys[key],
    headers,
    ...(payload === undefined ? {} : { body: resolve(payload, operationId) }),
  });
}

/** The resource that an operation creates. */
const KINDS: Record<string, string> = {
  createAgent: 'agentId',
  createSession: 'sessionId',
  createApiKey: 'keyId',
  createVault: 'vaultId',
  createCredential: 'credentialId',
  createAutomation: 'automationId',
  createWebhook: 'webhookId',
};

function keep(operationId: string, body: unknown): void {
  // An export responds with bytes.
  const { id } = (body ?? {}) as { id?: string };
  const kind = KINDS[operationId];
  if (id !== undefined && kind !== undefined) pools[kind]?.push(id);
}

const good = new Set<string>();

async function tryRequest(request: FuzzRequest): Promise<void> {
  const reply = await send(request);
  // A path with a dot segment leads elsewhere: no operation's schema applies.
  const bent = reply.status === 404 || reply.status === 405;
  const elsewhere = (bent && isUnrouted(reply.body)) || DOTS.test(request.path);
  const fault = elsewhere ? undefined : check(request.operationId, reply.status, reply.body);
  if (fault !== undefined) throw new Error(`${fault}\n${reply.text.slice(0, 500)}`);
  expect(reply.status).toBeLessThan(500);
  expect(reply.headers['x-request-id']).toBeDefined();
  if (reply.status >= 300 || elsewhere) return;
  good.add(request.operationId);
  keep(request.operationId, reply.body);
}

test(`${RUNS} generated requests get documented answers and no fault`, async () => {
  await fc.assert(fc.asyncProperty(makeRequests(document), tryRequest), {
    numRuns: RUNS,
    endOnFailure: true,
    seed: SEED,
  });
  const operations = Object.values(document.paths).flatMap((methods) => Object.values(methods));
  const never = operations
    .map(({ operationId }) => operationId)
    .filter((id) => !good.has(id) && !RARELY_GOOD.includes(id));
  // If some operation had no successful request by chance, it gets more requests; else the generator is at fault.
  for (const id of never) {
    for (const request of fc.sample(makeRequests(document, id), { numRuns: MORE_RUNS, seed: SEED })) {
      if (!good.has(id)) await tryRequest(request);
    }
  }
  expect(never.filter((id) => !good.has(id))).toEqual([]);
}, 900_000);

function isUnrouted(body: unknown): boolean {
  const { error, message } = body as { error?: string; message?: string };
  return error === 'method_not_allowed' || message === 'No such route.';
}

test('the check of answers notices an undocumented status and a wrong body', () => {
  expect(check('getAgent', 418, {})).toContain('not documented');
  expect(check('getAgent', 200, { object: 'agent' })).toContain('required');
  expect(check('getAgent', 404, { error: 'not_found', message: 'x' })).toBeUndefined();
});
