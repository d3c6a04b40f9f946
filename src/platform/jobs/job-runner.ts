import { setTimeout as sleep } from 'node:timers/promises';
import { startWork } from '../work-context.ts';

export type JobRunnerOptions<Job> = {
  /** jobs at once */
  capacity: number;
  keyOf(job: Job): string;
  /** At most `free` jobs that this process may run from now on. */
  fetch(free: number): Promise<readonly Job[]>;
  /** Runs a job to its end, and settles its failure: it must not throw. */
  run(job: Job, signal: AbortSignal): Promise<void>;
  onFetchError(error: unknown): void;
};

type ActiveJob<Job> = { job: Job; abort: AbortController; done: Promise<void> };

/** Fetches jobs while it has room for more, one fetch at a time, and runs them side by side. */
export class JobRunner<Job> {
  readonly #options: JobRunnerOptions<Job>;
  readonly #active = new Map<string, ActiveJob<Job>>();
  #draining = false;
  #fetching: Promise<void> | undefined;
  #fetchAgain = false;

  constructor(options: JobRunnerOptions<Job>) {
    this.#options = options;
  }

  /** Fetches jobs; when a fetch is in progress already, another one follows it. */
  fetch(): void {
    this.#fetchAgain = true;
    if (this.#draining) return;
    this.#fetching ??= this.#fetchWhileFree()
      .catch((error: unknown) => this.#options.onFetchError(error))
      .finally(() => (this.#fetching = undefined));
  }

  jobs(): Job[] {
    return [...this.#active.values()].map(({ job }) => job);
  }

  /** Aborts the signal of the job with this key. With `job`: only when it is that very one. */
  abort(key: string, reason: Error, job?: Job): void {
    const active = this.#active.get(key);
    if (active !== undefined && (job === undefined || active.job === job)) active.abort.abort(reason);
  }

  /** Fetches no more and waits for the jobs, at most `graceMs`; then aborts them with `reason` and waits for that. */
  async drain(graceMs: number, reason: Error): Promise<void> {
    this.#draining = true;
    await this.#fetching;
    const grace = new AbortController();
    const expiry = sleep(graceMs, undefined, { signal: grace.signal, ref: false }).catch(() => undefined);
    await Promise.race([this.#waitForAll(), expiry]);
    grace.abort();
    for (const { abort } of this.#active.values()) abort.abort(reason);
    await this.#waitForAll();
  }

  async #waitForAll(): Promise<void> {
    await Promise.all([...this.#active.values()].map(({ done }) => done));
  }

  async #fetchWhileFree(): Promise<void> {
    do {
      this.#fetchAgain = false;
      const free = this.#options.capacity - this.#active.size;
      if (free <= 0 || this.#draining) return;
      for (const job of await this.#options.fetch(free)) this.#start(job);
    } while (this.#fetchAgain);
  }

  #start(job: Job): void {
    const key = this.#options.keyOf(job);
    const active: ActiveJob<Job> = { job, abort: new AbortController(), done: Promise.resolve() };
    this.#active.set(key, active);
    const run = () => this.#options.run(job, active.abort.signal);
    active.done = startWork({ job: key }, run).finally(() => {
      if (this.#active.get(key) === active) this.#active.delete(key);
      this.fetch();
    });
  }
}
