import { parentPort, workerData } from 'node:worker_threads';

import { PGlite } from '@electric-sql/pglite';
import { btree_gin } from '@electric-sql/pglite/contrib/btree_gin';
import { pg_trgm } from '@electric-sql/pglite/contrib/pg_trgm';

import { openStatements } from './pglite-statements.ts';
import type { StatementResult } from './pglite-statements.ts';

/** A request is answered in the order of arrival: there is one connection. */
export type WorkerRequest = { id: number; sql: string; params?: readonly unknown[] };

export type WorkerAnswer = StatementResult;

export type WorkerReply = { ready: true } | { id: number; answer: WorkerAnswer } | { id: number; error: WorkerFailure };

/** What is left of a database error on the way between threads, with the names that `pg` uses. */
export type WorkerFailure = { message: string; code?: string; detail?: string; constraint?: string; table?: string };

function describeFailure(error: unknown): WorkerFailure {
  const { message, code, detail, constraint, table } = error as WorkerFailure;
  return { message, code, detail, constraint, table };
}

async function answer(
  db: PGlite,
  run: ReturnType<typeof openStatements>,
  { id, sql, params }: WorkerRequest,
): Promise<WorkerReply> {
  try {
    if (params === undefined) {
      const results = await db.exec(sql);
      return { id, answer: { rows: results.flatMap(({ rows }) => rows), rowCount: 0, command: '' } };
    }
    return { id, answer: await run(sql, params) };
  } catch (error) {
    return { id, error: describeFailure(error) };
  }
}

async function main(port: NonNullable<typeof parentPort>): Promise<void> {
  const { dataDir } = workerData as { dataDir: string };
  const db = await PGlite.create({ dataDir, extensions: { pg_trgm, btree_gin } });
  // Plans are kept, and those made while a table was still empty would read it whole ever after.
  await db.exec('SET enable_seqscan = off');
  const run = openStatements(db);
  port.on('message', (request: WorkerRequest | 'close') => {
    if (request === 'close') void db.close().finally(() => port.close());
    else void answer(db, run, request).then((reply) => port.postMessage(reply));
  });
  port.postMessage({ ready: true } satisfies WorkerReply);
}

if (parentPort) await main(parentPort);
