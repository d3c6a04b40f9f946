import { join } from 'node:path';
import { openPglite } from '../../src/platform/db/pglite.ts';
import type { Queryable } from '../../src/platform/db/db.ts';
import { startBenchServer } from './server.ts';
import type { BenchServer } from './server.ts';

type Made = { id: string };
type Span = { first: number; last: number };

/** One turn: thoughts, commands with output, files, Markdown and a failure. */
const PROMPT = [
  'think: First the numbers, then the text.',
  ...Array.from({ length: 12 }, (_, index) => `run: seq 1 ${index * 7 + 3}`),
  ...Array.from({ length: 12 }, (_, index) => `write part-${index}.md: # Part ${index}`),
  ...Array.from({ length: 24 }, (_, index) => `call read_file {"path":"part-${index % 12}.md"}`),
  'run: cat missing.csv',
].join('\n');
const TEXT = `## Result\n\n**Done.** See \`report.md\` and <https://example.com>.\n\n| order | amount |\n|---|---|\n| 4417 | 18.50 |
\n\`\`\`typescript\n${'const total = orders.map((order) => order.amount).reduce((sum, each) => sum + each, 0);\n'.repeat(8)}\`\`\``;

async function runTurn(server: BenchServer, id: string, text: string): Promise<void> {
  await server.call('POST', `/v1/sessions/${id}/events`, {
    events: [{ type: 'user.message', content: [{ type: 'text', text }] }],
  });
  for (;;) {
    const session = await server.call<{ status: string; queuedCount: number }>('GET', `/v1/sessions/${id}`);
    if (session.status === 'idle' && session.queuedCount === 0) return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

/** Copies the events of a session, under new ids, until there are `events`. */
async function multiply(db: Queryable, sessionId: string, events: number): Promise<void> {
  const { rows } = await db.query<Span>(
    'SELECT min(sequence)::int AS first, max(sequence)::int AS last FROM events WHERE session_id = $1',
    [sessionId],
  );
  const last = rows[0]?.last ?? 0;
  const copies = Math.ceil(events / last) - 1;
  // The number of the copy replaces the last three characters of each id.
  const rename = (column: string) =>
    `regexp_replace(${column}, '([a-z]{3,4}_[0-9a-z]{23})[0-9a-z]{3}', '\\1' || lpad(c::text, 3, '0'), 'g')`;
  await db.query(
    `INSERT INTO events (session_id, sequence, id, type, turn_id, status, payload, usage, internal, processed_at, created_at)
     SELECT session_id, sequence + $2::int * c, ${rename('id')}, type, ${rename('turn_id')}, status,
            ${rename('payload::text')}::jsonb, usage, internal, processed_at, created_at
     FROM events, generate_series(1, $3::int) AS c WHERE session_id = $1`,
    [sessionId, last, copies],
  );
  await db.query(
    `INSERT INTO turns (id, session_id, organization_id, state, steps, step, usage, started_at, ended_at)
     SELECT ${rename('id')}, session_id, organization_id, state, steps, step, usage, started_at, ended_at
     FROM turns, generate_series(1, $2::int) AS c WHERE session_id = $1`,
    [sessionId, copies],
  );
  await db.query('UPDATE sessions SET last_sequence = $2 WHERE id = $1', [sessionId, last * (copies + 1)]);
}

/** Copies the session without its events, so that the list of sessions has `copies` rows more. */
async function copySession(db: Queryable, sessionId: string, copies: number): Promise<void> {
  await db.query(
    `INSERT INTO sessions
     SELECT (jsonb_populate_record(s, jsonb_build_object(
       'id', left(s.id, -3) || lpad(c::text, 3, '0'), 'last_sequence', 0, 'title', 'Session ' || c))).*
     FROM sessions AS s, generate_series(1, $2::int) AS c WHERE s.id = $1`,
    [sessionId, copies],
  );
}

/** A server with 400 sessions, one of which has at least `events` events: three turns of the built-in model, repeated. */
export async function startWithLongSession(
  dataDir: string,
  events: number,
): Promise<{ server: BenchServer; sessionId: string }> {
  const first = await startBenchServer({}, dataDir);
  const agent = await first.call<Made>('POST', '/v1/agents', {
    name: 'bench',
    modelName: 'script/demo',
    systemPrompt: 'Be brief.',
    skills: [],
    tools: [{ type: 'agent_toolset', defaultConfig: { permissionPolicy: { type: 'always_allow' } } }],
  });
  const session = await first.call<Made>('POST', '/v1/sessions', {
    agentId: agent.id,
    subjectId: 'bench',
    title: 'A long session',
  });
  for (const text of ['Hello.', PROMPT, TEXT]) await runTurn(first, session.id, text);
  await first.close();
  const db = await openPglite({ dataDir: join(dataDir, 'database') });
  await multiply(db, session.id, events);
  await copySession(db, session.id, 399);
  await db.close();
  return { server: await startBenchServer({}, dataDir), sessionId: session.id };
}
