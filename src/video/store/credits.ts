import type { Queryable } from '../../platform/db/db.ts';
import type { Sealed } from '../../platform/master-key.ts';

export type CreditAccount = { balance: number; reserved: number };

/** Opens an organization's account with the initial credits; does nothing if it has one. */
export async function ensureAccount(db: Queryable, organizationId: string, initialCredits: number): Promise<void> {
  await db.query(
    `WITH opened AS (
       INSERT INTO credit_accounts (organization_id, balance) VALUES ($1, $2) ON CONFLICT DO NOTHING RETURNING balance)
     INSERT INTO credit_entries (organization_id, kind, balance_change, reserved_change)
     SELECT $1, 'grant', balance, 0 FROM opened WHERE balance <> 0`,
    [organizationId, initialCredits],
  );
}

export async function findAccount(db: Queryable, organizationId: string): Promise<CreditAccount | undefined> {
  const { rows } = await db.query<CreditAccount>(
    'SELECT balance, reserved FROM credit_accounts WHERE organization_id = $1',
    [organizationId],
  );
  return rows[0];
}

/** A negative amount takes credits back, down to a balance of 0. Undefined if the organization has no account. */
export async function grantCredits(
  db: Queryable,
  organizationId: string,
  amount: number,
): Promise<CreditAccount | undefined> {
  const { rows } = await db.query<CreditAccount>(
    `WITH before AS (SELECT balance FROM credit_accounts WHERE organization_id = $1 FOR UPDATE),
     account AS (
       UPDATE credit_accounts a SET balance = greatest(0, a.balance + $2) FROM before
       WHERE a.organization_id = $1 RETURNING a.balance, a.reserved, a.balance - before.balance AS change),
     entry AS (
       INSERT INTO credit_entries (organization_id, kind, balance_change, reserved_change)
       SELECT $1, 'grant', change, 0 FROM account WHERE change <> 0)
     SELECT balance, reserved FROM account`,
    [organizationId, amount],
  );
  return rows[0];
}

/**
 * Settles the reservation of a generation: charges or refunds it. Runs in the transaction that ends the generation; a
 * second settlement violates a unique index.
 */
export async function endReservation(
  tx: Queryable,
  kind: 'settle' | 'refund',
  generation: { id: string; organizationId: string; credits: number },
): Promise<void> {
  const back = kind === 'refund' ? generation.credits : 0;
  await tx.query(
    `WITH entry AS (
       INSERT INTO credit_entries (organization_id, kind, generation_id, balance_change, reserved_change)
       VALUES ($1, $2, $3, $4, -$5::bigint))
     UPDATE credit_accounts SET balance = balance + $4, reserved = reserved - $5 WHERE organization_id = $1`,
    [generation.organizationId, kind, generation.id, back, generation.credits],
  );
}

export async function findWebhookSecret(db: Queryable, organizationId: string): Promise<Sealed | undefined> {
  const { rows } = await db.query<{ webhook_secret: Sealed | null }>(
    'SELECT webhook_secret FROM credit_accounts WHERE organization_id = $1',
    [organizationId],
  );
  return rows[0]?.webhook_secret ?? undefined;
}

/** Stores a secret if there is none, or in place of `replaced`. True if this one was stored. */
export async function keepWebhookSecret(
  db: Queryable,
  organizationId: string,
  secret: Sealed,
  replaced: Sealed | undefined,
): Promise<boolean> {
  const { rowCount } = await db.query(
    `UPDATE credit_accounts SET webhook_secret = $2::jsonb
     WHERE organization_id = $1 AND webhook_secret IS NOT DISTINCT FROM $3::jsonb`,
    [organizationId, JSON.stringify(secret), replaced === undefined ? null : JSON.stringify(replaced)],
  );
  return rowCount === 1;
}
