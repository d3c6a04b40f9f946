import { closeSync, fdatasync, fdatasyncSync, openSync } from 'node:fs';
import { promisify } from 'node:util';

const syncFile = promisify(fdatasync);

/**
 * Group commit for the write-ahead log (WAL). PostgreSQL asks for a sync at each commit; `mark` only notes the file. The
 * caller holds the answer back until `onSynced` reports the commit's number. While one sync runs, further commits are
 * executed, and the next sync covers all of them.
 */
export class WalSync {
  readonly #onSynced: (commit: number) => void;
  readonly #onFailed: (error: unknown) => void;
  /** Descriptors of our own, since PostgreSQL closes its own whenever it likes. */
  readonly #files = new Map<string, number>();
  #dirty = new Set<string>();
  #inFlight = new Set<string>();
  /** descriptors of renamed or removed files, closed when no sync uses them */
  #retired: number[] = [];
  #marked = 0;
  #synced = 0;
  #running = false;

  constructor(onSynced: (commit: number) => void, onFailed: (error: unknown) => void) {
    this.#onSynced = onSynced;
    this.#onFailed = onFailed;
  }

  /** The number whose sync covers everything written so far, or 0 when all of it is on the disk. */
  get pending(): number {
    return this.#marked > this.#synced ? this.#marked : 0;
  }

  /** Notes that a WAL file has to reach the disk before the current statement is answered. */
  mark(path: string): void {
    if (!this.#files.has(path)) this.#files.set(path, openSync(path, 'r'));
    this.#dirty.add(path);
    this.#marked += 1;
  }

  /** Syncs at once. Nothing else may be changed on the disk before the WAL that describes the change. */
  flush(): void {
    if (this.pending === 0) return;
    for (const path of new Set([...this.#dirty, ...this.#inFlight])) {
      const file = this.#files.get(path);
      if (file !== undefined) fdatasyncSync(file);
    }
    this.#dirty = new Set();
    this.#finish(this.#marked);
  }

  /** Call before a WAL file is renamed or removed. */
  forget(path: string): void {
    this.flush();
    const file = this.#files.get(path);
    if (file === undefined) return;
    this.#files.delete(path);
    this.#retired.push(file);
    if (!this.#running) this.#closeRetired();
  }

  /** Syncs in the background until nothing is pending. */
  async run(): Promise<void> {
    if (this.#running) return;
    this.#running = true;
    try {
      while (this.pending > 0) {
        const target = this.#marked;
        this.#inFlight = this.#dirty;
        this.#dirty = new Set();
        const files = [...this.#inFlight].flatMap((path) => this.#files.get(path) ?? []);
        await Promise.all(files.map((file) => syncFile(file)));
        this.#inFlight = new Set();
        this.#finish(target);
      }
    } catch (error) {
      this.#onFailed(error);
    } finally {
      this.#running = false;
      this.#closeRetired();
    }
  }

  #finish(commit: number): void {
    if (commit <= this.#synced) return;
    this.#synced = commit;
    this.#onSynced(commit);
  }

  #closeRetired(): void {
    for (const file of this.#retired.splice(0)) closeSync(file);
  }
}
