import { setTimeout as sleep } from 'node:timers/promises';
import { errorText } from '../../src/platform/errors.ts';
import { hasStatus } from '../../src/platform/kubernetes/client.ts';
import type { Kubernetes } from '../../src/platform/kubernetes/client.ts';
import { runWithin } from '../../src/platform/abort.ts';
import { buildListPath, buildPath } from '../../src/platform/kubernetes/paths.ts';
import type { Lease } from '../../src/platform/kubernetes/types.ts';
import type { Logger } from '../../src/platform/log.ts';
import { omitUndefined } from '../../src/platform/records.ts';

export type LeaseOptions = {
  kubernetes: Kubernetes;
  namespace: string;
  name: string;
  /** of the holder; unique per process */
  identity: string;
  log: Logger;
  /** how long candidates wait after the last renewal that they saw; default 15 s */
  durationMs?: number;
  /** how long the holder keeps writing after its own last renewal; default 10 s */
  deadlineMs?: number;
  /** between renewals and between attempts; default 2 s */
  retryMs?: number;
};

/** One term as leader. */
export type Leadership = {
  /** aborts when the term ends, also when the API server is unreachable */
  signal: AbortSignal;
  /**
   * Throws as soon as the term is over. Call it before each write: the signal is late when the event loop is blocked,
   * the clock is not.
   */
  assertLeading(): void;
};

export type LeaderElection = { isLeading: () => boolean; close(): Promise<void> };

/**
 * Holds the lease whenever it can and calls `lead` for each term; `lead` must return soon after its signal aborts. The
 * holder stops writing 10 s after its last renewal by its own clock. Candidates acquire the lease 15 s after the last
 * renewal that they saw by theirs. So two processes never lead at once, even when their clocks differ.
 */
export function startLeaderElection(
  options: LeaseOptions,
  lead: (leadership: Leadership) => Promise<void>,
): LeaderElection {
  const candidate = new Candidate(options, lead);
  const running = candidate.run();
  return {
    isLeading: () => candidate.isLeading,
    async close() {
      candidate.stop();
      await running;
    },
  };
}

class Candidate {
  isLeading = false;
  readonly #options: Required<LeaseOptions>;
  readonly #lead: (leadership: Leadership) => Promise<void>;
  readonly #stop = new AbortController();
  /** another holder's lease: the last version seen, and when it was first seen */
  #observed: { version: string; sinceMs: number } | undefined;
  /** our lease as written last, so that a renewal is one request */
  #held: Lease | undefined;
  #term: LeaseTerm | undefined;

  constructor(options: LeaseOptions, lead: (leadership: Leadership) => Promise<void>) {
    this.#options = { durationMs: 15_000, deadlineMs: 10_000, retryMs: 2000, ...options };
    this.#lead = lead;
  }

  async run(): Promise<void> {
    const { retryMs, deadlineMs } = this.#options;
    while (!this.#stop.signal.aborted) {
      const startedMs = performance.now();
      if (await this.#tryAcquire()) await this.#serveTerm(startedMs);
      else await pause(retryMs * (0.8 + Math.random() * 0.4), this.#stop.signal);
    }
    const release = (signal: AbortSignal) => releaseLease({ ...this.#options, signal });
    await runWithin(deadlineMs / 2, undefined, release).catch(() => undefined);
  }

  stop(): void {
    this.#stop.abort(new Error('closing'));
  }

  /** Acquires or renews the lease. False when another process holds it or the API server fails. */
  async #tryAcquire(): Promise<boolean> {
    try {
      // Two attempts fit into a term, each on its own connection: one that hangs does not end the term.
      return await runWithin(this.#options.deadlineMs / 2, undefined, (signal) =>
        this.#acquire({ ...this.#options, signal }),
      );
    } catch (error) {
      this.#held = undefined;
      if (!hasStatus(error, 409)) {
        this.#options.log.warn({ error: errorText(error) }, 'could not acquire or renew the lease');
      }
      return false;
    }
  }

  async #acquire(call: LeaseCall): Promise<boolean> {
    const { identity, durationMs } = this.#options;
    const found = this.#held ?? (await readLease(call));
    const now = new Date().toISOString().replace('Z', '000Z');
    const spec = {
      holderIdentity: identity,
      leaseDurationSeconds: Math.ceil(durationMs / 1000),
      renewTime: now,
    };
    if (found === undefined) {
      this.#held = await writeLease(call, undefined, { ...spec, acquireTime: now, leaseTransitions: 0 });
      return true;
    }
    const { resourceVersion } = found.metadata;
    if (found.spec.holderIdentity === identity) {
      this.#held = await writeLease(call, resourceVersion, { ...found.spec, ...spec });
      return true;
    }
    if (!this.#isExpired(found)) return false;
    const leaseTransitions = (found.spec.leaseTransitions ?? 0) + 1;
    this.#held = await writeLease(call, resourceVersion, { ...spec, acquireTime: now, leaseTransitions });
    return true;
  }

  /** Whether another holder's lease is free or has not been renewed in time. A lease that is held ends our own term. */
  #isExpired({ metadata, spec }: Lease): boolean {
    if (this.#observed?.version !== metadata.resourceVersion) {
      this.#observed = { version: metadata.resourceVersion, sinceMs: performance.now() };
    }
    if ((spec.holderIdentity ?? '') === '') return true;
    this.#term?.end();
    const waitMs = Math.max(this.#options.durationMs, (spec.leaseDurationSeconds ?? 0) * 1000);
    return performance.now() - this.#observed.sinceMs >= waitMs;
  }

  /** Leads from the renewal at `startedMs` until the lease is lost or this candidate stops. */
  async #serveTerm(startedMs: number): Promise<void> {
    const { deadlineMs, identity, log } = this.#options;
    const term = new LeaseTerm(startedMs + deadlineMs, this.#stop.signal);
    this.#term = term;
    this.isLeading = true;
    const renewing = this.#renew(term);
    log.info({ identity }, 'acquired the lease; leading');
    try {
      await this.#lead(term);
    } catch (error) {
      log.error({ error: errorText(error) }, 'the leader failed');
    } finally {
      this.isLeading = false;
      this.#term = undefined;
      term.end();
      await renewing;
    }
  }

  async #renew(term: LeaseTerm): Promise<void> {
    while (!term.signal.aborted) {
      await pause(this.#options.retryMs, term.signal);
      const startedMs = performance.now();
      if (term.signal.aborted || !(await this.#tryAcquire())) continue;
      term.extend(startedMs + this.#options.deadlineMs);
    }
  }
}

class LeaseTerm implements Leadership {
  readonly signal: AbortSignal;
  readonly #abort = new AbortController();
  #untilMs = 0;
  #timer: NodeJS.Timeout | undefined;

  /** `untilMs` by `performance.now()`; ends with `stop` too. */
  constructor(untilMs: number, stop: AbortSignal) {
    this.signal = AbortSignal.any([this.#abort.signal, stop]);
    this.extend(untilMs);
  }

  extend(untilMs: number): void {
    if (this.#abort.signal.aborted) return;
    clearTimeout(this.#timer);
    this.#untilMs = untilMs;
    this.#timer = setTimeout(() => this.end(), Math.max(0, untilMs - performance.now()));
  }

  assertLeading(): void {
    if (performance.now() >= this.#untilMs) this.end();
    this.signal.throwIfAborted();
  }

  end(): void {
    clearTimeout(this.#timer);
    this.#abort.abort(new Error('the lease has expired'));
  }
}

type LeaseCall = LeaseOptions & { signal: AbortSignal };

async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal }).catch(() => undefined);
}

async function readLease({ kubernetes, namespace, name, signal }: LeaseCall): Promise<Lease | undefined> {
  try {
    return await kubernetes.request<Lease>({ method: 'GET', path: buildPath(namespace, 'leases', name), signal });
  } catch (error) {
    if (hasStatus(error, 404)) return undefined;
    throw error;
  }
}

/** Fails with 409 when the lease was written since it was read. */
async function writeLease(
  { kubernetes, namespace, name, signal }: LeaseCall,
  resourceVersion: string | undefined,
  spec: Lease['spec'],
): Promise<Lease> {
  const metadata = { name, namespace, ...omitUndefined({ resourceVersion }) };
  const body = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata, spec };
  return resourceVersion === undefined
    ? kubernetes.request({ method: 'POST', path: buildListPath(namespace, 'leases'), body, signal })
    : kubernetes.request({ method: 'PUT', path: buildPath(namespace, 'leases', name), body, signal });
}

/** Clears the holder, so that the next candidate need not wait. */
async function releaseLease(call: LeaseCall): Promise<void> {
  const found = await readLease(call);
  if (found?.spec.holderIdentity !== call.identity) return;
  await writeLease(call, found.metadata.resourceVersion, { ...found.spec, holderIdentity: '' });
}
