import { afterAll, beforeAll, expect, test } from 'vitest';
import { ROLES, ROLE_SCOPES } from '../../src/platform/contract/roles.ts';
import type { Role } from '../../src/platform/contract/roles.ts';
import { buildServerDocument } from '../../src/platform/http/docs/join.ts';
import { SERVICE_DOCUMENTS } from '../../src/roles/documents.ts';
import { CookieClient } from '../support/oidc/cookie-client.ts';
import { CONSOLE, OWNER_KEY, startPeopleServer } from '../support/oidc/people-server.ts';
import type { PeopleServer } from '../support/oidc/people-server.ts';

type Operation = { operationId: string; security?: unknown[]; 'x-capstan-scopes': string[] };
type Cell = { id: string; method: string; path: string; scopes: string[] };

const { paths } = buildServerDocument(SERVICE_DOCUMENTS) as { paths: Record<string, Record<string, Operation>> };
const OPERATIONS: (Cell & { isOpen: boolean })[] = Object.entries(paths).flatMap(([path, item]) =>
  Object.entries(item).map(([method, operation]) => ({
    id: operation.operationId,
    method: method.toUpperCase(),
    path,
    scopes: operation['x-capstan-scopes'],
    isOpen: operation.security?.length === 0,
  })),
);

/** The least role of each operation, written independently: a change of a scope must be repeated here. */
const LEAST: Record<string, Role> = {
  sendEvents: 'approver',
  setProduction: 'operator',
  deleteAgent: 'operator',
  installMcpServer: 'operator',
  createCredential: 'operator',
  patchCredential: 'operator',
  deleteCredential: 'operator',
  archiveCredential: 'operator',
  deleteVault: 'operator',
  archiveVault: 'operator',
  login: 'operator',
  signup: 'operator',
  refresh: 'operator',
  answerChallenge: 'operator',
  deleteStoredCredential: 'operator',
  createStoredCredential: 'operator',
  updateStoredCredential: 'operator',
  createInboundMailbox: 'operator',
  startLogin: 'operator',
  // A running login shows the pages behind it.
  getLogin: 'operator',
  streamLogin: 'operator',
  getLoginPicture: 'operator',
  giveLoginInput: 'operator',
  deleteLogin: 'operator',
  createProvider: 'admin',
  updateProvider: 'admin',
  testProvider: 'admin',
  deleteProvider: 'admin',
  putBudget: 'owner',
  deleteBudget: 'owner',
  createDemoUsage: 'owner',
  grantCredits: 'admin',
  applyTemplate: 'admin',
  getWebhookSecret: 'admin',
};

function findLeast({ id, method, path }: Cell): Role {
  const own = LEAST[id];
  if (own !== undefined) return own;
  if (/^\/v1\/(?:api-keys|organizations|audit|webhooks)/.test(path)) return 'admin';
  return method === 'GET' ? 'viewer' : 'builder';
}

const FOR_ALL = new Set(['getCaller', 'deleteSignIn']);

let people: PeopleServer;
const browsers = new Map<string, CookieClient>();
beforeAll(async () => {
  people = await startPeopleServer();
  for (const organization of ['default', 'acme']) {
    for (const role of ROLES) {
      const browser = new CookieClient();
      await browser.signIn(people.base, `${role}@${organization}`);
      browsers.set(`${role}@${organization}`, browser);
    }
  }
}, 120_000);
afterAll(() => people.close());

const UNKNOWN: Record<string, string> = { version: '1', index: '0', model: 'script/none', scope: 'key' };

async function ask(login: string, { method, path }: Cell, params: Record<string, string> = {}): Promise<number> {
  const url = path.replaceAll(/\{(\w+)\}/g, (_all, name: string) => params[name] ?? UNKNOWN[name] ?? `${name}_none`);
  const abort = new AbortController();
  const response = await browsers.get(login)!.send(people.base + url, {
    method,
    headers: { ...CONSOLE, 'content-type': 'application/json' },
    ...(method === 'GET' ? {} : { body: '[]' }),
    signal: abort.signal,
  });
  // A stream would not end.
  abort.abort();
  return response.status;
}

test('every operation says its scopes, and only open ones have none', () => {
  const bare = OPERATIONS.filter(({ scopes, isOpen }) => scopes.length === 0 && !isOpen);
  expect(new Set(bare.map(({ id }) => id))).toEqual(FOR_ALL);
});

test('roles grow: each may do what the one before may', () => {
  const lost = ROLES.slice(1).flatMap((role, index) => {
    const before = ROLES[index];
    return before === undefined ? [] : ROLE_SCOPES[before].filter((scope) => !ROLE_SCOPES[role].includes(scope));
  });
  expect(lost).toEqual([]);
});

test.each(ROLES)('a person with the role %s may do what it says, and nothing else', async (role) => {
  const wrong: string[] = [];
  for (const operation of OPERATIONS) {
    if (operation.isOpen || FOR_ALL.has(operation.id)) continue;
    const isMeant = ROLES.indexOf(role) >= ROLES.indexOf(findLeast(operation));
    const status = await ask(`${role}@default`, operation);
    const isAllowed = status !== 403 && status !== 401;
    if (isAllowed !== isMeant) wrong.push(`${operation.id}: ${status}, ${isMeant ? 'may' : 'may not'}`);
  }
  expect(wrong).toEqual([]);
});

test('no organization reaches data of another', async () => {
  const call = async <T>(method: string, path: string, body?: object) => {
    const response = await fetch(people.base + path, {
      method,
      headers: { 'x-api-key': OWNER_KEY, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return (await response.json()) as T;
  };
  const agent = await call<{ id: string }>('POST', '/v1/agents', {
    name: 'Ada',
    modelName: 'script/demo',
    systemPrompt: 'Be brief.',
    skills: [],
    tools: [],
  });
  const session = await call<{ id: string }>('POST', '/v1/sessions', { agentId: agent.id, subjectId: 'anna' });
  const vault = await call<{ id: string }>('POST', '/v1/vaults', { displayName: 'V' });
  const key = await call<{ id: string }>('POST', '/v1/api-keys', { name: 'k' });
  const params = { agentId: agent.id, sessionId: session.id, vaultId: vault.id, keyId: key.id, subjectId: 'anna' };
  const wrong: string[] = [];
  for (const operation of OPERATIONS) {
    if (!Object.keys(params).some((name) => operation.path.includes(`{${name}}`))) continue;
    for (const role of ROLES) {
      const status = await ask(`${role}@acme`, operation, params);
      if (status < 400) wrong.push(`${operation.id} as ${role}: ${status}`);
    }
  }
  expect(wrong).toEqual([]);
  expect(await call('GET', `/v1/sessions/${session.id}`)).toMatchObject({ id: session.id, status: 'idle' });
}, 120_000);
