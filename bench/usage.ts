// Measures GET /v1/usage, without HTTP, on PostgreSQL over ROWS rows of the ledger (default 10,000,000) of one organization:
// 90 days, 1,000 subjects, 30 agents; a session has 40 calls of a model and of tools within an hour. The last 5,000 rows
// are not rolled up yet.
// Needs: PostgreSQL (make services).
import { openPostgres } from '../src/platform/db/postgres.ts';
import type { Db } from '../src/platform/db/db.ts';
import { runMigrations } from '../src/platform/store/migrate.ts';
import { reportUsage } from '../src/platform/store/usage-report.ts';
import type { UsageColumn, UsageQuery } from '../src/platform/store/usage-report.ts';
import { COUNT_COLUMNS, RECORD_AS_HOUR, REF_COLUMNS } from '../src/platform/store/usage.ts';
import { startPostgres } from '../test/support/services/postgres.ts';
import { median, milliseconds, printMachine, quantile } from './support/figures.ts';
import { NEEDS, requireFound } from './support/needs.ts';

const ROWS = Number(process.env['ROWS'] ?? 10_000_000);
const QUERIES = Number(process.env['QUERIES'] ?? 100);
const DAYS = 90;
const SESSION = 40;
const NEW = 5000;
const BATCH = 500_000;
const DAY_MS = 86_400_000;
const END = new Date(Math.floor(Date.now() / DAY_MS) * DAY_MS);

/** Each session has a place in time, a subject and an agent; of its 40 rows 16 are calls of one model, the rest of tools. */
const selectRecords = (
  from: number,
  to: number,
) => `SELECT 'org', timestamptz '${END.toISOString()}' - (${DAYS}::float8 * (1 - s.session * ${SESSION} / ${ROWS}::float8) * interval '1 day')
    + (n % ${SESSION}) * interval '20 seconds', 'agents',
    CASE WHEN n % 5 < 2 THEN 'model' ELSE 'tool' END,
    CASE WHEN n % 5 < 2 THEN 'acme/model-' || s.subject % 4 ELSE 'tool-' || (s.session + n % 4) % 9 END,
    'agt_' || s.subject % 30, 'subject ' || s.subject, 'ses_' || s.session, '{"team": "blue"}'::jsonb,
    CASE WHEN n % 5 < 2 THEN 1 ELSE 0 END, CASE WHEN n % 97 = 0 THEN 1 ELSE 0 END, 4000 + n % 9000, 2000 + n % 900,
    200 + n % 700, CASE WHEN n % 5 < 2 THEN 0 ELSE 1 END, CASE WHEN n % 5 < 2 THEN 0 ELSE n % 3000 END,
    CASE WHEN n % 5 < 2 THEN 0.001 * (1 + n % 30) END, 100 + n % 20000, n < ${ROWS - NEW}
  FROM generate_series(${from}::bigint, ${to}::bigint) AS n
    CROSS JOIN LATERAL (SELECT n / ${SESSION} AS session, (n / ${SESSION} * 7919) % 1000 AS subject) AS s`;

/** Without the time limit of the service's own statements. */
async function runLong(db: Db, sql: string): Promise<void> {
  await db.exec(`BEGIN; SET LOCAL statement_timeout = 0; ${sql}; COMMIT`);
}

async function fill(db: Db): Promise<void> {
  await runMigrations(db);
  await db.exec(`INSERT INTO organizations (id, name) VALUES ('org', 'bench')`);
  // Checked for each row, it would take longer than the rest.
  await db.exec('ALTER TABLE usage_records DROP CONSTRAINT usage_records_organization_id_fkey');
  for (let from = 0; from < ROWS; from += BATCH) {
    await runLong(
      db,
      `INSERT INTO usage_records (organization_id, occurred_at, source, kind, name, agent_id, subject_id, session_id,
         metadata, calls, failures, input_tokens, cached_input_tokens, output_tokens, tool_calls, sandbox_ms, cost_usd,
         latency_ms, rolled) ${selectRecords(from, Math.min(ROWS, from + BATCH) - 1)}`,
    );
  }
  await runLong(
    db,
    `INSERT INTO usage_hours (${[...REF_COLUMNS, ...COUNT_COLUMNS].join(', ')})
    SELECT ${REF_COLUMNS.join(', ')}, ${COUNT_COLUMNS.map((name) => `sum(${name})`).join(', ')}
    FROM (SELECT r.organization_id, ${RECORD_AS_HOUR} FROM usage_records r WHERE r.rolled) AS h
    GROUP BY ${REF_COLUMNS.join(', ')}`,
  );
  for (const table of ['usage_records', 'usage_hours', 'usage_days']) await db.exec(`VACUUM ANALYZE ${table}`);
}

function daysAgo(days: number): Date {
  return new Date(END.getTime() - days * DAY_MS);
}

function build(columns: UsageColumn[], more: Partial<UsageQuery> = {}): UsageQuery {
  return {
    organizationId: 'org',
    columns,
    metadata: null,
    from: daysAgo(30),
    to: END,
    source: null,
    filter: {},
    order: 'time',
    limit: 1000,
    offset: 0,
    ...more,
  };
}

async function measure(db: Db, name: string, query: (index: number) => UsageQuery): Promise<void> {
  await reportUsage(db, query(QUERIES));
  const times: number[] = [];
  let requests = 0;
  for (let index = 0; index < QUERIES; index += 1) {
    const started = performance.now();
    const { totals } = await reportUsage(db, query(index));
    times.push(performance.now() - started);
    requests += totals.requests;
  }
  const figures = [median(times), quantile(times, 0.95)].map(milliseconds).join(' | ');
  console.log(`| ${name} | ${figures} | ${Math.round(requests / QUERIES).toLocaleString('en')} |`);
}

printMachine();
const service = requireFound(await startPostgres(), NEEDS.postgres);
const db = await openPostgres({ url: service.url });
try {
  await fill(db);
  const { rows } = await db.query<{ hours: number; days: number }>(
    `SELECT (SELECT count(*) FROM usage_hours)::float8 AS hours, (SELECT count(*) FROM usage_days)::float8 AS days`,
  );
  const [{ hours, days } = { hours: 0, days: 0 }] = rows;
  const count = (value: number) => value.toLocaleString('en');
  console.log(`${count(ROWS)} rows, ${count(hours)} by hour, ${count(days)} by day\n`);
  console.log('| query | p50 | p95 | calls in it |\n|---|---|---|---|');
  const ninety = { from: daysAgo(DAYS) };
  await measure(db, 'by model, key and day, 30 days (the default)', () => build(['model', 'key', 'day']));
  await measure(db, 'by model, key and day, 90 days', () => build(['model', 'key', 'day'], ninety));
  await measure(db, 'by subject, 90 days, by cost', () => build(['subject'], { ...ninety, order: 'cost' }));
  await measure(db, 'by agent and day, 90 days', () => build(['agent', 'day'], ninety));
  await measure(db, 'by hour, 7 days', () => build(['hour'], { from: daysAgo(7) }));
  await measure(db, 'by hour, 30 days', () => build(['hour']));
  await measure(db, 'of a subject by day, 90 days', (index) =>
    build(['day'], { ...ninety, filter: { subject: `subject ${(index * 37) % 1000}` } }),
  );
  await measure(db, 'of a session, by model', (index) =>
    build(['model'], { filter: { session: `ses_${Math.floor(ROWS / SESSION) - 1 - index * 50}` } }),
  );
  await measure(db, 'by session, a day, by cost', (index) =>
    build(['session'], { from: daysAgo((index % 30) + 1), to: daysAgo(index % 30), order: 'cost' }),
  );
  await measure(db, 'by metadata.team, a day', (index) =>
    build([], { metadata: 'team', from: daysAgo((index % 30) + 1), to: daysAgo(index % 30) }),
  );
} finally {
  await db.close();
  await service.stop();
}
