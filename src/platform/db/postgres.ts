import { createHash } from 'node:crypto';

import { Pool } from 'pg';
import type { PoolClient, QueryConfig } from 'pg';

import { errorText } from '../errors.ts';
import { DISK_FULL, DbUnavailableError, StorageFullError } from './db.ts';
import type { Db, Queryable, Row } from './db.ts';
import { openTransaction } from './transaction.ts';
import { types } from './types.ts';

export type PostgresOptions = {
  /** `postgres://user:password@host:port/database` */
  url: string;
  /** connections of this process; default 10 */
  poolSize?: number;
  /** until a connection is there, new or free; default 5 s */
  connectTimeoutMs?: number;
  /** of one statement; default 30 s; `exec` has no limit */
  statementTimeoutMs?: number;
  /** after which a transaction whose work does nothing is rolled back; default 60 s */
  idleTransactionMs?: number;
};

/** SQLSTATEs that say the server is gone or turns everybody away: classes 08 and 57P, and 53300 (too many connections). */
const GONE_STATE = /^(08...|57P..|53300)$/;
const GONE_TEXT =
  /Connection terminated|timeout exceeded when trying to connect|connection error|Query read timeout|ECONN|EPIPE|ETIMEDOUT|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|pool after calling end/;

function isGone(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  return GONE_STATE.test(code) || GONE_TEXT.test(code) || (code === '' && GONE_TEXT.test(errorText(error)));
}

/** The driver's own errors pass, so that a caller can read the SQLSTATE; a lost server is always `DbUnavailableError`. */
function translate(error: unknown): unknown {
  if (error instanceof Error && 'code' in error && error.code === DISK_FULL)
    return new StorageFullError({ cause: error });
  return isGone(error)
    ? new DbUnavailableError(`PostgreSQL cannot be reached: ${errorText(error)}`, { cause: error })
    : error;
}

const MAX_EXEC_MS = 86_400_000;

/** Statements are text constants; should some be built, those past this count are sent unnamed so that servers stay lean. */
const MAX_PREPARED = 1_000;

function createPool(options: PostgresOptions): Pool {
  const statementTimeoutMs = options.statementTimeoutMs ?? 30_000;
  const pool = new Pool({
    connectionString: options.url,
    max: options.poolSize ?? 10,
    connectionTimeoutMillis: options.connectTimeoutMs ?? 5_000,
    idleTimeoutMillis: 30_000,
    maxLifetimeSeconds: 1_800,
    statement_timeout: statementTimeoutMs,
    // A server that stopped answering, for instance behind a cut cable, does not cancel anything itself.
    query_timeout: statementTimeoutMs + 5_000,
    idle_in_transaction_session_timeout: options.idleTransactionMs ?? 60_000,
    // Statements that are not waited for go out together: BEGIN and the first one, the last one and COMMIT.
    pipeline: true,
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    application_name: 'capstan',
    types,
  });
  // An idle connection that breaks is dropped by the pool; without a listener it would end the process.
  pool.on('error', () => {});
  pool.on('connect', (client) => client.on('error', () => {}));
  return pool;
}

/** Names of prepared statements by their text; `undefined` for one that is sent unnamed. */
function buildNames(): (sql: string) => string | undefined {
  const names = new Map<string, string>();
  return (sql) => {
    let name = names.get(sql);
    if (name === undefined && names.size < MAX_PREPARED) {
      name = createHash('sha256').update(sql).digest('base64url').slice(0, 22);
      names.set(sql, name);
    }
    return name;
  };
}

/** A connect error is tried once more, since nothing was sent yet. */
async function acquire(pool: Pool): Promise<PoolClient> {
  try {
    return await pool.connect();
  } catch (error) {
    if (!isGone(error) || pool.ending || /timeout exceeded/.test(errorText(error))) throw translate(error);
  }
  return pool.connect().catch((error: unknown) => {
    throw translate(error);
  });
}

async function send(client: PoolClient, query: QueryConfig) {
  try {
    return await client.query<Row>(query);
  } catch (error) {
    throw translate(error);
  }
}

/** Resolves when a first connection stands. Throws `DbUnavailableError`. */
export async function openPostgres(options: PostgresOptions): Promise<Db> {
  const pool = createPool(options);
  const nameOf = buildNames();

  async function run(client: PoolClient, sql: string, params: readonly unknown[], named: boolean) {
    const name = named ? nameOf(sql) : undefined;
    const result = await send(client, { text: sql, values: [...params], ...(name ? { name } : {}) });
    return { rows: result.rows, rowCount: result.rowCount ?? 0 };
  }

  /** After an error the connection is kept only if it can still be rolled back to a clean state. */
  async function use<T>(work: (client: PoolClient) => Promise<T>, undo?: string): Promise<T> {
    const client = await acquire(pool);
    let broken = false;
    try {
      return await work(client);
    } catch (error) {
      broken = error instanceof DbUnavailableError;
      if (undo && !broken) await client.query(undo).catch(() => (broken = true));
      throw error;
    } finally {
      client.release(broken);
    }
  }

  const db: Db = {
    embedded: false,
    query: ((sql, params = []) =>
      use(async (client) => {
        try {
          return await run(client, sql, params, true);
        } catch (error) {
          // A migration changed a table under a statement that this connection had prepared; it was refused, not run.
          if (!errorText(error).startsWith('cached plan must not change')) throw error;
          return run(client, sql, params, false);
        }
      })) as Queryable['query'],
    transaction: <T>(work: (tx: Queryable) => Promise<T>) =>
      use(async (client) => {
        const { tx, begun, end } = openTransaction(() => send(client, { text: 'BEGIN' }), ((sql, params = []) =>
          run(client, sql, params, true)) as Queryable['query']);
        const result = await work(tx).finally(end);
        await begun;
        const { command } = await send(client, { text: 'COMMIT' });
        if (command !== 'COMMIT') throw new Error('The transaction was rolled back: a statement in it had failed.');
        return result;
      }, 'ROLLBACK'),
    exec: ((sql) =>
      use(async (client) => {
        await send(client, { text: 'SET statement_timeout = 0' });
        const results = await send(client, { text: sql, query_timeout: MAX_EXEC_MS } as QueryConfig);
        await send(client, { text: 'RESET statement_timeout' });
        // The driver gives a list where there are several statements.
        return { rows: [results].flat().flatMap(({ rows }) => rows) };
      }, 'ROLLBACK; RESET statement_timeout')) as Db['exec'],
    ping: async () => {
      await db.query('SELECT 1');
    },
    close: async () => {
      if (!pool.ending) await pool.end();
    },
  };
  try {
    await db.ping();
  } catch (error) {
    await pool.end();
    throw error;
  }
  return db;
}
