import { spawn } from 'node:child_process';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { buildCredential } from '../../../src/agents/api/vaults/credential-routes.ts';
import { insertAgent } from '../../../src/agents/store/agents.ts';
import { findStored, insertCredential } from '../../../src/agents/store/credentials.ts';
import { ensureOrganization } from '../../../src/platform/store/keys.ts';
import { attachVaults, insertVault } from '../../../src/agents/store/vaults.ts';
import { collect } from '../../cli/server.ts';
import { openPostgresDatabase } from '../../support/database.ts';
import { findService } from '../../support/find-service.ts';
import { startTestMcp } from '../../support/mcp/server.ts';
import { openTestVaults } from '../../support/vaults.ts';

const REPLICA = fileURLToPath(new URL('./replica.ts', import.meta.url));
const CALLS = 25;
const postgres = await findService('postgres');

async function startTokenEndpoint() {
  const endpoint = { url: '', asked: 0, close: () => void http.close() };
  const http = createServer((request, reply) => {
    endpoint.asked += 1;
    request.resume().on('end', () => {
      reply.writeHead(200, { 'content-type': 'application/json' });
      reply.end(JSON.stringify({ access_token: `fresh-${endpoint.asked}`, expires_in: 3600 }));
    });
  });
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  endpoint.url = `http://127.0.0.1:${(http.address() as AddressInfo).port}/token`;
  return endpoint;
}

it.skipIf(postgres === undefined)(
  'an expired token is renewed by one request for 50 calls of two processes on PostgreSQL',
  { timeout: 180_000 },
  async () => {
    const database = await openPostgresDatabase(postgres ?? '');
    const { db } = database;
    const [server, tokens] = [await startTestMcp(), await startTokenEndpoint()];
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
    const credential = buildCredential(openTestVaults(db).masterKeys, vault.id, {
      displayName: 'x',
      auth: {
        type: 'mcp_oauth',
        mcpServerUrl: server.url,
        accessToken: 'stale',
        expiresAt: '2020-01-01T00:00:00.000Z',
        refresh: {
          tokenEndpoint: tokens.url,
          clientId: 'c',
          refreshToken: 'r',
          tokenEndpointAuth: { type: 'none' },
        },
      },
    });
    await insertCredential(db, organizationId, credential);

    const work = JSON.stringify({ database: database.url, agentId, url: server.url, calls: CALLS });
    const replicas = [1, 2].map(() => spawn(process.execPath, [REPLICA, work], { env: { PATH: process.env['PATH'] } }));
    const finished = replicas.map(collect);
    await Promise.all(replicas.map((child) => new Promise((resolve) => child.stdout.once('data', resolve))));
    for (const child of replicas) child.stdin.write('go\n');
    const good = Array.from({ length: CALLS }, () => ({ content: 'hello', isError: false }));
    for (const { code, out, err } of await Promise.all(finished)) {
      expect({ code, err }).toEqual({ code: 0, err: '' });
      expect(JSON.parse(out.replace('ready\n', ''))).toEqual(good);
    }
    expect(tokens.asked).toBe(1);
    expect([...new Set(server.asked.map(({ authorization }) => authorization))]).toEqual(['Bearer fresh-1']);
    expect((await findStored(db, credential.id))?.health).toBe('ok');
    server.close();
    tokens.close();
    await database.close();
  },
);
