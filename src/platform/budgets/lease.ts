import type { LeaseGrant, LeaseUse } from '../store/budget-leases.ts';

/** A lease of a process that has died counts no longer than this. */
export const LEASE_SECONDS = 45;
/** The process stops using a lease before it expires in the database. */
const USABLE_MS = 40_000;
/** The largest worst case of a call fits this many times into a lease, if the budgets have as much. */
const CALLS = 256;
/** The smallest unit: calls without a price need a lease that is not empty. */
const MIN_UNIT_USD = 0.000_001;
/** Sums of floating-point numbers are compared with this tolerance. */
const ROUNDING_USD = 1e-9;
const DECIMALS = 10;

/** Money of budgets that calls of this process take without a statement. Amounts are in US dollars. */
export class Lease {
  readonly id: string;
  readonly organizationId: string;
  /** the budgets that it was opened for */
  readonly key: string;
  usedAt = performance.now();
  #unit: number;
  /** cost of the calls that have ended */
  #charged = 0;
  /** worst cases of the calls in progress */
  #held = 0;
  #calls = 0;
  /** Charged and held amounts stay below it. */
  #ceiling = 0;
  #usableUntil = 0;
  /** counts the times that it was frozen, so that an answer of before does not undo it */
  #freezes = 0;
  #isClosing = false;
  #hasEnded = false;

  constructor(owner: { id: string; organizationId: string; key: string; worstUsd: number }) {
    this.id = owner.id;
    this.organizationId = owner.organizationId;
    this.key = owner.key;
    this.#unit = Math.max(owner.worstUsd, MIN_UNIT_USD);
  }

  /** How much a lease for such calls should have. */
  static wantedFor(worstUsd: number): number {
    return Math.max(worstUsd, MIN_UNIT_USD) * CALLS;
  }

  get isUsed(): boolean {
    return this.#calls > 0;
  }

  /** whether its row is gone, so that nothing is left to write */
  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  /** whether calls have cost more than it had */
  get isOverdrawn(): boolean {
    return this.#charged + this.#held > this.#ceiling + ROUNDING_USD;
  }

  isUsable(now: number): boolean {
    return !this.#isClosing && now < this.#usableUntil;
  }

  /** Takes the worst case of a call if it fits. */
  take(worstUsd: number, now: number): boolean {
    this.#unit = Math.max(this.#unit, worstUsd);
    const taken = this.#charged + this.#held;
    if (taken >= this.#ceiling || taken + worstUsd > this.#ceiling) return false;
    this.#held += worstUsd;
    this.#calls += 1;
    this.usedAt = now;
    return true;
  }

  settle(worstUsd: number, costUsd: number): void {
    this.#calls -= 1;
    this.#held = this.#calls === 0 ? 0 : this.#held - worstUsd;
    this.#charged += costUsd;
  }

  /** Takes no more calls until the next grant. */
  freeze(): void {
    this.#freezes += 1;
    this.#ceiling = Math.min(this.#ceiling, this.#charged + this.#held);
  }

  /** Takes no more calls. */
  close(): void {
    this.#isClosing = true;
    this.freeze();
  }

  /** What to write. `apply` takes the answer, and returns whether there is more to write. */
  prepare(now: number): { use: LeaseUse; apply: (grant: LeaseGrant | undefined) => boolean } {
    if (this.#isClosing || now >= this.#usableUntil) this.freeze();
    const charged = this.#charged;
    const held = this.#held;
    const freezes = this.#freezes;
    const idle = this.#ceiling - charged - held;
    const kept = idle > ROUNDING_USD ? held + idle : held;
    return {
      use: {
        id: this.id,
        charged: round(charged),
        held: round(held),
        kept: round(kept),
        wanted: this.#isClosing ? 0 : this.#unit * CALLS,
      },
      apply: (grant) => {
        if (grant === undefined || (grant.amountUsd === 0 && held === 0)) {
          this.close();
          this.#hasEnded = true;
          return false;
        }
        const isLess = this.grant(grant, { sentAt: now, charged });
        if (this.#freezes === freezes) return isLess;
        this.freeze();
        return true;
      },
    };
  }

  /**
   * `charged`: what the database knew when it granted the rest. Near the limit of a budget the lease gives back what it
   * does not need; returns whether it does, which the next renewal writes.
   */
  grant(
    { amountUsd, fairUsd, endsInMs }: LeaseGrant,
    { sentAt, charged }: { sentAt: number; charged: number },
  ): boolean {
    const taken = this.#charged + this.#held;
    const granted = charged + amountUsd;
    const isLess = granted > taken + 2 * fairUsd + ROUNDING_USD;
    this.#ceiling = isLess ? taken + fairUsd : granted;
    this.#usableUntil = sentAt + Math.min(USABLE_MS, endsInMs ?? USABLE_MS);
    return isLess;
  }
}

/** Sums of floating-point numbers differ from what was added; the difference is not to be written. */
function round(usd: number): number {
  return Number(usd.toFixed(DECIMALS));
}
