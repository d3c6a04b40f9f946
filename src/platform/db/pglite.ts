import { cpSync, existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';

import { StartupError, errorText } from '../errors.ts';
import { readStorage } from '../storage-floor.ts';
import type { StorageFloor } from '../storage-floor.ts';
import { DbUnavailableError } from './db.ts';
import type { Db, Queryable } from './db.ts';
import { takeLock } from './lock.ts';
import { DatabaseThread } from './pglite-thread.ts';
import { syncPath, syncTree } from './sync-tree.ts';
import { openTransaction } from './transaction.ts';
import { setTreeModes } from './tree-modes.ts';

const IDLE_MS = 60_000;
const STATEMENT_MS = 30_000;
const VACUUM_MS = 3_600_000;
const NO_FLOOR: StorageFloor = { minBytes: 0, minPercent: 0 };

/** Rejects when nothing happened for `ms`: work that waits for another statement outside would else wait for itself. */
function watchIdle(ms: number) {
  const { promise: expired, reject } = Promise.withResolvers<never>();
  const expire = () => reject(new Error(`The transaction was idle for ${ms} ms and was rolled back.`));
  let timer = setTimeout(expire, ms);
  let running = 0;
  let isStopped = false;
  return {
    expired,
    stop() {
      isStopped = true;
      clearTimeout(timer);
    },
    async during<T>(statement: () => Promise<T>): Promise<T> {
      clearTimeout(timer);
      running += 1;
      return statement().finally(() => {
        running -= 1;
        if (running === 0 && !isStopped) timer = setTimeout(expire, ms);
      });
    },
  };
}

/** Lets exclusive work run one after the other. */
class Turnstile {
  #last: Promise<void> = Promise.resolve();
  #waiting = 0;

  /** Until all exclusive work is done that has been asked for; `undefined` when there is none. */
  get closed(): Promise<void> | undefined {
    return this.#waiting > 0 ? this.#last : undefined;
  }

  async alone<T>(work: () => Promise<T>): Promise<T> {
    const before = this.#last;
    const done = Promise.withResolvers<void>();
    this.#last = done.promise;
    this.#waiting += 1;
    await before;
    try {
      return await work();
    } finally {
      this.#waiting -= 1;
      done.resolve();
    }
  }
}

export type PgliteOptions = {
  dataDir: string;
  /** a closed database that is copied where there is none yet; may be missing */
  template?: string;
  /** after which a transaction whose work does nothing is rolled back; default 60 s */
  idleTransactionMs?: number;
  /** of one statement, with the time it waits for others; default 30 s; `exec` has no limit */
  statementTimeoutMs?: number;
  /** whether commits are synced to the disk before they are answered; default true */
  fsync?: boolean;
  /** see `Db.storage`; absent: writes are never refused */
  floor?: StorageFloor;
  /** called once when the database is lost, for instance because the disk is full: only a new process brings it back */
  onLost?: (error: DbUnavailableError) => void;
  /** a module that runs in the database's thread instead of the product's own */
  thread?: URL;
};

/** Complete, or not there at all. Nothing else runs yet, and with promises 1,600 files take five times as long. */
async function copyDatabase(template: string, dataDir: string, fsync: boolean): Promise<void> {
  const draft = `${dataDir}.new`;
  rmSync(draft, { recursive: true, force: true });
  cpSync(template, draft, { recursive: true });
  // The template is readable by all; a database is its owner's alone, and PostgreSQL insists on it.
  setTreeModes(draft, { folders: 0o700, files: 0o600 });
  if (fsync) await syncTree(draft);
  renameSync(draft, dataDir);
  if (fsync) await syncPath(dirname(dataDir));
}

/**
 * PostgreSQL in this process, its files in `dataDir` (made when missing: about 2 s, or 0.2 s from a template). One process
 * at a time: throws `StartupError` when another one has the folder, or when the database is damaged. It runs in a thread of
 * its own, so that no statement holds up the event loop. A write is answered once it is on the disk.
 */
export async function openPglite(options: PgliteOptions): Promise<Db> {
  const { dataDir, template, fsync = true, floor = NO_FLOOR, statementTimeoutMs = STATEMENT_MS } = options;
  mkdirSync(dirname(dataDir), { recursive: true });
  const lock = takeLock(`${dataDir}.lock`, `The database ${dataDir}`);
  if (template !== undefined && !existsSync(dataDir) && existsSync(template)) {
    try {
      await copyDatabase(template, dataDir, fsync);
    } catch (error) {
      lock.release();
      throw error;
    }
  }
  // Our lock stands for it; a loss of power can leave it empty, and PostgreSQL does not start on that.
  rmSync(join(dataDir, 'postmaster.pid'), { force: true });
  const thread = new DatabaseThread({ dataDir, fsync, floor, module: options.thread, onLost: options.onLost });
  void thread.ended.then(() => lock.release());
  const post = (sql: string, params?: readonly unknown[]) => thread.run(sql, params, statementTimeoutMs);

  /** The thread answers in order, so only a transaction has to keep others from posting in between. */
  const turnstile = new Turnstile();
  /** What a caller learns, even from an error, is on the disk. Others go on meanwhile: one sync serves all. */
  async function durably<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } finally {
      await thread.waitDurable();
    }
  }
  async function run(sql: string, params: readonly unknown[], timeoutMs?: number) {
    if (turnstile.closed !== undefined) await turnstile.closed;
    const { rows, rowCount } = await durably(() => thread.run(sql, params, timeoutMs));
    return { rows, rowCount };
  }
  /** Not waited for where the database does not answer: the thread keeps the order. */
  async function rollBack(reason: unknown): Promise<void> {
    const rolledBack = post('ROLLBACK').catch(() => undefined);
    if (!(reason instanceof DbUnavailableError)) await rolledBack;
  }

  const db: Db = {
    embedded: true,
    query: ((sql, params = []) => run(sql, params, statementTimeoutMs)) as Queryable['query'],
    transaction: (work) =>
      durably(() =>
        turnstile.alone(async () => {
          const idle = watchIdle(options.idleTransactionMs ?? IDLE_MS);
          const { tx, begun, end } = openTransaction(() => idle.during(() => post('BEGIN')), ((sql, params = []) =>
            idle.during(() => post(sql, params))) as Queryable['query']);
          try {
            const result = await Promise.race([work(tx), idle.expired]).finally(end);
            await begun;
            const { command } = await post('COMMIT', []);
            if (command !== 'COMMIT') throw new Error('The transaction was rolled back: a statement in it had failed.');
            return result;
          } catch (error) {
            await rollBack(error);
            throw error;
          } finally {
            idle.stop();
          }
        }),
      ),
    exec: ((sql) =>
      durably(() =>
        turnstile.alone(async () => {
          try {
            const { rows } = await thread.run(sql, undefined);
            return { rows };
          } catch (error) {
            await rollBack(error);
            throw error;
          }
        }),
      )) as Db['exec'],
    revision: () => thread.written,
    ping: async () => {
      await db.query('SELECT 1');
    },
    close: () => thread.close(),
    storage: { read: () => readStorage(dataDir, floor), guard: () => thread.guardStorage() },
  };
  await thread.opened.catch((error: unknown) => {
    throw new StartupError(
      `The embedded database ${dataDir} cannot be opened: ${errorText(error)} ` +
        'If it is damaged, restore a backup: capstan restore FILE (docs/operations.md, "Storage").',
      { cause: error },
    );
  });
  // There is no autovacuum in the embedded build.
  const tidy = setInterval(() => {
    if (!readStorage(dataDir, floor).isFull) void run('VACUUM (ANALYZE)', []).catch(() => {});
  }, VACUUM_MS).unref();
  void thread.ended.then(() => clearInterval(tidy));
  return db;
}
