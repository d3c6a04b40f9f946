// Tests: test/platform/budget-leases.test.ts
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Bus } from '../bus/bus.ts';
import type { Db } from '../db/db.ts';
import { errorText } from '../errors.ts';
import { newId } from '../ids.ts';
import type { Logger } from '../log.ts';
import { startWork } from '../work-context.ts';
import { openLease, renewLeases } from '../store/budget-leases.ts';
import type { CrossedThreshold } from '../store/budgets.ts';
import { LEASE_SECONDS, Lease } from './lease.ts';

/** Maximum delay until the cost of a call is written, beside the duration of the statement. */
const WRITE_MS = 20;
const RETRY_MS = 2000;
/** An unused lease is released after this time. */
const IDLE_MS = 5000;
const MAX_LEASES = 1000;

/** Calls that share a lease: those of one organization that fall under the same budgets. */
export type LeaseOwner = { organizationId: string; targets: readonly string[] };

/** Charges what a call has cost. */
export type Settle = (costUsd: number) => Promise<void>;

export type LeasePorts = {
  db: Db;
  bus: Bus;
  log: Logger;
  /** called with the thresholds that written costs have crossed */
  report: (crossed: readonly CrossedThreshold[]) => void;
};

const booksByBus = new WeakMap<Bus, Set<Leases>>();

/** Writes the costs that this process has not written yet, so that what is read next includes them. */
export async function writePendingCosts(bus: Bus): Promise<void> {
  await Promise.all([...(booksByBus.get(bus) ?? [])].map((book) => book.write()));
}

/**
 * The leases of one process. Calls take money from them in memory; their costs are written a few milliseconds later, those
 * of many calls in one statement.
 */
export class Leases {
  readonly #ports: LeasePorts;
  readonly #usable = new Map<string, Lease>();
  readonly #all = new Set<Lease>();
  /** those with something to write */
  readonly #changed = new Set<Lease>();
  readonly #opening = new Map<string, Promise<void>>();
  #writing: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;
  /** counts the recalls, so that a lease that was opened meanwhile is frozen too */
  #recalls = 0;
  #isClosed = false;

  constructor(ports: LeasePorts) {
    this.#ports = ports;
    const books = booksByBus.get(ports.bus) ?? new Set();
    booksByBus.set(ports.bus, books.add(this));
  }

  /** Takes the worst case of a call, and returns how to settle it; undefined: no lease has that much. */
  take({ organizationId, targets }: LeaseOwner, worstUsd: number): Settle | undefined {
    const lease = this.#usable.get(buildKey(organizationId, targets));
    if (lease === undefined) return undefined;
    const now = performance.now();
    if (!lease.isUsable(now)) {
      this.#close(lease);
      return undefined;
    }
    const isTaken = lease.take(worstUsd, now);
    this.#change(lease);
    return isTaken ? buildOnce((costUsd) => this.#settle(lease, worstUsd, costUsd)) : undefined;
  }

  /** Opens a lease for calls to come, unless there is one. */
  open(owner: LeaseOwner, worstUsd: number): void {
    const key = buildKey(owner.organizationId, owner.targets);
    if (this.#isClosed || this.#usable.has(key) || this.#opening.has(key) || this.#all.size >= MAX_LEASES) return;
    const opening = this.#open(owner, key, worstUsd)
      .catch((error: unknown) => {
        this.#ports.log.warn({ error: errorText(error) }, 'could not open a lease of budgets');
      })
      .finally(() => this.#opening.delete(key));
    this.#opening.set(key, opening);
  }

  /** Gives back what no call in progress holds. The database grants what is left anew, by the limits of now. */
  async recall(organizationId: string): Promise<void> {
    this.#recalls += 1;
    for (const lease of this.#all) {
      if (lease.organizationId !== organizationId) continue;
      lease.freeze();
      this.#change(lease);
    }
    await this.write();
  }

  /** Renews the leases that are used, and releases the others. */
  async renew(): Promise<void> {
    const idle = performance.now() - IDLE_MS;
    for (const lease of this.#all) {
      if (!lease.isUsed && lease.usedAt < idle) this.#close(lease);
      this.#change(lease);
    }
    await this.write();
  }

  /** Writes what there is to write. Never throws: what could not be written is tried again. */
  async write(): Promise<void> {
    while (this.#writing !== undefined) await this.#writing;
    if (this.#changed.size === 0) return;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    // Not part of the request that happens to be the first to wait for it.
    this.#writing = startWork({ job: 'write costs of model calls' }, () => this.#writeNow()).finally(() => {
      this.#writing = undefined;
    });
    await this.#writing;
  }

  /** Releases all leases; those of calls in progress expire, unless the calls end before. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all(this.#opening.values());
    for (const lease of this.#all) this.#close(lease);
    await this.write();
    clearTimeout(this.#timer);
    booksByBus.get(this.#ports.bus)?.delete(this);
  }

  async #open({ organizationId, targets }: LeaseOwner, key: string, worstUsd: number): Promise<void> {
    // The call that asked for it goes first.
    await nextTurn();
    const [recalls, sentAt] = [this.#recalls, performance.now()];
    const id = newId('cal');
    const wanted = { id, targets, wantedUsd: Lease.wantedFor(worstUsd), seconds: LEASE_SECONDS };
    const grant = await openLease(this.#ports.db, organizationId, wanted);
    if (grant === undefined) return;
    const lease = new Lease({ id, organizationId, key, worstUsd });
    lease.grant(grant, { sentAt, charged: 0 });
    this.#all.add(lease);
    this.#usable.set(key, lease);
    if (recalls === this.#recalls) return;
    lease.freeze();
    this.#change(lease);
  }

  #close(lease: Lease): void {
    if (this.#usable.get(lease.key) === lease) this.#usable.delete(lease.key);
    lease.close();
    this.#change(lease);
  }

  /** Waits for the database only where the lease is overdrawn: the next call may be one too many. */
  async #settle(lease: Lease, worstUsd: number, costUsd: number): Promise<void> {
    lease.settle(worstUsd, costUsd);
    this.#change(lease);
    if (lease.isOverdrawn || this.#isClosed) await this.write();
  }

  #change(lease: Lease): void {
    if (lease.hasEnded) return;
    this.#changed.add(lease);
    this.#schedule(WRITE_MS);
  }

  #schedule(ms: number): void {
    if (this.#timer !== undefined || this.#writing !== undefined) return;
    this.#timer = setTimeout(() => void this.write(), ms).unref();
  }

  async #writeNow(): Promise<void> {
    const batch = [...this.#changed];
    this.#changed.clear();
    const now = performance.now();
    const prepared = batch.map((lease) => ({ lease, ...lease.prepare(now) }));
    const uses = prepared.map(({ use }) => use);
    try {
      const { leases, crossed } = await renewLeases(this.#ports.db, uses, LEASE_SECONDS);
      const grants = new Map(leases.map((grant) => [grant.id, grant]));
      for (const { lease, apply } of prepared) {
        if (apply(grants.get(lease.id))) this.#changed.add(lease);
        if (lease.hasEnded) this.#remove(lease);
      }
      this.#ports.report(crossed);
    } catch (error) {
      this.#ports.log.warn({ error: errorText(error) }, 'could not write costs of model calls; trying again');
      for (const lease of batch) this.#changed.add(lease);
      this.#afterWrite(RETRY_MS);
      return;
    }
    this.#afterWrite(WRITE_MS);
  }

  #afterWrite(ms: number): void {
    if (this.#changed.size === 0) return;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.write(), ms).unref();
  }

  #remove(lease: Lease): void {
    this.#all.delete(lease);
    this.#changed.delete(lease);
    if (this.#usable.get(lease.key) === lease) this.#usable.delete(lease.key);
  }
}

function buildKey(organizationId: string, targets: readonly string[]): string {
  return targets.length === 1 ? `${organizationId} ${targets[0]}` : JSON.stringify([organizationId, targets]);
}

/** A call is settled once. */
function buildOnce(settle: Settle): Settle {
  let isSettled = false;
  return (costUsd) => {
    if (isSettled) return Promise.resolve();
    isSettled = true;
    return settle(costUsd);
  };
}
