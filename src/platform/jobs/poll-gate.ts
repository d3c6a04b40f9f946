/** Longest time without a poll: bounds what neither a change nor a due time announces, such as a clock that was set. */
const MAX_SKIP_MS = 10_000;

export type PollGateOptions = {
  /** see `Db.revision`; undefined: every poll runs */
  revision: (() => number) | undefined;
  /** ms until something is due, 0 or less when it is overdue; null: only a change can make something due */
  readDueMs?: () => Promise<number | null>;
  /** default 10 s */
  maxSkipMs?: number;
};

/**
 * Skips the polls of a database that cannot find anything: nobody has written since the last one, and nothing has become
 * due. Where other processes write as well, no poll is skipped.
 */
export class PollGate {
  readonly #options: PollGateOptions;
  #seen: number | undefined;
  #pollAt = 0;

  constructor(options: PollGateOptions) {
    this.#options = options;
  }

  /** Whether it ever skips. */
  get isActive(): boolean {
    return this.#options.revision !== undefined;
  }

  /** Runs the poll unless it is skipped; undefined then. After a failure the next one runs. */
  async poll<T>(run: () => Promise<T> | T): Promise<T | undefined> {
    const { revision, readDueMs, maxSkipMs = MAX_SKIP_MS } = this.#options;
    if (revision === undefined) return run();
    if (revision() === this.#seen && performance.now() < this.#pollAt) return undefined;
    // Read first: what is written from now on leads to another poll.
    this.#seen = revision();
    try {
      const dueMs = await readDueMs?.();
      this.#pollAt = performance.now() + Math.min(maxSkipMs, dueMs ?? maxSkipMs);
      return await run();
    } catch (error) {
      this.reset();
      throw error;
    }
  }

  /** The next poll runs. */
  reset(): void {
    this.#seen = undefined;
  }
}
