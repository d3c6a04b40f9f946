import type { Db } from '../db/db.ts';

const MONTHS_AHEAD = 2;

/** SQLSTATEs: rows of the month are in the default partition already; another process was faster. */
const ROWS_IN_DEFAULT = '23514';
const ALREADY_THERE = '42P07';

type Month = { name: string; from: string; to: string };

/** The month `ahead` months after the one of `now`, in UTC. */
function buildMonth(table: string, now: Date, ahead: number): Month {
  const start = (months: number) =>
    new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + months, 1)).toISOString();
  const from = start(ahead);
  return { name: `${table}_y${from.slice(0, 4)}m${from.slice(5, 7)}`, from, to: start(ahead + 1) };
}

function isExpected(error: unknown): boolean {
  return error instanceof Error && 'code' in error && [ROWS_IN_DEFAULT, ALREADY_THERE].includes(String(error.code));
}

/**
 * Creates the missing monthly partitions of `table` for this and the next two months, and returns their names. Call it
 * at start and daily; concurrent callers are safe. A month that has rows in the default partition stays there. `table`
 * becomes part of the SQL: never pass text from outside.
 */
export async function ensureMonthlyPartitions(db: Db, table: string, now: Date): Promise<string[]> {
  const months = Array.from({ length: MONTHS_AHEAD + 1 }, (_, ahead) => buildMonth(table, now, ahead));
  const { rows } = await db.query<{ name: string }>(
    'SELECT name FROM unnest($1::text[]) AS name WHERE to_regclass(name) IS NULL',
    [months.map(({ name }) => name)],
  );
  const missing = new Set(rows.map(({ name }) => name));
  const made: string[] = [];
  for (const { name, from, to } of months) {
    if (!missing.has(name)) continue;
    try {
      // Names and bounds are computed above from the table and a date. The lock on the parent must not queue up appends for long.
      await db.exec(`BEGIN; SET LOCAL lock_timeout = '5s';
        CREATE TABLE ${name} PARTITION OF ${table} FOR VALUES FROM ('${from}') TO ('${to}');
        COMMIT;`);
      made.push(name);
    } catch (error) {
      if (!isExpected(error)) throw error;
    }
  }
  return made;
}

/**
 * Drops partitions of months that ended before the last one and have no rows, and returns their names: a dropped table
 * gives its disk back at once, which deleted rows do not. Rows carry the present time, so none can come meanwhile. `table`
 * becomes part of the SQL: never pass text from outside.
 */
export async function dropEmptyMonths(db: Db, table: string, now: Date): Promise<string[]> {
  const { name: lastMonth } = buildMonth(table, now, -1);
  const { rows } = await db.query<{ name: string }>(
    `SELECT c.relname AS name FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
     WHERE i.inhparent = $1::regclass AND c.relname ~ ('^' || $1::text || '_y[0-9]{4}m[0-9]{2}$') AND c.relname < $2
     ORDER BY 1`,
    [table, lastMonth],
  );
  const dropped: string[] = [];
  for (const { name } of rows) {
    const { rows: left } = await db.query(`SELECT 1 FROM ${name} LIMIT 1`);
    if (left.length > 0) continue;
    // The lock on the parent must not queue up appends for long. IF EXISTS: another process may have been faster.
    await db.exec(`BEGIN; SET LOCAL lock_timeout = '5s'; DROP TABLE IF EXISTS ${name}; COMMIT;`);
    dropped.push(name);
  }
  return dropped;
}
