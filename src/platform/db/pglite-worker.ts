import { parentPort, workerData } from 'node:worker_threads';

import { PGlite } from '@electric-sql/pglite';
import { btree_gin } from '@electric-sql/pglite/contrib/btree_gin';
import { pg_trgm } from '@electric-sql/pglite/contrib/pg_trgm';

import { errorText } from '../errors.ts';
import { readStorage } from '../storage-floor.ts';
import type { StorageFloor } from '../storage-floor.ts';
import { SyncedNodeFS } from './pglite-files.ts';
import { openStatements } from './pglite-statements.ts';
import type { StatementFailure, StatementResult } from './pglite-reply.ts';
import type { StatementAnswer } from './pglite-statements.ts';
import { WalSync } from './wal-sync.ts';

/** A request is answered in the order of arrival: there is one connection. */
export type WorkerRequest = {
  id: number;
  sql: string;
  /** absent: a script */
  params?: readonly unknown[] | undefined;
  /** the columns of the statement are known to the asking thread */
  isKnown: boolean;
};

/** A script is answered with its rows. */
export type WorkerAnswer = StatementAnswer | StatementResult;

export type WorkerReply =
  | { ready: true }
  /**
   * `commit`: what the answer rests on is on the disk once this number is reported as synced; 0: it is already.
   * `written`: bytes of the WAL until now; they grow with each commit that changed something.
   */
  | { id: number; commit: number; written: number; answer: WorkerAnswer }
  | { id: number; commit: number; written: number; error: WorkerFailure }
  | { synced: number }
  /** the database cannot go on; the thread ends */
  | { lost: string };

export type WorkerOptions = { dataDir: string; fsync: boolean; floor: StorageFloor };

/** `guard`: refuse writes from now on while the storage is below its floor. */
export type WorkerCommand = 'close' | 'guard';

/** What is left of a database error on the way between threads. */
export type WorkerFailure = StatementFailure;

/** Without a background process of its own, PostgreSQL removes old WAL only when it is told to. */
const CHECKPOINT_BYTES = 64 * 1024 * 1024;
/** Segments that a checkpoint keeps for reuse instead of removing them. */
const WAL_SIZES = ['-c', 'min_wal_size=32MB', '-c', 'max_wal_size=128MB'];
/**
 * In WebAssembly all shared memory is resident from the start, so the defaults of 128 MB of buffers and 100 connections
 * would cost 140 MiB. The operating system caches the files as well.
 */
const MEMORY = ['-c', 'shared_buffers=32MB', '-c', 'max_connections=8', '-c', 'max_wal_senders=0'];
/** How old the knowledge of the free space may be. */
const STORAGE_MS = 200;
const MAIN_LOOP = '_PostgresMainLoopOnce';
/** How PGlite's main loop leaves a statement that failed; anything else that is thrown is the end of the database. */
const STATEMENT_FAILED = 100;

function describeFailure(error: unknown): WorkerFailure {
  const { message, code, detail, constraint, table } = error as WorkerFailure;
  return { message, code, detail, constraint, table };
}

type Port = NonNullable<typeof parentPort>;

class DatabaseServer {
  readonly #port: Port;
  readonly #options: WorkerOptions;
  readonly #files: SyncedNodeFS;
  readonly #sync: WalSync | undefined;
  #lastFatal: string | undefined;
  /** bytes of the WAL since the last checkpoint, and since the start */
  #walBytes = 0;
  #written = 0;
  #isGuarded = false;
  #isReadOnly = false;
  #storageReadAt = -Infinity;
  #db: PGlite | undefined;
  #run: ReturnType<typeof openStatements> | undefined;

  constructor(port: Port, options: WorkerOptions) {
    this.#port = port;
    this.#options = options;
    this.#sync = options.fsync
      ? new WalSync(
          (synced) => this.#post({ synced }),
          (error) => this.#lose(`the log cannot be synced: ${errorText(error)}`),
        )
      : undefined;
    this.#files = new SyncedNodeFS(options.dataDir, this.#sync);
  }

  async open(): Promise<void> {
    const startParams = PGlite.defaultStartParams.filter((param) => this.#sync === undefined || param !== '-F');
    const db = await PGlite.create({
      fs: this.#files,
      extensions: { pg_trgm, btree_gin },
      // Emscripten leaves fdatasync, the default, without effect.
      startParams: [...startParams, '-c', 'wal_sync_method=fsync', ...WAL_SIZES, ...MEMORY],
      onStderr: (line) => this.#readLog(line),
    }).catch((error: unknown) => {
      throw new Error(this.#lastFatal ?? errorText(error));
    });
    this.#watchMainLoop(db);
    // Plans are kept, and those made while a table was still empty would read it whole ever after. Its pages are in memory:
    // with the default of 4 a list is sorted that an index has in order.
    await db.exec('SET enable_seqscan = off; SET random_page_cost = 1.1');
    this.#db = db;
    this.#run = openStatements(db);
    this.#post({ ready: true });
  }

  guardStorage(): void {
    this.#isGuarded = true;
  }

  async answer(request: WorkerRequest): Promise<void> {
    await this.#applyFloor();
    const reply = await this.#execute(request);
    const bytes = this.#files.takeWalBytes();
    this.#walBytes += bytes;
    this.#written += bytes;
    this.#post({ ...reply, id: request.id, commit: this.#sync?.pending ?? 0, written: this.#written });
    void this.#sync?.run();
    await this.#checkpointWhenDue();
  }

  async close(): Promise<void> {
    await this.#db?.close();
    this.#sync?.flush();
  }

  async #execute({
    sql,
    params,
    isKnown,
  }: WorkerRequest): Promise<{ answer: WorkerAnswer } | { error: WorkerFailure }> {
    if (this.#db === undefined || this.#run === undefined) throw new Error('The database is not open.');
    try {
      if (params !== undefined) return { answer: await this.#run({ sql, params, isKnown }) };
      const results = await this.#db.exec(sql);
      return { answer: { rows: results.flatMap(({ rows }) => rows), rowCount: 0, command: '' } };
    } catch (error) {
      return { error: describeFailure(error) };
    }
  }

  /** PostgreSQL itself tells writes from reads, also in functions. A transaction that has begun may end. */
  async #applyFloor(): Promise<void> {
    if (!this.#isGuarded || this.#db === undefined || performance.now() - this.#storageReadAt < STORAGE_MS) return;
    if (this.#db.isInTransaction()) return;
    this.#storageReadAt = performance.now();
    const { isFull } = readStorage(this.#options.dataDir, this.#options.floor);
    if (isFull === this.#isReadOnly) return;
    this.#isReadOnly = isFull;
    await this.#db.exec(`SET default_transaction_read_only = ${isFull ? 'on' : 'off'}`);
  }

  async #checkpointWhenDue(): Promise<void> {
    if (this.#walBytes < CHECKPOINT_BYTES || this.#db === undefined) return;
    this.#walBytes = 0;
    // Fails inside of a transaction that has failed itself: the next one comes after as many bytes.
    await this.#db.exec('CHECKPOINT').catch(() => undefined);
  }

  /** PGlite drops what its main loop throws and calls it again, for ever. */
  #watchMainLoop({ Module: module }: PGlite): void {
    const runOnce = module[MAIN_LOOP];
    module[MAIN_LOOP] = () => {
      try {
        runOnce();
      } catch (error) {
        if ((error as { status?: number }).status !== STATEMENT_FAILED) this.#lose(this.#lastFatal ?? errorText(error));
        throw error;
      }
    };
  }

  #readLog(line: string): boolean {
    const text = /(?:PANIC|FATAL):\s*(.*)/.exec(line)?.[1];
    if (text !== undefined) this.#lastFatal = text;
    return false;
  }

  #lose(reason: string): void {
    this.#post({ lost: reason });
    process.exit(1);
  }

  #post(reply: WorkerReply): void {
    this.#port.postMessage(reply);
  }
}

async function main(port: Port): Promise<void> {
  const server = new DatabaseServer(port, workerData as WorkerOptions);
  await server.open();
  port.on('message', (request: WorkerRequest | WorkerCommand) => {
    if (request === 'close') void server.close().finally(() => port.close());
    else if (request === 'guard') server.guardStorage();
    else void server.answer(request);
  });
}

if (parentPort) await main(parentPort);
