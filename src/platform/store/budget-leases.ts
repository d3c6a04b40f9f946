import type { Queryable } from '../db/db.ts';
import type { CrossedThreshold } from './budgets.ts';

/** What a lease has after it was opened or renewed. */
export type LeaseGrant = {
  id: string;
  /** what its calls may still cost; 0: the lease has ended, unless calls of it are in progress */
  amountUsd: number;
  /** what it should not exceed, given what is left in the budgets */
  fairUsd: number;
  /** when the first period of its budgets ends; null: never */
  endsInMs: number | null;
};

/** What the holder of a lease says about it, in US dollars. */
export type LeaseUse = {
  id: string;
  /** cost of all calls that have ended since the lease was opened */
  charged: number;
  /** worst cases of the calls in progress */
  held: number;
  /** `held`, and what more calls may take until the answer */
  kept: number;
  wanted: number;
};

/**
 * Leases money for the calls of one process in all budgets among `targets`, of at most a sixteenth of what is left.
 * Undefined: no budget applies, or too little is left.
 */
export async function openLease(
  db: Queryable,
  organizationId: string,
  lease: { id: string; targets: readonly string[]; wantedUsd: number; seconds: number },
): Promise<LeaseGrant | undefined> {
  const { rows } = await db.query<{ result: LeaseGrant | null }>(
    'SELECT open_budget_lease($1, $2::text[], $3, $4::float8::numeric, $5::int) AS result',
    [organizationId, lease.targets, lease.id, lease.wantedUsd, lease.seconds],
  );
  return rows[0]?.result ?? undefined;
}

/**
 * Charges what the calls of leases have cost, and renews the leases. A second time it charges nothing. Leases whose
 * budgets are deleted are absent from the answer.
 */
export async function renewLeases(
  db: Queryable,
  leases: readonly LeaseUse[],
  seconds: number,
): Promise<{ leases: LeaseGrant[]; crossed: CrossedThreshold[] }> {
  const { rows } = await db.query<{ result: { leases: LeaseGrant[]; crossed: CrossedThreshold[] } }>(
    'SELECT renew_budget_leases($1::jsonb, $2::int) AS result',
    [JSON.stringify(leases), seconds],
  );
  return rows[0]?.result ?? { leases: [], crossed: [] };
}
