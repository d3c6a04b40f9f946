import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { CredentialAuth } from '../../../src/agents/contract/vaults.ts';
import { buildCredential } from '../../../src/agents/api/vaults/credential-routes.ts';
import { findStored, insertCredential } from '../../../src/agents/store/credentials.ts';
import { insertAgent } from '../../../src/agents/store/agents.ts';
import { ensureOrganization } from '../../../src/platform/store/keys.ts';
import { attachVaults, insertVault } from '../../../src/agents/store/vaults.ts';
import { openEmbeddedDatabase } from '../../support/database.ts';
import type { TestDatabase } from '../../support/database.ts';
import { startTestMcp } from '../../support/mcp/server.ts';
import type { TestMcp } from '../../support/mcp/server.ts';
import { openTestVaults } from '../../support/vaults.ts';

type Grant = { form: URLSearchParams; headers: IncomingMessage['headers']; reply: ServerResponse };

let database: TestDatabase;
let server: TestMcp;
let tokens: { url: string; grants: Grant[]; answer: (grant: Grant) => void; close(): void };
beforeAll(async () => {
  database = await openEmbeddedDatabase();
});
afterAll(() => database.close());
beforeEach(async () => {
  server = await startTestMcp();
  tokens = await startTokenEndpoint();
});
afterEach(() => {
  server.close();
  tokens.close();
});

const give = (reply: ServerResponse, body: object, status = 200) =>
  void reply.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));

async function startTokenEndpoint() {
  const grants: Grant[] = [];
  const http = createServer((request, reply) => {
    let body = '';
    request.on('data', (chunk: Buffer) => (body += chunk.toString()));
    request.on('end', () => {
      const grant = { form: new URLSearchParams(body), headers: request.headers, reply };
      grants.push(grant);
      endpoint.answer(grant);
    });
  });
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  const endpoint = {
    url: `http://127.0.0.1:${(http.address() as AddressInfo).port}/token`,
    grants,
    answer: ({ reply }: Grant) => give(reply, { access_token: `new-token-${grants.length}`, expires_in: 3600 }),
    close() {
      http.close();
      http.closeAllConnections();
    },
  };
  return endpoint;
}

const IN_AN_HOUR = () => new Date(Date.now() + 3_600_000).toISOString();
const PAST = '2020-01-01T00:00:00.000Z';

/** An agent with one credential for the server. Each replica has its own vaults and MCP connections. */
async function prepare(fields: { expiresAt?: string | null; auth?: object; refresh?: null } = {}) {
  const { db } = database;
  const replicas = [openTestVaults(db), openTestVaults(db), openTestVaults(db)];
  const organizationId = await ensureOrganization(db, 'default');
  const agentId = await insertAgent(db, {
    organizationId,
    name: 'x',
    rateLimits: { conversationsPerMinute: 1, messagesPerMinute: 1 },
    content: {
      modelName: 'a/b',
      systemPrompt: '',
      skills: [],
      tools: [],
      roles: [],
      mcpServers: [],
      reasoning: null,
      environment: null,
      metadata: {},
    },
  });
  const vault = await insertVault(db, { organizationId, displayName: 'x', metadata: {} });
  await attachVaults(db, agentId, [vault.id]);
  const auth: CredentialAuth = {
    type: 'mcp_oauth',
    mcpServerUrl: server.url,
    accessToken: 'old-token',
    expiresAt: fields.expiresAt === undefined ? PAST : fields.expiresAt,
    refresh:
      fields.refresh === null
        ? null
        : {
            tokenEndpoint: tokens.url,
            clientId: 'the client',
            refreshToken: 'refresh-1',
            tokenEndpointAuth: (fields.auth ?? { type: 'none' }) as { type: 'none' },
          },
  };
  const [first] = replicas;
  const credential = buildCredential(first!.masterKeys, vault.id, { displayName: 'x', auth });
  await insertCredential(db, organizationId, credential);
  const call = (replica = 0, scope = 'ses_1') =>
    replicas[replica]!.mcp.call({
      server: { agentId, name: 'test', url: server.url },
      scope,
      operation: 'tool',
      tool: 'echo',
      input: { text: 'hello' },
      signal: new AbortController().signal,
    });
  return {
    call,
    status: async () => (await first!.vaults.readStatuses(agentId, [server.url])).get(server.url)?.status,
    stored: () => findStored(db, credential.id),
    close: () => Promise.all(replicas.map(({ mcp }) => mcp.close())),
  };
}

const sent = () => [...new Set(server.asked.map(({ authorization }) => authorization))];
const ok = { content: 'hello', isError: false };

describe('an OAuth credential', () => {
  it('that has expired is refreshed once for 50 calls at once on three replicas', async () => {
    const agent = await prepare();
    const calls = Array.from({ length: 50 }, (_, index) => agent.call(index % 3, `ses_${index}`));
    expect(await Promise.all(calls)).toEqual(Array.from({ length: 50 }, () => ok));
    expect(tokens.grants).toHaveLength(1);
    expect(sent()).toEqual(['Bearer new-token-1']);
    await agent.close();
  });

  it('is refreshed a minute before it expires, and not earlier', async () => {
    const early = await prepare({ expiresAt: new Date(Date.now() + 90_000).toISOString() });
    expect(await early.call()).toEqual(ok);
    expect(tokens.grants).toHaveLength(0);
    const due = await prepare({ expiresAt: new Date(Date.now() + 50_000).toISOString() });
    expect(await due.call()).toEqual(ok);
    expect(tokens.grants).toHaveLength(1);
    await Promise.all([early.close(), due.close()]);
  });

  it('is refreshed once after a 401, for all concurrent callers', async () => {
    const agent = await prepare({ expiresAt: IN_AN_HOUR() });
    server.intercept = ({ headers, reply }) => {
      if (headers.authorization !== 'Bearer old-token') return false;
      reply.writeHead(401).end();
      return true;
    };
    const calls = Array.from({ length: 20 }, (_, index) => agent.call(index % 3, `ses_${index}`));
    expect(await Promise.all(calls)).toEqual(Array.from({ length: 20 }, () => ok));
    expect(tokens.grants).toHaveLength(1);
    await agent.close();
  });

  it('is not refreshed again when the server refuses the new token as well', async () => {
    const agent = await prepare({ expiresAt: IN_AN_HOUR() });
    server.intercept = ({ reply }) => {
      reply.writeHead(401).end();
      return true;
    };
    expect((await agent.call()).content).toContain('HTTP 401');
    expect(tokens.grants).toHaveLength(1);
    await agent.close();
  });

  it.each([
    [{ type: 'none' }, { client_id: 'the client' }, undefined],
    [
      { type: 'client_secret_post', clientSecret: 's:1 &' },
      { client_id: 'the client', client_secret: 's:1 &' },
      undefined,
    ],
    [
      { type: 'client_secret_basic', clientSecret: 's:1 &' },
      {},
      `Basic ${Buffer.from('the+client:s%3A1+%26').toString('base64')}`,
    ],
  ])('shows the client by %j', async (auth, form, authorization) => {
    const agent = await prepare({ auth });
    await agent.call();
    const [grant] = tokens.grants;
    expect(Object.fromEntries(grant?.form ?? [])).toEqual({
      grant_type: 'refresh_token',
      refresh_token: 'refresh-1',
      ...form,
    });
    expect(grant?.headers.authorization).toBe(authorization);
    await agent.close();
  });

  it('keeps its refresh token when it gets no other, and uses the one it got', async () => {
    const agent = await prepare();
    tokens.answer = ({ reply }) => give(reply, { access_token: 'a-token', expires_in: 1 });
    await agent.call();
    tokens.answer = ({ reply }) => give(reply, { access_token: 'b-token', expires_in: 1, refresh_token: 'refresh-2' });
    await agent.call();
    await agent.call();
    const used = tokens.grants.map(({ form }) => form.get('refresh_token'));
    expect(used.slice(0, 2)).toEqual(['refresh-1', 'refresh-1']);
    expect(used.at(-1)).toBe('refresh-2');
    await agent.close();
  });

  it('that is permanently rejected needs its owner, and is not retried', async () => {
    const agent = await prepare();
    tokens.answer = ({ reply }) => give(reply, { error: 'invalid_grant', error_description: 'refresh-1' }, 400);
    const outcomes = await Promise.all([agent.call(0), agent.call(1), agent.call(2)]);
    expect(outcomes.every(({ isError }) => isError)).toBe(true);
    expect(JSON.stringify(outcomes)).not.toContain('refresh-1');
    await agent.call();
    expect(tokens.grants).toHaveLength(1);
    expect(await agent.status()).toBe('reconnect');
    expect(server.asked).toEqual([]);
    await agent.close();
  });

  it('that cannot be refreshed for the moment is unavailable, and left alone for a while', async () => {
    const agent = await prepare();
    tokens.answer = ({ reply }) => void reply.writeHead(503).end();
    expect((await agent.call()).isError).toBe(true);
    await agent.call(1);
    expect(tokens.grants).toHaveLength(1);
    expect(await agent.status()).toBe('unavailable');
    await database.db.query(`UPDATE vault_credentials SET health_at = now() - interval '1 minute'`);
    tokens.answer = ({ reply }) => give(reply, { access_token: 'again-token', expires_in: 3600 });
    expect(await agent.call()).toEqual(ok);
    expect(await agent.status()).toBe('connected');
    await agent.close();
  });

  it('outlives a replica that died while it refreshed', async () => {
    const agent = await prepare();
    const id = (await agent.stored())?.id;
    await database.db.query(
      `UPDATE vault_credentials SET refresh_owner = 'dead', refresh_expires = now() + interval '1 second' WHERE id = $1`,
      [id],
    );
    expect(await agent.call()).toEqual(ok);
    expect(tokens.grants).toHaveLength(1);
    await agent.close();
  });

  it('without refresh is used until it expires', async () => {
    const agent = await prepare({ refresh: null });
    expect((await agent.call()).content).toContain('renewed by its owner');
    expect(await agent.status()).toBe('reconnect');
    const good = await prepare({ refresh: null, expiresAt: new Date(Date.now() + 30_000).toISOString() });
    expect(await good.call()).toEqual(ok);
    expect(sent()).toEqual(['Bearer old-token']);
    await Promise.all([agent.close(), good.close()]);
  });
});

it('a token that the server repeats does not reach the model', async () => {
  const agent = await prepare({ expiresAt: IN_AN_HOUR() });
  server.call = (_name, _input, { headers }) => ({
    content: [{ type: 'text', text: `you sent ${headers.authorization}` }],
  });
  expect((await agent.call()).content).toBe('you sent Bearer [redacted]');
  await agent.close();
});
