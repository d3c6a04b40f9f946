import { afterAll, beforeAll, expect, it } from 'vitest';
import { openAppender } from '../../../src/agents/worker/appender.ts';
import { openJournal } from '../../../src/agents/worker/journal.ts';
import { WarmLogs } from '../../../src/agents/worker/warm-logs.ts';
import { buildCompacted, buildIdle, buildTurnStart } from '../../../src/agents/log/build-events.ts';
import type { LogExtent } from '../../../src/agents/log/extent.ts';
import type { Db } from '../../../src/platform/db/db.ts';
import type { Claim } from '../../../src/agents/store/leases.ts';
import { openWorld, prompt } from '../api/events/harness.ts';
import type { World } from '../api/events/harness.ts';
import { openEmbeddedDatabase } from '../../support/database.ts';
import type { TestDatabase } from '../../support/database.ts';

let database: TestDatabase;
let world: World;
beforeAll(async () => {
  database = await openEmbeddedDatabase();
  world = await openWorld({ db: database.db });
});
afterAll(async () => {
  await world.close();
  await database.close();
});

/** The database, and how many rows of the log were read. */
function countReads(db: Db): { db: Db; rows: number } {
  const counted = { rows: 0, db };
  counted.db = {
    ...db,
    query: async (text, values) => {
      const result = await db.query(text, values);
      if (text.includes('FROM events')) counted.rows += result.rows.length;
      return result;
    },
  } as Db;
  return counted;
}

async function claim(sessionId: string, epoch: number, extent: LogExtent | null = null): Promise<Claim> {
  await database.db.query('UPDATE sessions SET lease_epoch = $2 WHERE id = $1', [sessionId, epoch]);
  const { rows } = await database.db.query<{ last: number }>(
    'SELECT last_sequence AS last FROM sessions WHERE id = $1',
    [sessionId],
  );
  return { sessionId, epoch, lastSequence: rows[0]?.last ?? 0, extent } as Claim;
}

const start = (turnId: string) => buildTurnStart({ turnId }, { kind: 'notice', text: turnId, eventId: null });
const idle = (turnId: string) => buildIdle({ turnId }, { stop_reason: { type: 'end_turn' } });

it('reads only events since the last run of the session on this worker', async () => {
  const sessionId = await world.createSession();
  const reads = countReads(database.db);
  const deps = {
    db: reads.db,
    appender: openAppender(database.db),
    warmLogs: new WarmLogs(),
    publish: () => undefined,
  };
  await world.send(sessionId, [prompt('one')]);
  const first = await openJournal(await claim(sessionId, 1), deps);
  await first.append({ events: Array.from({ length: 50 }, (_, index) => start(`trn_${index}`)) });
  await first.append({ events: [idle('trn_49')], session: { release: true } });
  reads.rows = 0;

  await world.send(sessionId, [prompt('two')]);
  const next = await openJournal(await claim(sessionId, 2), deps);
  expect(next.events.map(({ sequence }) => sequence)).toEqual(
    Array.from({ length: next.lastSequence }, (_, at) => at + 1),
  );
  expect(reads.rows).toBe(next.lastSequence - first.lastSequence);

  // Another worker had the session in between: the stored state counts.
  next.keep();
  const later = await openJournal(await claim(sessionId, 4), deps);
  expect(later.events).toHaveLength(next.events.length);
  expect(reads.rows).toBeGreaterThan(50);
});

it('reads only the part of a compacted session that prompts need', async () => {
  const sessionId = await world.createSession();
  const reads = countReads(database.db);
  const open = async (epoch: number, extent: LogExtent | null) =>
    openJournal(await claim(sessionId, epoch, extent), {
      db: reads.db,
      appender: openAppender(database.db),
      warmLogs: new WarmLogs(),
      publish: () => undefined,
    });
  const first = await open(1, null);
  await first.append({ events: Array.from({ length: 40 }, (_, index) => start(`trn_${index}`)) });
  const compaction = { head: null, tail: 'trn_38', prompt: null, text: '', summary: '', failedAt: null, saved: 1 };
  await first.append({ events: [buildCompacted({ turnId: 'trn_39' }, 1, compaction)] });
  reads.rows = 0;
  const next = await open(2, { head: 2, from: 39, also: [7, 8] });
  expect(next.events.map(({ sequence }) => sequence)).toEqual([1, 2, 7, 8, 39, 40, 41]);
  expect(reads.rows).toBe(7);
  // If the parts overlap, each event is read once.
  const overlapping = await open(3, { head: 30, from: 12, also: [7, 35] });
  expect(overlapping.events).toHaveLength(41);
});
