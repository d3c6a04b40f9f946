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
