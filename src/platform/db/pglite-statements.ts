import { protocol } from '@electric-sql/pglite';
import type { PGlite } from '@electric-sql/pglite';
import { types } from './types.ts';

export type StatementResult = { rows: Record<string, unknown>[]; rowCount: number; command: string };

type Field = { name: string; dataTypeID: number };
type Prepared = { name: string; fields: Field[] };
type Messages = { name: string; fields?: unknown; text?: string }[];

const { serialize } = protocol;
/** SQLSTATEs of a plan that a change of schema has outdated: it is prepared anew. */
const STALE = new Set(['0A000', '26000']);
/** Statements are text constants; should some be built, the oldest make room. */
const MAX_PREPARED = 500;

/**
 * Runs statements that are planned once per connection. `PGlite.query` plans each call anew, which takes ten times as
 * long as running it.
 */
export function openStatements(db: PGlite): (sql: string, params: readonly unknown[]) => Promise<StatementResult> {
  const prepared = new Map<string, Prepared>();
  let count = 0;

  const prepare = async (sql: string): Promise<Prepared> => {
    const name = `s${(count += 1)}`;
    const messages = await send(db, [
      serialize.parse({ name, text: sql }),
      serialize.describe({ type: 'S', name }),
      serialize.sync(),
    ]);
    const row = messages.find((message) => message.name === 'rowDescription');
    const statement = { name, fields: (row?.fields ?? []) as Field[] };
    prepared.set(sql, statement);
    const [oldest] = prepared;
    if (prepared.size > MAX_PREPARED && oldest !== undefined) {
      prepared.delete(oldest[0]);
      await send(db, [serialize.close({ type: 'S', name: oldest[1].name }), serialize.sync()]);
    }
    return statement;
  };

  const execute = async (statement: Prepared, params: readonly unknown[]): Promise<StatementResult> => {
    const messages = await send(db, [
      serialize.bind({ statement: statement.name, values: (params as readonly Param[]).map(toText) }),
      serialize.execute({}),
      serialize.sync(),
    ]);
    const parsers = statement.fields.map(
      (field) => types.getTypeParser(field.dataTypeID) as unknown as (value: string) => unknown,
    );
    const rows: Record<string, unknown>[] = [];
    let tag = '';
    for (const message of messages) {
      if (message.name === 'commandComplete') tag = message.text ?? '';
      if (message.name !== 'dataRow') continue;
      const values = message.fields as (string | null)[];
      rows.push(
        Object.fromEntries(
          statement.fields.map((field, index) => {
            const value = values[index] ?? null;
            return [field.name, value === null ? null : parsers[index]?.(value)];
          }),
        ),
      );
    }
    return { rows, rowCount: Number(/(?<!\d)\d+$/.exec(tag)?.[0] ?? 0), command: tag.split(' ')[0] ?? '' };
  };

  return async (sql, params) => {
    const known = prepared.get(sql);
    if (known === undefined) return execute(await prepare(sql), params);
    try {
      return await execute(known, params);
    } catch (error) {
      if (!STALE.has((error as { code?: string }).code ?? '')) throw error;
      prepared.delete(sql);
      return execute(await prepare(sql), params);
    }
  };
}

/** One exchange. After an error the connection waits for a `sync`, or every later statement would fail. */
async function send(db: PGlite, parts: readonly Uint8Array[]): Promise<Messages> {
  try {
    const { messages } = await db.execProtocol(Buffer.concat(parts), { syncToFs: false });
    return messages;
  } catch (error) {
    await db.execProtocol(serialize.sync(), { throwOnError: false }).catch(() => undefined);
    throw error;
  }
}

type Param = Date | Uint8Array | string | number | boolean | null | undefined | Param[];

function toText(value: Param): string | null {
  if (value === null || value === undefined) return null;
  if (value instanceof Date) return value.toISOString();
  if (value instanceof Uint8Array) return `\\x${Buffer.from(value).toString('hex')}`;
  if (Array.isArray(value)) return `{${value.map(toElement).join(',')}}`;
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

function toElement(value: Param): string {
  if (Array.isArray(value)) return toText(value) ?? 'NULL';
  const text = toText(value);
  return text === null ? 'NULL' : `"${text.replaceAll(/["\\]/g, String.raw`\$&`)}"`;
}
