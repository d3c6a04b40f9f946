import { createServer } from 'node:http';
import { buildRawEvent } from '../test/support/events.ts';
import type { ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { startApi } from '../src/agents/api/start.ts';
import { openMemoryBus } from '../src/platform/bus/memory.ts';
import { openNats } from '../src/platform/bus/nats.ts';
import { publishEvents } from '../src/agents/channels.ts';
import { openPglite } from '../src/platform/db/pglite.ts';
import { openPostgres } from '../src/platform/db/postgres.ts';
import { openMemoryLimits } from '../src/platform/limits/memory.ts';
import type { ApiPorts } from '../src/agents/api/deps.ts';
import { newId } from '../src/platform/ids.ts';
import { writeJournal } from '../src/agents/store/journal.ts';
import { bootstrapKey } from '../src/platform/store/keys.ts';
import { runMigrations } from '../src/platform/store/migrate.ts';

/**
 * The measured process of bench/stream.ts, controlled by messages: a replica of the API, or a minimal streaming
 * server.
 */
export type Command =
  | { do: 'sessions'; count: number }
  | { do: 'append'; sessionId: string; at: string }
  | { do: 'memory' };
export type Answer =
  | { ready: { url: string; key: string } }
  | { sessions: string[] }
  | { appended: number }
  | { memory: { rss: number; heap: number } };

const answer = (message: Answer) => process.send?.(message);

function measure(): Answer {
  globalThis.gc?.();
  const { rss, heapUsed } = process.memoryUsage();
  return { memory: { rss, heap: heapUsed } };
}

function buildPayload(at: string) {
  return { type: 'agent.message', delta: false, at, content: [{ type: 'text', text: 'x'.repeat(200) }] };
}

async function serveBare(): Promise<void> {
  const streams = new Map<string, ServerResponse>();
  const server = createServer((request, response) => {
    streams.set(request.url?.split('/')[3] ?? '', response);
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write('retry: 1000\n\n');
  }).listen(0, '127.0.0.1');
  server.on('listening', () =>
    answer({ ready: { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, key: 'none' } }),
  );
  process.on('message', (command: Command) => {
    if (command.do === 'memory') answer(measure());
    else if (command.do === 'sessions') answer({ sessions: Array.from({ length: command.count }, () => newId('ses')) });
    else {
      streams
        .get(command.sessionId)
        ?.write(`event: x\ndata: ${JSON.stringify({ payload: buildPayload(command.at) })}\n\n`);
      answer({ appended: 0 });
    }
  });
}

async function serveApi(database: string | undefined, nats: string | undefined): Promise<void> {
  const dataDir = join(mkdtempSync(join(tmpdir(), 'capstan-bench-')), 'db');
  const db = database === undefined ? await openPglite({ dataDir }) : await openPostgres({ url: database });
  const bus = nats === undefined ? openMemoryBus() : await openNats({ url: nats });
  const log = pino({ level: 'silent' });
  await runMigrations(db);
  const key = `cap_${newId('key')}`;
  await bootstrapKey(db, { key });
  await db.query('UPDATE api_keys SET requests_per_minute = 1000000');
  const ports = { db, bus, log, limits: openMemoryLimits(), models: new Set<string>() };
  const bounds = { streamsPerKey: 20_000, connections: 20_000 };
  const api = await startApi(ports as unknown as ApiPorts, { host: '127.0.0.1', port: 0, bounds });

  async function makeSessions(count: number): Promise<string[]> {
    const { rows } = await db.query<{ id: string }>('SELECT id FROM organizations LIMIT 1');
    const [organization, agent] = [rows[0]?.id, newId('agt')];
    await db.query(
      `INSERT INTO agents (id, organization_id, name, conversations_per_minute, messages_per_minute, latest_version, production_version)
       VALUES ($1, $2, 'bench', 300, 1000, 0, 0)`,
      [agent, organization],
    );
    const ids = Array.from({ length: count }, () => newId('ses'));
    await db.query(
      `INSERT INTO sessions (id, organization_id, agent_id, agent_version_id, agent_version, subject_id, title_fixed)
       SELECT id, $2, $3, 'ver_1', 0, 'anna', true FROM unnest($1::text[]) AS id`,
      [ids, organization, agent],
    );
    return ids;
  }

  async function append(sessionId: string, at: string): Promise<number> {
    const began = performance.now();
    const event = buildRawEvent(buildPayload(at));
    const [appended] = await writeJournal(db, [{ sessionId, epoch: null, events: [event] }]);
    if (appended !== undefined) publishEvents(bus, log, appended.organizationId, appended.events);
    return performance.now() - began;
  }

  process.on('message', (command: Command) => {
    if (command.do === 'memory') answer(measure());
    else if (command.do === 'sessions') void makeSessions(command.count).then((sessions) => answer({ sessions }));
    else void append(command.sessionId, command.at).then((appended) => answer({ appended }));
  });
  answer({ ready: { url: `http://127.0.0.1:${api.port}`, key } });
}

const [kind, database, nats] = process.argv.slice(2);
if (kind === 'bare') await serveBare();
else await serveApi(database, nats);
