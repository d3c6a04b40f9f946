import { createServer, request as sendRequest } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { openMemoryBus } from '../src/platform/bus/memory.ts';
import { openMemoryLimits } from '../src/platform/limits/memory.ts';
import { ProvidersConfig } from '../src/inference/config.ts';
import { buildGateway } from '../src/gateway/server.ts';
import { startHttp } from '../src/platform/http/start.ts';
import { openInference } from '../src/inference/inference.ts';
import { putBudget } from '../src/platform/store/budgets.ts';
import { createKey, ensureOrganization } from '../src/platform/store/keys.ts';
import { runMigrations } from '../src/platform/store/migrate.ts';

/**
 * The measured processes of bench/gateway.ts: `upstream`, `bare <url>` (a minimal proxy) and `gateway <url>
 * [database]`.
 */
/** `beside`: a key of an organization with a budget on another key; `limited`: of one with a budget for all. */
export type Ready = { url: string; key: string; beside?: string; limited?: string };

const CHUNKS = 200;
const HEAD = { id: 'c', object: 'chat.completion.chunk', created: 1, model: 'small' };
const data = (value: unknown) => `data: ${JSON.stringify(value)}\n\n`;
const PIECE = data({ ...HEAD, choices: [{ index: 0, delta: { content: 'some words ' }, finish_reason: null }] });
const STREAM =
  PIECE.repeat(CHUNKS) +
  data({ ...HEAD, choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] }) +
  data({ ...HEAD, choices: [], usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 } }) +
  'data: [DONE]\n\n';
const WHOLE = JSON.stringify({
  ...HEAD,
  object: 'chat.completion',
  choices: [{ index: 0, message: { role: 'assistant', content: 'some words '.repeat(20) }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 },
});

function listen(server: Server, key: string): void {
  server.keepAliveTimeout = 60_000;
  server.listen(0, '127.0.0.1', () => {
    process.send?.({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, key } satisfies Ready);
  });
}

function serveUpstream(): void {
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    let text = '';
    for await (const chunk of request) text += String(chunk);
    // The gateway always translates over a stream; words in the prompt tell whether the client asked for one.
    const stream = text.includes('"stream":true');
    const short = text.includes('short');
    response.writeHead(200, { 'content-type': stream ? 'text/event-stream' : 'application/json' });
    if (text.includes('silent')) return void response.write(PIECE);
    response.end(stream ? (short ? STREAM.slice(PIECE.length * (CHUNKS - 5)) : STREAM) : WHOLE);
  };
  listen(
    createServer((request, response) => void answer(request, response)),
    'none',
  );
}

function serveBare(upstream: string): void {
  const server = createServer((request, response) => {
    const out = sendRequest(`${upstream}${request.url}`, { method: 'POST', headers: request.headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 500, answer.headers);
      answer.pipe(response);
    });
    request.pipe(out);
  });
  listen(server, 'none');
}

/** Loads only what is used, as the roles do. */
async function openDatabase(url: string | undefined) {
  if (url !== undefined) return (await import('../src/platform/db/postgres.ts')).openPostgres({ url });
  const dataDir = join(mkdtempSync(join(tmpdir(), 'capstan-bench-')), 'db');
  return (await import('../src/platform/db/pglite.ts')).openPglite({ dataDir });
}

/** On PostgreSQL if its address is given, as the role runs; otherwise on the embedded database. */
async function serveGateway(upstream: string, databaseUrl: string | undefined): Promise<void> {
  const db = await openDatabase(databaseUrl);
  await runMigrations(db);
  const log = pino({ level: 'silent' });
  const base = {
    format: 'chat-completions',
    baseUrl: `${upstream}/v1`,
    models: [{ id: 'small', price: { input: 0.1, output: 0.4 } }],
  };
  const providers = ProvidersConfig.parse({ up: base, straight: { ...base, passThrough: true } });
  const inference = openInference({ providers, models: {}, log, breaker: {}, affinity: true });
  const make = (organization: string) =>
    createKey(db, { name: 'b', organization, scopes: ['inference'], requestsPerMinute: 1_000_000 });
  const { key } = await make('default');
  const limit = async (organization: string, scope: 'key' | 'organization'): Promise<string> => {
    const made = await make(organization);
    const organizationId = await ensureOrganization(db, organization);
    const target = { scope, id: scope === 'key' ? (await make(organization)).id : organizationId };
    const rule = { limitUsd: 1_000_000, period: 'month', onReached: 'refuse' } as const;
    await db.transaction((tx) => putBudget(tx, organizationId, target, rule));
    return made.key;
  };
  const [beside, limited] = [await limit('beside', 'key'), await limit('limited', 'organization')];
  const ports = { db, bus: openMemoryBus(), limits: openMemoryLimits(), log, inference };
  const { address } = await startHttp(buildGateway(ports), { host: '127.0.0.1', port: 0 });
  process.send?.({ url: address, key, beside, limited } satisfies Ready);
}

const [, , role, upstream = '', databaseUrl] = process.argv;
if (role === 'upstream') serveUpstream();
else if (role === 'bare') serveBare(upstream);
else await serveGateway(upstream, databaseUrl);
process.on('disconnect', () => process.exit(0));
