// Measures session search on PostgreSQL over EVENTS messages (default 1,000,000): the tool's whole work for a query,
// from the ranked hits with snippets to the messages around them. One subject owns a tenth of all messages; the others
// are spread over 1,000 subjects.
// Needs: PostgreSQL (make services).
import { openPostgres } from '../src/platform/db/postgres.ts';
import type { Db } from '../src/platform/db/db.ts';
import { runMigrations } from '../src/platform/store/migrate.ts';
import { ensureEventPartitions } from '../src/agents/store/event-partitions.ts';
import { readMessages, searchMessages } from '../src/agents/store/search.ts';
import { startPostgres } from '../test/support/services/postgres.ts';
import { median, milliseconds, printMachine, quantile } from './support/figures.ts';
import { NEEDS, requireFound } from './support/needs.ts';

const EVENTS = Number(process.env['EVENTS'] ?? 1_000_000);
const SUBJECTS = 1000;
const PER_SESSION = 20;
const BATCH = 10_000;
const QUERIES = 300;
const WORDS = 20_000;

// Words follow a natural distribution: word 1 is in most messages, word 20,000 in few.
const MESSAGE = `(SELECT string_agg('w' || floor(exp(random() * ln(${WORDS})))::int, ' ') FROM generate_series(1, 40) WHERE n > 0)`;

async function fill(db: Db): Promise<void> {
  await runMigrations(db);
  await ensureEventPartitions(db, new Date());
  await db.exec(`
    INSERT INTO organizations (id, name) VALUES ('org', 'bench');
    INSERT INTO agents (id, organization_id, name, conversations_per_minute, messages_per_minute, latest_version, production_version)
      VALUES ('agt', 'org', 'bench', 1, 1, 0, 0);
    INSERT INTO agent_versions (id, agent_id, version, model_name, system_prompt, skills, tools, roles, mcp_servers, metadata)
      VALUES ('ver', 'agt', 0, 'm', '', '[]', '[]', '[]', '[]', '{}');
    INSERT INTO sessions (id, organization_id, agent_id, agent_version_id, agent_version, subject_id, title_fixed, last_sequence)
      SELECT 'ses_' || n, 'org', 'agt', 'ver', 0, 'subject ' || CASE WHEN n % 10 = 0 THEN 0 ELSE 1 + n % ${SUBJECTS} END, false, ${PER_SESSION}
      FROM generate_series(0, ${Math.ceil(EVENTS / PER_SESSION)}) AS n;`);
  for (let from = 0; from < EVENTS; from += BATCH) {
    const to = Math.min(EVENTS, from + BATCH) - 1;
    await db.query(
      `INSERT INTO events (session_id, sequence, id, type, payload, created_at)
       SELECT 'ses_' || n / ${PER_SESSION}, 1 + n % ${PER_SESSION}, 'evt_' || n,
         CASE WHEN n % 2 = 0 THEN 'user.message' ELSE 'agent.message' END,
         jsonb_build_object('type', 'm', 'content', jsonb_build_array(jsonb_build_object('type', 'text', 'text', ${MESSAGE}))), now()
       FROM generate_series($1::bigint, $2::bigint) AS n`,
      [from, to],
    );
  }
  // Like autovacuum, which also moves pending entries into the word index.
  for (const table of ['message_words', 'sessions', 'events']) await db.exec(`VACUUM ANALYZE ${table}`);
}

/** Words as models search for them: neither the most common nor the rarest. */
function pickWord(query: number, place: number): string {
  const spread = ((query * 7919 + place * 104_729) % 1000) / 1000;
  return `w${Math.floor(Math.exp(Math.log(30) + spread * (Math.log(WORDS) - Math.log(30))))}`;
}

async function search(db: Db, subjectId: string, text: string): Promise<{ ms: number; hits: number }> {
  const subject = { organizationId: 'org', agentId: 'agt', subjectId };
  const started = performance.now();
  const wanted = { text, limit: 3, sort: 'relevance' as const, roles: ['user', 'assistant'], exclude: 'ses_x' };
  const { hits } = await searchMessages(db, subject, wanted);
  const places = hits.map(({ session, messageId }) => ({ sessionId: session.sessionId, messageId }));
  await readMessages(db, subject, places, { window: 5, first: 3, last: 3 });
  return { ms: performance.now() - started, hits: hits.length };
}

async function measure(name: string, run: (query: number) => Promise<{ ms: number; hits: number }>): Promise<void> {
  for (let warm = 0; warm < 20; warm += 1) await run(warm + QUERIES);
  const times: number[] = [];
  let hits = 0;
  for (let query = 0; query < QUERIES; query += 1) {
    const result = await run(query);
    times.push(result.ms);
    hits += result.hits;
  }
  const figures = [median(times), quantile(times, 0.95), quantile(times, 0.99)].map(milliseconds).join(' / ');
  console.log(`${name}: p50 / p95 / p99 ${figures}, ${(hits / QUERIES).toFixed(1)} hits`);
}

printMachine();
const service = requireFound(await startPostgres(), NEEDS.postgres);
const db = await openPostgres({ url: service.url });
try {
  const started = performance.now();
  await fill(db);
  console.log(
    `${EVENTS} messages of 40 words, indexed at ${((EVENTS / (performance.now() - started)) * 1000).toFixed(0)} a second`,
  );
  const words = (query: number, count: number) => Array.from({ length: count }, (_, place) => pickWord(query, place));
  const subject = (query: number) => `subject ${1 + (query % (SUBJECTS - 1))}`;
  await measure('one word, usual subject', (query) => search(db, subject(query), words(query, 1).join(' ')));
  await measure('three words OR, usual subject', (query) => search(db, subject(query), words(query, 3).join(' OR ')));
  await measure('two words, subject with a tenth of all', (query) =>
    search(db, 'subject 0', words(query, 2).join(' ')),
  );
  await measure('three words OR, subject with a tenth', (query) =>
    search(db, 'subject 0', words(query, 3).join(' OR ')),
  );
  await measure('the commonest word, subject with a tenth', () => search(db, 'subject 0', 'w1'));
} finally {
  await db.close();
  await service.stop();
}
