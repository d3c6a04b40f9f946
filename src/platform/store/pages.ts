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
  /** false: the rows of all pages are never counted */
  counted?: boolean;
};

const MAX_CURSOR = 1000;

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

function readKey({ type }: Keyset['keys'][number], position: number): string {
  const text = `$${position}::text`;
  return type === 'timestamptz'
    ? `(timestamptz 'epoch' + ${text}::bigint * interval '1 microsecond')`
    : `${text}::${type}`;
}

/**
 * One page of a list, in the order of its keyset. By cursor it begins behind the row that gave the cursor, so rows that
 * are added or deleted meanwhile move nothing; nothing is counted then. Throws `validation_error` for a bad cursor.
 */
export async function readPage<R extends Row>(
  db: Queryable,
  { columns, from, params, keyset, counted = true }: ListStatement,
  page: PageRequest,
): Promise<PageOf<R>> {
  const { keys, direction } = keyset;
  if (page.cursor !== undefined && page.offset !== undefined) {
    throw errors.validation('cursor: must not be combined with offset');
  }
  const values = page.cursor === undefined ? [] : readCursor(keyset, page.cursor);
  const order = keys.map(({ sql }) => `${sql} ${direction}`).join(', ');
  const left = keys.map(({ sql }) => sql).join(', ');
  const right = keys.map((key, index) => readKey(key, params.length + 1 + index)).join(', ');
  const behind = values.length === 0 ? '' : ` AND (${left}) ${direction === 'ASC' ? '>' : '<'} (${right})`;
  const at = params.length + values.length;
  const cursorKey = keys.map(selectKey).join(', ');
  const [found, count] = await Promise.all([
    db.query<R & { page_key: string[] }>(
      `SELECT ${columns}, jsonb_build_array(${cursorKey}) AS page_key ${from}${behind}
       ORDER BY ${order} LIMIT $${at + 1} OFFSET $${at + 2}`,
      [...params, ...values, page.limit + 1, page.offset ?? 0],
    ),
    counted && page.cursor === undefined
      ? db.query<{ total: number }>(`SELECT count(*) AS total ${from}`, params)
      : { rows: [] },
  ]);
  const rows = found.rows.slice(0, page.limit);
  const last = rows.at(-1);
  return {
    rows: rows.map(({ page_key: _key, ...row }) => row as unknown as R),
    total: count.rows[0]?.total ?? null,
    nextCursor: found.rows.length > page.limit && last !== undefined ? writeCursor(keyset, last.page_key) : null,
  };
}
