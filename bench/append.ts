// Appends events on PostgreSQL through the worker's appender (fenced, grouped into commits, with assigned sequences)
// and reports events per second. Floor: one connection that inserts the same rows into the same kind of table, 64 rows
// per statement.
// Needs: PostgreSQL (make services).
import { openPostgres } from '../src/platform/db/postgres.ts';
import type { Db } from '../src/platform/db/db.ts';
import { newId } from '../src/platform/ids.ts';
import { runMigrations } from '../src/platform/store/migrate.ts';
import { ensureEventPartitions } from '../src/agents/store/event-partitions.ts';
import { buildMessage } from '../src/agents/log/build-events.ts';
import { openAppender } from '../src/agents/worker/appender.ts';
import { startPostgres } from '../test/support/services/postgres.ts';
import { median, printMachine, quantile, milliseconds } from './support/figures.ts';
import { NEEDS, requireFound } from './support/needs.ts';

const ROUNDS = 5;
const SESSIONS = 256;
const EVENTS = 20_000;
const ROWS = 64;

const text = 'The quick brown fox jumps over the lazy dog. '.repeat(6);

function buildEvent() {
  const id = newId('evt');
  return buildMessage({ id, turnId: 'trn_bench' }, [{ type: 'text', text }], { step: 1, index: 0 });
}

async function prepare(db: Db): Promise<string[]> {
  await runMigrations(db);
  await ensureEventPartitions(db, new Date());
  await db.exec(`
    CREATE TABLE floor (LIKE events INCLUDING ALL) PARTITION BY RANGE (created_at);
    CREATE TABLE floor_default PARTITION OF floor DEFAULT;
    INSERT INTO organizations (id, name) VALUES ('org_bench', 'bench');
    INSERT INTO agents (id, organization_id, name, conversations_per_minute, messages_per_minute, latest_version, production_version)
      VALUES ('agt_bench', 'org_bench', 'bench', 1, 1, 0, 0);
    INSERT INTO sessions (id, organization_id, agent_id, agent_version_id, agent_version, subject_id, title_fixed, lease_epoch)
      SELECT 'ses_' || n, 'org_bench', 'agt_bench', 'ver_bench', 0, 's', false, 1 FROM generate_series(1, ${SESSIONS}) AS n;`);
  return Array.from({ length: SESSIONS }, (_, index) => `ses_${index + 1}`);
}

async function measureOurs(db: Db, sessions: readonly string[]): Promise<{ perSecond: number; times: number[] }> {
  const appender = openAppender(db);
  const times: number[] = [];
  let left = EVENTS;
  const started = performance.now();
  await Promise.all(
    sessions.map(async (sessionId) => {
      while (left-- > 0) {
        const begun = performance.now();
        await appender.append({ sessionId, epoch: 1, events: [buildEvent()] });
        times.push(performance.now() - begun);
      }
    }),
  );
  return { perSecond: (EVENTS / (performance.now() - started)) * 1000, times };
}

async function measureFloor(db: Db, sessions: readonly string[]): Promise<number> {
  const columns = 8;
  const rows = Array.from({ length: ROWS }, (_, row) => {
    const place = (column: number) => `$${row * columns + column + 1}`;
    return `(${place(0)}, ${place(1)}, ${place(2)}, ${place(3)}, ${place(4)}, ${place(5)}, ${place(6)}::jsonb, ${place(7)}::jsonb, now())`;
  });
  const sql = `INSERT INTO floor (session_id, sequence, id, type, turn_id, status, payload, internal, created_at) VALUES ${rows.join(', ')}`;
  const started = performance.now();
  for (let sent = 0; sent < EVENTS; sent += ROWS) {
    const params = Array.from({ length: ROWS }, (_, row) => {
      const event = buildEvent();
      const sessionId = sessions[(sent + row) % sessions.length];
      const { id, turnId, status, payload, internal } = event;
      return [
        sessionId,
        sent + row,
        id,
        payload.type,
        turnId,
        status,
        JSON.stringify(payload),
        JSON.stringify(internal),
      ];
    });
    await db.query(sql, params.flat());
  }
  return (EVENTS / (performance.now() - started)) * 1000;
}

printMachine();
const service = requireFound(await startPostgres(), NEEDS.postgres);
const db = await openPostgres({ url: service.url });
const sessions = await prepare(db);
const ours: number[] = [];
const floor: number[] = [];
const times: number[] = [];
for (let round = 0; round < ROUNDS; round += 1) {
  floor.push(await measureFloor(db, sessions));
  const result = await measureOurs(db, sessions);
  ours.push(result.perSecond);
  times.push(...result.times);
}
console.log(
  `floor, bare multi-row INSERT of ${ROWS}: ${median(floor).toFixed(0)} events/s (median of ${ROUNDS} rounds)`,
);
console.log(
  `append, ${SESSIONS} sessions: ${median(ours).toFixed(0)} events/s, ${(median(ours) / median(floor)).toFixed(2)} of the floor`,
);
console.log(`append latency: p50 ${milliseconds(median(times))}, p99 ${milliseconds(quantile(times, 0.99))}`);
await db.close();
await service.stop();
