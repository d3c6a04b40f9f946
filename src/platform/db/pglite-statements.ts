import { protocol } from '@electric-sql/pglite';
import type { PGlite } from '@electric-sql/pglite';
import { findFailure, readFields } from './pglite-reply.ts';
import type { Field } from './pglite-reply.ts';

/** A statement to run. `isKnown`: the caller has had its columns already. */
export type Statement = { sql: string; params: readonly unknown[]; isKnown: boolean };

/**
 * What PostgreSQL wrote, as it wrote it: the thread that asked reads the rows. `fields`: the columns, unless they are
 * known.
 */
export type StatementAnswer = { reply: Uint8Array; fields?: Field[] };

type Prepared = { name: string; fields: Field[]; isTold: boolean };

const { serialize } = protocol;
/** SQLSTATEs of a plan that a change of schema has outdated: it is prepared anew. */
const STALE = new Set(['0A000', '26000']);
/** Statements are text constants; should some be built, the oldest make room. */
const MAX_PREPARED = 500;

/**
 * Runs statements that are planned once per connection. `PGlite.query` plans each call anew, which takes ten times as
 * long as running it, and copies each value twice.
 */
export function openStatements(db: PGlite): (statement: Statement) => Promise<StatementAnswer> {
  const prepared = new Map<string, Prepared>();
  let count = 0;

  const prepare = async (sql: string): Promise<Prepared> => {
    const name = `s${(count += 1)}`;
    const reply = await send(db, [
      serialize.parse({ name, text: sql }),
      serialize.describe({ type: 'S', name }),
      serialize.sync(),
    ]);
    const statement = { name, fields: readFields(reply), isTold: false };
    prepared.set(sql, statement);
    const [oldest] = prepared;
    if (prepared.size > MAX_PREPARED && oldest !== undefined) {
      prepared.delete(oldest[0]);
      await send(db, [serialize.close({ type: 'S', name: oldest[1].name }), serialize.sync()]);
    }
    return statement;
  };

  const execute = async (statement: Prepared, { params, isKnown }: Statement): Promise<StatementAnswer> => {
    const reply = await send(db, [
      serialize.bind({ statement: statement.name, values: (params as readonly Param[]).map(toText) }),
      serialize.execute({}),
      serialize.sync(),
    ]);
    if (isKnown && statement.isTold) return { reply };
    statement.isTold = true;
    return { reply, fields: statement.fields };
  };

  return async (statement) => {
    const { sql } = statement;
    const known = prepared.get(sql);
    if (known === undefined) return execute(await prepare(sql), statement);
    try {
      return await execute(known, statement);
    } catch (error) {
      if (!STALE.has((error as { code?: string }).code ?? '')) throw error;
      prepared.delete(sql);
      return execute(await prepare(sql), statement);
    }
  };
}

/** In memory of its own, since a message to another thread takes all of the memory that a part belongs to. */
function join(chunks: readonly Uint8Array[]): Uint8Array {
  const [first] = chunks;
  if (first !== undefined && chunks.length === 1) return first;
  const joined = new Uint8Array(chunks.reduce((sum, chunk) => sum + chunk.length, 0));
  let at = 0;
  for (const chunk of chunks) {
    joined.set(chunk, at);
    at += chunk.length;
  }
  return joined;
}

async function exchange(db: PGlite, message: Uint8Array): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  // A chunk is a view of the database's memory.
  await db.execProtocolRawStream(message, { syncToFs: false, onRawData: (chunk) => chunks.push(chunk.slice()) });
  return join(chunks);
}

/** One exchange. After an error the connection waits for a `sync`, or every later statement would fail. */
async function send(db: PGlite, parts: readonly Uint8Array[]): Promise<Uint8Array> {
  const reply = await exchange(db, Buffer.concat(parts));
  const failure = findFailure(reply);
  if (failure === undefined) return reply;
  await exchange(db, serialize.sync()).catch(() => undefined);
  const { message, ...fields } = failure;
  throw Object.assign(new Error(message), fields);
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
