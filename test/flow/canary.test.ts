import { spawn } from 'node:child_process';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { stringify } from 'yaml';
import { openPglite } from '../../src/platform/db/pglite.ts';
import { AGENT_SERVICE_ROUTES } from '../../src/agents/contract/document.ts';
import { waitFor } from '../cli/server.ts';
import { openCanaryWatch } from '../support/canary.ts';
import { openPostgresDatabase } from '../support/database.ts';
import { startTestMcp } from '../support/mcp/server.ts';
import { startModelServer } from '../support/model-server/server.ts';
import { makeScratch } from '../support/scratch.ts';
import { callTools } from '../support/service-model.ts';
import { findServers } from '../support/service.ts';

const MAIN = fileURLToPath(new URL('../../src/main.ts', import.meta.url));
const SECRET = {
  bearer: 'c4n4ry-static-Vq81-bearer',
  installed: 'c4n4ry-install-Wd37-token',
  access: 'c4n4ry-access-Tk02-token',
  refresh: 'c4n4ry-refresh-Lm55-token',
  client: 'c4n4ry-client-Zx19-secret',
  renewed: 'c4n4ry-renewed-Hb64-access',
  next: 'c4n4ry-nextone-Qp70-refresh',
};
const servers = await findServers();

/** Event streams never end: both are read alongside the turns instead. */
const isEndless = ({ responses }: (typeof AGENT_SERVICE_ROUTES)[number]) => Object.values(responses).includes('stream');

/** An MCP server that repeats the token it received in every possible place. */
async function startIndiscreetMcp() {
  const mcp = await startTestMcp();
  const seen = new Set<string>();
  mcp.tools = { tools: [] };
  mcp.intercept = ({ headers, message, reply }) => {
    const token = (headers.authorization ?? '').replace('Bearer ', '');
    seen.add(token);
    const tool = (name: string) => ({ name, description: `Called with ${token}`, inputSchema: { type: 'object' } });
    mcp.tools = { tools: [tool('echo'), tool('fail'), tool('crash')] };
    if (message.params?.name !== 'crash') return false;
    reply.writeHead(500, { 'x-token': token }).end(`The token ${token} broke it`);
    return true;
  };
  mcp.call = (name, _input, { headers }) => ({
    content: [{ type: 'text', text: `${name}: ${headers.authorization}` }],
    structuredContent: { token: headers.authorization },
    isError: name === 'fail',
  });
  return { ...mcp, seen, close: () => mcp.close() };
}

/** Grants once, then rejects and repeats the request. */
async function startTokenEndpoint() {
  const asked: string[] = [];
  const http = createServer((request: IncomingMessage, reply: ServerResponse) => {
    let body = '';
    request.on('data', (chunk: Buffer) => (body += chunk.toString()));
    request.on('end', () => {
      asked.push(`${request.headers.authorization ?? ''} ${body}`);
      const isFirst = asked.length === 1;
      reply.writeHead(isFirst ? 200 : 400, { 'content-type': 'application/json' });
      const granted = { access_token: SECRET.renewed, expires_in: 1, refresh_token: SECRET.next };
      reply.end(JSON.stringify(isFirst ? granted : { error: 'invalid_grant', error_description: asked.join() }));
    });
  });
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(http.address() as AddressInfo).port}/token`;
  return { url, asked, close: () => void http.close() };
}

async function lookAtEmbedded(watch: ReturnType<typeof openCanaryWatch>, dataDir: string): Promise<string[]> {
  const db = await openPglite({ dataDir: join(dataDir, 'database') });
  const tables = await watch.lookAtRows(db);
  await db.close();
  return tables;
}

const CASES = [
  ['embedded', false],
  ['PostgreSQL, NATS and Redis', true],
] as const;

it.for(CASES)(
  'a secret of a vault that a session used is nowhere: %s',
  { timeout: 300_000 },
  async ([, shared], test) => {
    // Runs without the servers; with CAPSTAN_REQUIRE_ALL=1 their absence has already failed the run.
    if (shared && servers === undefined) return test.skip();
    const folder = makeScratch('canary');
    const dataDir = join(folder, 'data');
    const watch = openCanaryWatch(Object.values(SECRET));
    const [plain, oauth, tokens, model] = await Promise.all([
      startIndiscreetMcp(),
      startIndiscreetMcp(),
      startTokenEndpoint(),
      startModelServer(),
    ]);
    const database = shared && servers !== undefined ? await openPostgresDatabase(servers.postgres) : undefined;
    const provider = {
      format: 'chat-completions',
      baseUrl: model.url,
      apiKey: 'k',
      models: [{ id: 'm', contextWindow: 32_000 }],
    };
    writeFileSync(join(folder, 'capstan.yaml'), stringify({ providers: { acme: provider } }));
    const child = spawn(process.execPath, [MAIN, 'all'], {
      cwd: folder,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: {
        PATH: process.env['PATH'] ?? '',
        CAPSTAN_PORT: '0',
        CAPSTAN_FSYNC: 'off',
        CAPSTAN_DATA_DIR: dataDir,
        CAPSTAN_LOG_LEVEL: 'debug',
        CAPSTAN_EGRESS_ALLOW: '127.0.0.0/8',
        ...(database === undefined || servers === undefined
          ? {}
          : { DATABASE_URL: database.url, NATS_URL: servers.nats, REDIS_URL: servers.redis }),
      },
    });
    let log = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (log += chunk.toString()));
    try {
      const base = /listens on (\S+)/.exec(await waitFor(child, /listens on \S+\n/))?.[1] ?? '';
      const key = readFileSync(join(dataDir, 'api-key'), 'utf8').trim();
      const call = async (method: string, path: string, body?: unknown) => {
        // A stream that does not end is named by the failure instead of using up the test's time.
        const limit = new AbortController();
        const timer = setTimeout(() => limit.abort(new Error(`${method} ${path} does not end`)), 30_000);
        const response = await fetch(base + path, {
          method,
          signal: limit.signal,
          headers: { 'x-api-key': key, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
          ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        });
        const text = await response.text();
        clearTimeout(timer);
        watch.look(`${method} ${path}`, `${text} ${JSON.stringify([...response.headers])}`);
        return { status: response.status, text };
      };
      const make = async (method: string, path: string, body: unknown) => {
        const { status, text } = await call(method, path, body);
        if (status >= 300) throw new Error(`${path}: ${status} ${text}`);
        return JSON.parse(text) as { id: string };
      };

      const allow = { defaultConfig: { enabled: true, permissionPolicy: { type: 'always_allow' } } };
      const agent = await make('POST', '/v1/agents', {
        name: 'canary',
        modelName: 'acme/m',
        systemPrompt: '',
        skills: [],
        mcpServers: [
          { type: 'url', name: 'plain', url: plain.url },
          { type: 'url', name: 'oauth', url: oauth.url },
        ],
        tools: [
          { type: 'agent_toolset', ...allow },
          { type: 'mcp_toolset', mcpServerName: 'plain', ...allow },
          { type: 'mcp_toolset', mcpServerName: 'oauth', ...allow },
        ],
      });
      const vault = await make('POST', '/v1/vaults', { displayName: 'Secrets' });
      const credentials = `/v1/vaults/${vault.id}/credentials`;
      const bearer = { type: 'static_bearer', mcpServerUrl: plain.url, token: SECRET.bearer };
      await make('POST', credentials, { displayName: 'plain', auth: bearer });
      const tokenEndpointAuth = { type: 'client_secret_post', clientSecret: SECRET.client };
      const refresh = { tokenEndpoint: tokens.url, clientId: 'c', refreshToken: SECRET.refresh, tokenEndpointAuth };
      const credential = await make('POST', credentials, {
        displayName: 'oauth',
        auth: { type: 'mcp_oauth', mcpServerUrl: oauth.url, accessToken: SECRET.access, refresh },
      });
      await call('POST', credentials, {
        displayName: SECRET.bearer.repeat(20),
        auth: { ...bearer, type: SECRET.bearer },
      });
      await make('PUT', `/v1/agents/${agent.id}/vaults`, { vaultIds: [vault.id] });
      await call('POST', `/v1/agents/${agent.id}/mcp/installations`, {
        expectedAgentVersion: 0,
        idempotencyKey: 'once',
        connector: { type: 'custom', name: 'third', url: 'http://127.0.0.1:1/mcp' },
        authentication: { type: 'static_bearer', token: SECRET.installed },
      });

      const session = await make('POST', '/v1/sessions', { agentId: agent.id, subjectId: 'anna' });
      const uses = ['plain', 'oauth'].flatMap((name) =>
        ['echo', 'fail', 'crash'].map((tool): [string, object] => [`${name}__${tool}`, {}]),
      );
      const command = 'env; cat /proc/[0-9]*/environ; ls -aR . /tmp; cat /etc/hostname';
      const answers = [callTools([...uses, ['terminal', { command }]]), callTools(uses)];
      model.script(({ body }) => {
        const isTitle = /Write a title of/.test(JSON.stringify(body));
        return (isTitle ? undefined : answers.shift()) ?? { reply: { content: [{ type: 'text', text: 'ok' }] } };
      });

      const openStream = async (path: string) => {
        const { body } = await fetch(base + path, { headers: { 'x-api-key': key } });
        const reader = body!.getReader();
        let frames = '';
        return {
          cancel: () => reader.cancel(),
          /** All events until the session has been idle this many times. */
          async idle(times: number): Promise<string> {
            while ((frames.match(/^event: session\.status_idle$/gm)?.length ?? 0) < times) {
              const { done, value } = await reader.read();
              if (done) throw new Error(`${path} ended`);
              frames += Buffer.from(value).toString();
            }
            return frames;
          },
        };
      };
      const stream = await openStream(`/v1/sessions/${session.id}/events/stream?after=0`);
      const organization = await openStream('/v1/events/stream');
      const turn = async (text: string) => {
        await make('POST', `/v1/sessions/${session.id}/events`, {
          events: [{ type: 'user.message', content: [{ type: 'text', text }] }],
        });
      };
      await turn('Use everything.');
      await stream.idle(1);
      // The token is expired now: it is refreshed once, and the second refresh is rejected.
      await make('PATCH', `${credentials}/${credential.id}`, {
        auth: { type: 'mcp_oauth', expiresAt: '2020-01-01T00:00:00.000Z' },
      });
      answers.unshift(callTools(uses));
      await turn('Again.');
      await stream.idle(2);
      await turn('And again.');
      const frames = await stream.idle(3);
      watch.look('the stream', frames);
      watch.look("the organization's stream", await organization.idle(3));
      await Promise.all([stream.cancel(), organization.cancel()]);
      for (const name of ['plain', 'oauth']) await call('POST', `/v1/agents/${agent.id}/mcp/${name}/test`);

      const params: Record<string, string> = {
        agentId: agent.id,
        sessionId: session.id,
        vaultId: vault.id,
        credentialId: credential.id,
        subjectId: 'anna',
        version: '0',
      };
      for (const route of AGENT_SERVICE_ROUTES) {
        if (route.method !== 'GET' || isEndless(route)) continue;
        const path = route.path.replaceAll(/\{(\w+)\}/g, (_all, name: string) => params[name] ?? 'none');
        await call('GET', `${path}?path=.&query=token`);
        await call('GET', path);
      }
      for (const path of ['/metrics', '/readyz', '/livez', '/docs', '/openapi.json']) await call('GET', path);
      for (const { body } of model.requests) watch.look('a prompt', JSON.stringify(body));
      const tables = database === undefined ? undefined : await watch.lookAtRows(database.db);

      child.kill('SIGTERM');
      await new Promise((resolve) => (child.exitCode === null ? child.once('exit', resolve) : resolve(undefined)));
      watch.look('the log', log);
      watch.lookAtFiles(dataDir);
      expect(database === undefined ? await lookAtEmbedded(watch, dataDir) : tables).toContain(
        'public.vault_credentials',
      );

      // All canaries were really used, by their intended recipients.
      expect([...plain.seen]).toContain(SECRET.bearer);
      expect([...oauth.seen]).toEqual(expect.arrayContaining([SECRET.access, SECRET.renewed]));
      expect(tokens.asked.join()).toContain(SECRET.refresh);
      expect(tokens.asked.join()).toContain(SECRET.client);
      expect(frames).toContain('[redacted]');
      expect(log).toContain('"level":20');
      expect(model.requests.length).toBeGreaterThan(5);
      expect(watch.looked).toBeGreaterThan(200);
      expect(watch.found).toEqual([]);
    } finally {
      child.kill('SIGKILL');
      plain.close();
      oauth.close();
      tokens.close();
      await model.close();
      await database?.close();
      rmSync(folder, { recursive: true, force: true });
    }
  },
);
