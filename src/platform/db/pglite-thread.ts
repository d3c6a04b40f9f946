import { getCompileCacheDir } from 'node:module';
import { dirname } from 'node:path';
import { Worker } from 'node:worker_threads';

import { errorText } from '../errors.ts';
import { readResult } from './pglite-reply.ts';
import type { Field, StatementResult } from './pglite-reply.ts';
import { DISK_FULL, DbUnavailableError, StorageFullError } from './db.ts';
import type {
  WorkerAnswer,
  WorkerCommand,
  WorkerFailure,
  WorkerOptions,
  WorkerReply,
  WorkerRequest,
} from './pglite-worker.ts';

type Waiting = { resolve: (answer: WorkerAnswer) => void; reject: (error: Error) => void };

export type ThreadOptions = WorkerOptions & {
  /** the module that the thread runs; absent: the product's own */
  module?: URL | undefined;
  /** called once when the thread ends without being told to */
  onLost?: ((error: DbUnavailableError) => void) | undefined;
};

/** The last checkpoint of a close may take long on a slow disk; without it the next start replays the log. */
const CLOSE_MS = 10_000;

/** SQLSTATE of a write while the database is read-only, which it is for want of space alone. */
const READ_ONLY = '25006';
/** Columns of statements that are remembered; beyond it all are forgotten, and the next answers name them again. */
const MAX_KNOWN = 1000;

/** An error as `pg` would throw it: the SQLSTATE in `code`. */
function rebuild({ message, ...fields }: WorkerFailure): Error {
  const error = Object.assign(new Error(message), fields);
  return fields.code === READ_ONLY || fields.code === DISK_FULL ? new StorageFullError({ cause: error }) : error;
}

function toParam(value: unknown): unknown {
  if (value === undefined) return null;
  return Array.isArray(value) ? value.map((item: unknown) => item ?? null) : value;
}

/** A script that runs `module` with its compiled code cached in `folder`. */
function scriptFor(module: URL, folder: string): string {
  return `const cache = require('node:module');
cache.enableCompileCache(${JSON.stringify(folder)});
void import(${JSON.stringify(module.href)}).then(() => cache.flushCompileCache());`;
}

/** A thread does not inherit the compile cache. Without one it strips types at each start, for which Node keeps 25 MiB. */
function startThread(module: URL, workerData: WorkerOptions): Worker {
  // A subfolder, by the version of Node, of the folder that was enabled.
  const folder = getCompileCacheDir();
  if (folder === undefined) return new Worker(module, { workerData, execArgv: [] });
  return new Worker(scriptFor(module, dirname(folder)), { eval: true, workerData, execArgv: [] });
}

/** The thread that runs the embedded database, seen from the thread of the server. */
export class DatabaseThread {
  /** Resolves when the database is open; rejects with `DbUnavailableError` when it never will be. */
  readonly opened: Promise<void>;
  readonly ended: Promise<void>;
  readonly #worker: Worker;
  readonly #onLost: ThreadOptions['onLost'];
  readonly #waiting = new Map<number, Waiting>();
  /** the columns of each statement that was answered */
  readonly #fields = new Map<string, Field[]>();
  readonly #unsynced = new Map<number, PromiseWithResolvers<void>>();
  readonly #opening = Promise.withResolvers<void>();
  #lastId = 0;
  /** the highest commit number that an answer carried, and the highest that is on the disk */
  #lastCommit = 0;
  #synced = 0;
  #written = 0;
  #isOpen = false;
  #isClosing = false;
  #gone: DbUnavailableError | undefined;

  constructor({ module, onLost, ...options }: ThreadOptions) {
    this.#onLost = onLost;
    this.#worker = startThread(module ?? new URL('./pglite-worker.ts', import.meta.url), options);
    this.opened = this.#opening.promise;
    this.ended = new Promise((resolve) => this.#worker.once('exit', () => resolve()));
    this.#worker.on('message', (reply: WorkerReply) => this.#read(reply));
    this.#worker.on('error', (error) => this.#fail(errorText(error)));
    this.#worker.on('exit', () => this.#fail(this.#isClosing ? 'it is closed' : 'its thread ended'));
  }

  /**
   * Runs one statement, or a script where `params` is undefined. Throws `DbUnavailableError` when there is no answer within
   * `timeoutMs`; the statement may still take effect. The answer may rest on commits that a loss of power undoes: see
   * `waitDurable`.
   */
  async run(sql: string, params: readonly unknown[] | undefined, timeoutMs?: number): Promise<StatementResult> {
    if (this.#gone) throw this.#gone;
    const id = ++this.#lastId;
    const { promise, resolve, reject } = Promise.withResolvers<WorkerAnswer>();
    this.#waiting.set(id, { resolve, reject });
    const timer =
      timeoutMs === undefined
        ? undefined
        : setTimeout(() => {
            this.#waiting.delete(id);
            reject(new DbUnavailableError(`The embedded database gave no answer within ${timeoutMs} ms.`));
          }, timeoutMs);
    const known = this.#fields.get(sql);
    const isKnown = known !== undefined;
    this.#worker.postMessage({ id, sql, params: params?.map(toParam), isKnown } satisfies WorkerRequest);
    const answer = await promise.finally(() => clearTimeout(timer));
    return 'rows' in answer ? answer : readResult(answer.reply, this.#learnFields(sql, answer.fields) ?? known ?? []);
  }

  /** The newest columns of a statement. An answer that came before this one may have changed them. */
  #learnFields(sql: string, fields: Field[] | undefined): Field[] | undefined {
    if (fields === undefined) return this.#fields.get(sql);
    if (this.#fields.size >= MAX_KNOWN) this.#fields.clear();
    this.#fields.set(sql, fields);
    return fields;
  }

  /** Bytes of the WAL that were written until the last answer. */
  get written(): number {
    return this.#written;
  }

  /** Refuses writes from now on while the storage is below its floor. */
  guardStorage(): void {
    this.#worker.postMessage('guard' satisfies WorkerCommand);
  }

  /** Resolves when everything that was answered until now is on the disk. Throws `DbUnavailableError`. */
  async waitDurable(): Promise<void> {
    const commit = this.#lastCommit;
    if (commit <= this.#synced) return;
    if (this.#gone) throw this.#gone;
    const waiting = this.#unsynced.get(commit) ?? Promise.withResolvers<void>();
    this.#unsynced.set(commit, waiting);
    await waiting.promise;
  }

  /** Ends the thread, by force when it does not end by itself. */
  async close(): Promise<void> {
    this.#isClosing = true;
    this.#worker.postMessage('close' satisfies WorkerCommand);
    const timer = setTimeout(() => void this.#worker.terminate(), CLOSE_MS);
    await this.ended;
    clearTimeout(timer);
  }

  #read(reply: WorkerReply): void {
    if ('lost' in reply) return this.#fail(reply.lost);
    if ('ready' in reply) {
      this.#isOpen = true;
      return this.#opening.resolve();
    }
    if ('synced' in reply) return this.#readSynced(reply.synced);
    this.#lastCommit = Math.max(this.#lastCommit, reply.commit);
    this.#written = reply.written;
    const waiting = this.#waiting.get(reply.id);
    this.#waiting.delete(reply.id);
    if ('error' in reply) waiting?.reject(rebuild(reply.error));
    else waiting?.resolve(reply.answer);
  }

  #readSynced(commit: number): void {
    this.#synced = commit;
    for (const [number, { resolve }] of this.#unsynced) {
      if (number > commit) continue;
      this.#unsynced.delete(number);
      resolve();
    }
  }

  #fail(reason: string): void {
    if (this.#gone !== undefined) return;
    this.#gone = new DbUnavailableError(`The embedded database is lost: ${reason}.`);
    this.#opening.reject(this.#gone);
    for (const { reject } of [...this.#waiting.values(), ...this.#unsynced.values()]) reject(this.#gone);
    this.#waiting.clear();
    this.#unsynced.clear();
    if (this.#isOpen && !this.#isClosing) this.#onLost?.(this.#gone);
  }
}
