import { setTimeout as sleep } from 'node:timers/promises';
import { errorText } from '../../platform/errors.ts';
import { newId } from '../../platform/ids.ts';
import { startWork } from '../../platform/work-context.ts';
import { sendWake } from '../channels.ts';
import { DrainError, InterruptedError, LeaseLostError } from '../loop/turn/types.ts';
import { claimSessions, releaseLease, renewLeases } from '../store/leases.ts';
import type { Claim } from '../store/leases.ts';
import type { WorkerMetrics } from './metrics.ts';
import { runSession } from './session.ts';
import type { WorkerDeps } from './session.ts';

type Running = { claim: Claim; abort: AbortController; done: Promise<void> };

export type PoolOptions = {
  /** sessions that run at the same time */
  concurrency: number;
  /** how long a lease lasts without renewal */
  leaseMs: number;
  /** how long to hold the lease of a session that failed, so that it is not retried at once */
  retryDelayMs: number;
};

/** The sessions of one worker: claims those that are due, runs them, and renews their leases. */
export class SessionPool {
  readonly #owner = newId('wrk');
  readonly #running = new Map<string, Running>();
  readonly #claims = new Set<Promise<Claim[]>>();
  readonly #stop = new AbortController();
  readonly #deps: WorkerDeps;
  readonly #options: PoolOptions;
  readonly #metrics: WorkerMetrics | undefined;
  /** sessions to claim next, named by wake-ups */
  #woken = new Set<string>();
  #isClaimingWoken = false;
  /** there may be more due sessions than free slots: the next session that ends claims again */
  #isFull = false;
  /** aborted when the worker shuts down: sessions start no more work here */
  readonly #drain = new AbortController();

  constructor(deps: WorkerDeps, options: PoolOptions, openMetrics?: (pool: SessionPool) => WorkerMetrics) {
    this.#deps = deps;
    this.#options = options;
    this.#metrics = openMetrics?.(this);
  }

  countRunning(): number {
    return this.#running.size;
  }

  /** Claims due sessions, or those of `ids` that are due, and starts them. */
  async claim(ids?: readonly string[]): Promise<void> {
    const limit = this.#options.concurrency - this.#running.size;
    this.#isFull = limit <= 0;
    if (this.#isFull || this.#drain.signal.aborted) return;
    const filter = ids === undefined ? { limit } : { ids, limit };
    const claims = claimSessions(this.#deps.db, this.#owner, this.#options.leaseMs, filter);
    this.#claims.add(claims);
    try {
      const claimed = await claims;
      this.#isFull = claimed.length === limit;
      for (const claim of claimed) this.#start(claim);
    } finally {
      this.#claims.delete(claims);
    }
  }

  /** Claims, and logs a failure: the next poll tries again. */
  tryClaim(ids?: readonly string[]): Promise<void> {
    return this.claim(ids).catch((error: unknown) => {
      this.#deps.log.warn({ error: errorText(error) }, 'could not claim');
    });
  }

  /** Claims a session soon. Wake-ups that arrive during a claim share the next one. */
  wake(sessionId: string): void {
    this.#woken.add(sessionId);
    if (!this.#isClaimingWoken) void this.#claimWoken();
  }

  /** Renews the leases of these sessions, and stops those that were interrupted or claimed by another worker. */
  async renew(ids: readonly string[] = [...this.#running.keys()]): Promise<void> {
    if (ids.length === 0) return;
    const held = ids.flatMap((id) => this.#running.get(id) ?? []);
    const renewed = await renewLeases(this.#deps.db, this.#owner, this.#options.leaseMs, ids);
    const leases = new Map(renewed.map((lease) => [lease.sessionId, lease]));
    for (const { claim, abort } of held) {
      const lease = leases.get(claim.sessionId);
      // A session that has just ended is missing here too; by then nothing listens to its signal.
      if (lease?.epoch !== claim.epoch) abort.abort(new LeaseLostError('Claimed elsewhere.'));
      else if (lease.interrupted) abort.abort(new InterruptedError('Interrupted by the caller.'));
    }
  }

  /** Reads the interrupt of a session that may run here. The row says whether it is meant for the current turn. */
  async interrupt(sessionId: string): Promise<void> {
    // The session may be part of a claim that is not answered yet.
    await Promise.allSettled(this.#claims);
    if (this.#running.has(sessionId)) await this.renew([sessionId]);
  }

  /**
   * Claims nothing more. Running model calls and tool calls have up to `drainMs` to end, then they are stopped. Calls
   * that have not started are left to another worker.
   */
  async close(drainMs: number): Promise<void> {
    this.#drain.abort(new DrainError('The worker is shutting down.'));
    await Promise.allSettled(this.#claims);
    const ended = Promise.all([...this.#running.values()].map(({ done }) => done));
    const timer = setInterval(() => void this.renew().catch(() => undefined), this.#options.leaseMs / 3);
    try {
      await Promise.race([ended, sleep(drainMs, undefined, { ref: false })]);
      this.#stop.abort();
      for (const { abort } of this.#running.values()) abort.abort(new Error('The worker is shutting down.'));
      await ended;
    } finally {
      clearInterval(timer);
    }
  }

  async #claimWoken(): Promise<void> {
    this.#isClaimingWoken = true;
    while (this.#woken.size > 0) {
      const ids = [...this.#woken];
      this.#woken = new Set();
      await this.tryClaim(ids);
    }
    this.#isClaimingWoken = false;
  }

  #start(claim: Claim): void {
    const abort = new AbortController();
    if (claim.interrupt !== null) abort.abort(new InterruptedError('Interrupted by the caller.'));
    const entry: Running = { claim, abort, done: Promise.resolve() };
    this.#running.set(claim.sessionId, entry);
    entry.done = this.#run(entry);
  }

  async #run(entry: Running): Promise<void> {
    const { sessionId } = entry.claim;
    const { organizationId } = entry.claim;
    const isDue = await startWork({ organizationId, sessionId }, () => this.#runClaimed(entry));
    // The last write released the lease, so the session may run here again already.
    if (this.#running.get(sessionId) === entry) this.#running.delete(sessionId);
    if (isDue && this.#drain.signal.aborted) sendWake(this.#deps.bus, sessionId);
    else if (isDue) this.wake(sessionId);
    else if (this.#isFull) void this.tryClaim();
  }

  /** Whether the session is due again at once. */
  async #runClaimed({ claim, abort }: Running): Promise<boolean> {
    try {
      const isDue = await runSession(claim, this.#deps, {
        signal: abort.signal,
        drain: this.#drain.signal,
        worker: this.#owner,
      });
      this.#metrics?.onEnd('done');
      return isDue;
    } catch (error) {
      const isHandedOver = error instanceof DrainError;
      const isLost = isHandedOver || error instanceof LeaseLostError || abort.signal.aborted;
      this.#metrics?.onEnd(isLost ? 'lost' : 'failed');
      if (!isLost) this.#deps.log.error({ error: errorText(error) }, 'session failed, retrying');
      if (!(error instanceof LeaseLostError)) await this.#release(claim, isLost ? 0 : this.#options.retryDelayMs);
      return isHandedOver;
    }
  }

  // The session stays due, so that any worker retries it; after a failure not at once.
  async #release(claim: Claim, delayMs: number): Promise<void> {
    const { sessionId, epoch } = claim;
    await sleep(delayMs, undefined, { signal: this.#stop.signal }).catch(() => undefined);
    await releaseLease(this.#deps.db, sessionId, epoch).catch((error: unknown) => {
      this.#deps.log.warn({ error: errorText(error) }, 'could not release the lease; it will expire');
    });
  }
}
