import { cpSync, existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { Worker } from 'node:worker_threads';

import { errorText } from '../errors.ts';
import { DbUnavailableError } from './db.ts';
import type { Db, Queryable } from './db.ts';
import { takeLock } from './lock.ts';
import type { WorkerAnswer, WorkerFailure, WorkerReply, WorkerRequest } from './pglite-worker.ts';
import { openTransaction } from './transaction.ts';

type Waiting = { resolve: (answer: WorkerAnswer) => void; reject: (error: Error) => void };

/** An error as `pg` would throw it: the SQLSTATE in `code`. */
function rebuild({ message, ...fields }: WorkerFailure): Error {
  return Object.assign(new Error(message), fields);
}

function toParam(value: unknown): unknown {
  if (value === undefined) return null;
  return Array.isArray(value) ? value.map((item: unknown) => item ?? null) : value;
}

const IDLE_MS = 60_000;
const VACUUM_MS = 3_600_000;

/** Rejects when nothing happened for `ms`: work that waits for another statement outside would else wait for itself. */
function watchIdle(ms: number) {
  const { promise: expired, reject } = Promise.withResolvers<never>();
  const expire = () => reject(new Error(`The transaction was idle for ${ms} ms and was rolled back.`));
  let timer = setTimeout(expire, ms);
  return {
    expired,
    stop: () => clearTimeout(timer),
    async during<T>(statement: () => Promise<T>): Promise<T> {
      clearTimeout(timer);
      return statement().finally(() => (timer = setTimeout(expire, ms)));
    },
  };
}

export type PgliteOptions = {
  dataDir: string;
  /** a closed database that is copied where there is none yet; may be missing */
  template?: string;
  /** after which a transaction whose work does nothing is rolled back; default 60 s */
  idleTransactionMs?: number;
};

/** Complete, or not there at all. Nothing else runs yet, and with promises 1,600 files take five times as long. */
function copyDatabase(template: string, dataDir: string): void {
  const draft = `${dataDir}.new`;
  rmSync(draft, { recursive: true, force: true });
  cpSync(template, draft, { recursive: true });
  renameSync(draft, dataDir);
}

/**
 * PostgreSQL in this process, its files in `dataDir` (made when missing: about 2 s, or 0.2 s from a template). One process
 * at a time: throws `StartupError` when another one has the folder. It runs in a thread of its own, so that no statement
 * holds up the event loop. Commits survive the death of the process; PGlite does not sync to disk, so not a loss of power.
 */
export async function openPglite(options: PgliteOptions): Promise<Db> {
  const { dataDir, template } = options;
  mkdirSync(dirname(dataDir), { recursive: true });
  const lock = takeLock(`${dataDir}.lock`, `The database ${dataDir}`);
  if (template !== undefined && !existsSync(dataDir) && existsSync(template)) {
    try {
      copyDatabase(template, dataDir);
    } catch (error) {
      lock.release();
      throw error;
    }
  }
  const worker = new Worker(new URL('./pglite-worker.ts', import.meta.url), {
    workerData: { dataDir },
    execArgv: [],
  });
  const waiting = new Map<number, Waiting>();
  let lastId = 0;
  let gone: DbUnavailableError | undefined;

  /** Resolves when the thread's database is open, rejects when it never will be. */
  const opened = Promise.withResolvers<void>();
  const ended = Promise.withResolvers<void>();
  function fail(reason: string): void {
    gone ??= new DbUnavailableError(reason);
    opened.reject(gone);
    for (const { reject } of waiting.values()) reject(gone);
    waiting.clear();
  }
  worker.on('message', (reply: WorkerReply) => {
    if ('ready' in reply) return opened.resolve();
    const { resolve, reject } = waiting.get(reply.id) ?? {};
    waiting.delete(reply.id);
    if ('error' in reply) reject?.(rebuild(reply.error));
    else resolve?.(reply.answer);
  });
  worker.on('error', (error) => fail(`The embedded database failed: ${errorText(error)}`));
  worker.on('exit', () => {
    fail('The embedded database is closed.');
    lock.release();
    ended.resolve();
  });

  function post(sql: string, params?: readonly unknown[]): Promise<WorkerAnswer> {
    if (gone) return Promise.reject(gone);
    const id = ++lastId;
    return new Promise((resolve, reject) => {
      waiting.set(id, { resolve, reject });
      worker.postMessage({ id, sql, params: params?.map(toParam) } satisfies WorkerRequest);
    });
  }

  /** The thread answers in order, so only a transaction has to keep others from posting in between. */
  let turnstile: Promise<void> = Promise.resolve();
  let exclusive = 0;
  async function alone<T>(work: () => Promise<T>): Promise<T> {
    const before = turnstile;
    const done = Promise.withResolvers<void>();
    turnstile = done.promise;
    exclusive += 1;
    await before;
    try {
      return await work();
    } finally {
      exclusive -= 1;
      done.resolve();
    }
  }
  async function run(sql: string, params: readonly unknown[]) {
    if (exclusive > 0) await turnstile;
    const { rows, rowCount } = await post(sql, params);
    return { rows, rowCount };
  }

  const db: Db = {
    embedded: true,
    query: ((sql, params = []) => run(sql, params)) as Queryable['query'],
    transaction: (work) =>
      alone(async () => {
        await post('BEGIN');
        const idle = watchIdle(options.idleTransactionMs ?? IDLE_MS);
        const { tx, end } = openTransaction(((sql, params = []) =>
          idle.during(() => post(sql, params))) as Queryable['query']);
        try {
          const result = await Promise.race([work(tx), idle.expired]).finally(end);
          const { command } = await post('COMMIT', []);
          if (command !== 'COMMIT') throw new Error('The transaction was rolled back: a statement in it had failed.');
          return result;
        } catch (error) {
          await post('ROLLBACK').catch(() => {});
          throw error;
        } finally {
          idle.stop();
        }
      }),
    exec: ((sql) =>
      alone(async () => {
        try {
          const { rows } = await post(sql);
          return { rows };
        } catch (error) {
          await post('ROLLBACK').catch(() => {});
          throw error;
        }
      })) as Db['exec'],
    ping: async () => {
      await db.query('SELECT 1');
    },
    close: async () => {
      worker.postMessage('close');
      await ended.promise;
    },
  };
  await opened.promise;
  // There is no autovacuum in the embedded build.
  const tidy = setInterval(() => void run('VACUUM (ANALYZE)', []).catch(() => {}), VACUUM_MS).unref();
  void ended.promise.then(() => clearInterval(tidy));
  return db;
}
