import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { ensureEventPartitions } from '../../../src/agents/store/event-partitions.ts';
import { openEmbeddedDatabase, openPostgresDatabase } from '../../support/database.ts';
import type { TestDatabase } from '../../support/database.ts';
import { findService } from '../../support/find-service.ts';

const postgresUrl = await findService('postgres');

const ADAPTERS = [
  { name: 'postgres', installed: postgresUrl !== undefined, open: () => openPostgresDatabase(postgresUrl ?? '') },
  { name: 'pglite', installed: true, open: openEmbeddedDatabase },
];

describe.each(ADAPTERS.filter(({ installed }) => installed))('partitions of the log on $name', ({ open }) => {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await open();
  });
  afterAll(() => database.close());

  const addEvent = (at: string) =>
    database.db.query(
      `INSERT INTO events (session_id, sequence, id, type, payload, created_at) VALUES ($1, 1, $1, 't', '{}', $2)`,
      [at, new Date(at)],
    );
  const partitionOf = async (at: string) =>
    (await database.db.query('SELECT tableoid::regclass::text AS name FROM events WHERE id = $1', [at])).rows[0]?.name;

  it('are made for this and the next two months, over the turn of a year, once for all concurrent callers', async () => {
    const now = new Date('2026-11-30T23:59:59Z');
    const made = await Promise.all([1, 2, 3].map(() => ensureEventPartitions(database.db, now)));
    expect(made.flat().sort()).toEqual(['events_y2026m11', 'events_y2026m12', 'events_y2027m01']);
    expect(await ensureEventPartitions(database.db, now)).toEqual([]);
  });

  it('take the events of their month, in UTC', async () => {
    for (const at of ['2026-11-01T00:00:00.000Z', '2026-12-31T23:59:59.999Z', '2027-01-01T00:00:00.000Z'])
      await addEvent(at);
    expect(await partitionOf('2026-11-01T00:00:00.000Z')).toBe('events_y2026m11');
    expect(await partitionOf('2026-12-31T23:59:59.999Z')).toBe('events_y2026m12');
    expect(await partitionOf('2027-01-01T00:00:00.000Z')).toBe('events_y2027m01');
  });

  it('are not made for a month whose events are in the default partition already', async () => {
    await addEvent('2028-03-10T00:00:00.000Z');
    expect(await ensureEventPartitions(database.db, new Date('2028-02-01T00:00:00Z'))).toEqual([
      'events_y2028m02',
      'events_y2028m04',
    ]);
    expect(await partitionOf('2028-03-10T00:00:00.000Z')).toBe('events_default');
  });
});
