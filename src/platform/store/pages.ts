import type { Queryable, Row } from '../db/db.ts';
import { errors } from '../errors.ts';

type KeyType = 'text' | 'timestamptz' | 'bigint' | 'double precision';

/**
 * What orders a list: expressions that are never null and together name one row, all in one direction. `name` stands in
 * the cursors, so that a list takes none of another order.
 */
export type Keyset = {
  name: string;
  keys: readonly { sql: string; type: KeyType }[];
  direction: 'ASC' | 'DESC';
};

/** Which part of a list. A cursor and an offset exclude each other. */
export type PageRequest = { limit: number; offset?: number | undefined; cursor?: string | undefined };

/** `total`: rows on all pages; null where the page was asked for by cursor. `nextCursor`: null on the last page. */
export type PageOf<R> = { rows: R[]; total: number | null; nextCursor: string | null };

/** A list as SQL: what to select, and `FROM … WHERE …` with its parameters. */
export type ListStatement = {
  columns: string;
  from: string;
  params: readonly unknown[];
  keyset: Keyset;
  /**
   * where the columns cost a subquery a row: the table of the rows with its alias, and its key. The columns are computed
   * for the rows of the page alone, not for those that an offset skips.
   */
  table?: { from: string; key: string };
  /** false: the rows of all pages are never counted */
  counted?: boolean;
};

/** Characters: enough for the longest path of a file. */
const MAX_CURSOR = 8000;

function invalidCursor(): Error {
  return errors.validation('cursor: must be one that this list gave, with the same order');
}

export function writeCursor(keyset: Pick<Keyset, 'name'>, values: readonly string[]): string {
  return Buffer.from(JSON.stringify([keyset.name, ...values])).toString('base64url');
}

const FORMS: Readonly<Record<KeyType, (value: string) => boolean>> = {
  text: (value) => !value.includes('\0') && value.isWellFormed(),
  // microseconds since 1970
  timestamptz: (value) => /^\d{1,17}$/.test(value),
  bigint: (value) => /^-?\d{1,18}$/.test(value),
  'double precision': (value) => value.length < 40 && value !== '' && Number.isFinite(Number(value)),
};

/** The key values in a cursor. Throws `validation_error` for anything that no list of this order has given. */
export function readCursor({ name, keys }: Pick<Keyset, 'name' | 'keys'>, cursor: string): string[] {
  if (cursor.length > MAX_CURSOR) throw invalidCursor();
  let parsed: unknown;
  try {
    parsed = JSON.parse(Buffer.from(cursor, 'base64url').toString());
  } catch {
    throw invalidCursor();
  }
  if (!Array.isArray(parsed) || parsed.length !== keys.length + 1 || parsed[0] !== name) throw invalidCursor();
  const values: unknown[] = parsed.slice(1);
  return keys.map(({ type }, index) => {
    const value = values[index];
    if (typeof value !== 'string' || !FORMS[type](value)) throw invalidCursor();
    return value;
  });
}

// As whole microseconds a time keeps its precision, whatever the settings of the connection.
function selectKey({ sql, type }: Keyset['keys'][number]): string {
  return type === 'timestamptz' ? `(extract(epoch FROM ${sql}) * 1000000)::bigint::text` : `(${sql})::text`;
}

/** Selects the key values of a row, as `writeCursor` takes them. */
export function selectKeys({ keys }: Keyset): string {
  return `jsonb_build_array(${keys.map(selectKey).join(', ')})`;
}

/** The condition for the rows behind a cursor, whose key values are the parameters from `first` on. */
export function isBehind({ keys, direction }: Keyset, first: number): string {
  const left = keys.map(({ sql }) => sql).join(', ');
  const right = keys.map((key, index) => readKey(key, first + index)).join(', ');
  return `(${left}) ${direction === 'ASC' ? '>' : '<'} (${right})`;
}

/** The key values of a page's cursor, none without a cursor. Throws `validation_error` for a cursor beside an offset. */
export function readPageCursor(
  keyset: Pick<Keyset, 'name' | 'keys'>,
  { cursor, offset }: Omit<PageRequest, 'limit'>,
): string[] {
  if (cursor === undefined) return [];
  if (offset !== undefined) throw errors.validation('cursor: must not be combined with offset');
  return readCursor(keyset, cursor);
}

/**
 * One page of a list in memory, whose items keep their order. A cursor names the item before the page; throws
 * `validation_error` once that item is gone.
 */
export function slicePage<T>(items: readonly T[], nameOf: (item: T) => string, page: PageRequest): PageOf<T> {
  const keyset = { name: 'items', keys: [{ sql: '', type: 'text' as const }] };
  const [before] = readPageCursor(keyset, page);
  const place = before === undefined ? -1 : items.findIndex((item) => nameOf(item) === before);
  if (before !== undefined && place === -1) throw invalidCursor();
  const start = before === undefined ? (page.offset ?? 0) : place + 1;
  const rows = items.slice(start, start + page.limit);
  const last = rows.at(-1);
  const hasMore = last !== undefined && start + rows.length < items.length;
  return { rows, total: items.length, nextCursor: hasMore ? writeCursor(keyset, [nameOf(last)]) : null };
}

function readKey({ type }: Keyset['keys'][number], position: number): string {
  const text = `$${position}::text`;
  return type === 'timestamptz'
    ? `(timestamptz 'epoch' + ${text}::bigint * interval '1 microsecond')`
    : `${text}::${type}`;
}

/** Chooses the rows of a page: with a table, by their keys first. */
function selectFrom(chosen: string, order: string, table: ListStatement['table']): string {
  if (table === undefined) return chosen;
  const { from, key } = table;
  return `FROM (SELECT ${key} AS key ${chosen}) AS page JOIN ${from} ON ${key} = page.key ORDER BY ${order}`;
}

/**
 * One page of a list, in the order of its keyset. By cursor it begins behind the row that gave the cursor, so rows that
 * are added or deleted meanwhile move nothing; nothing is counted then. Throws `validation_error` for a bad cursor.
 */
export async function readPage<R extends Row>(
  db: Queryable,
  { columns, from, params, keyset, table, counted = true }: ListStatement,
  page: PageRequest,
): Promise<PageOf<R>> {
  const values = readPageCursor(keyset, page);
  const order = keyset.keys.map(({ sql }) => `${sql} ${keyset.direction}`).join(', ');
  const behind = values.length === 0 ? '' : ` AND ${isBehind(keyset, params.length + 1)}`;
  const at = params.length + values.length;
  const chosen = `${from}${behind} ORDER BY ${order} LIMIT $${at + 1} OFFSET $${at + 2}`;
  const [found, count] = await Promise.all([
    db.query<R & { page_key?: string[] }>(
      `SELECT ${columns}, ${selectKeys(keyset)} AS page_key ${selectFrom(chosen, order, table)}`,
      [...params, ...values, page.limit + 1, page.offset ?? 0],
    ),
    counted && page.cursor === undefined
      ? db.query<{ total: number }>(`SELECT count(*) AS total ${from}`, params)
      : { rows: [] },
  ]);
  return { total: count.rows[0]?.total ?? null, ...cutPage(found.rows, page.limit, keyset) };
}

/** A page of rows that were found with their keys, and the cursor behind it where more follow. Changes the rows. */
export function cutPage<R extends Row>(
  found: readonly (R & { page_key?: string[] })[],
  limit: number,
  keyset: Keyset,
): Pick<PageOf<R>, 'rows' | 'nextCursor'> {
  const rows = found.slice(0, limit);
  const lastKey = rows.at(-1)?.page_key;
  // The last column: deleting it is much faster than copying each row without it.
  for (const row of rows) delete row.page_key;
  return { rows, nextCursor: found.length > limit && lastKey !== undefined ? writeCursor(keyset, lastKey) : null };
}
