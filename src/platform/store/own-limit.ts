// Tests: test/platform/store/webhooks.test.ts
import type { Queryable } from '../db/db.ts';

/** Tables whose rows belong to an organization, and of which one may have a limited number. */
export type LimitedTable = 'webhooks' | 'model_providers';

/**
 * Whether the organization may have one more row. Call it in the transaction that inserts the row: until that ends, other
 * callers for the organization wait, so that many at once do not exceed the limit together.
 */
export async function hasRoom(
  tx: Queryable,
  table: LimitedTable,
  { organizationId, limit }: { organizationId: string; limit: number },
): Promise<boolean> {
  await tx.query('SELECT 1 FROM organizations WHERE id = $1 FOR NO KEY UPDATE', [organizationId]);
  const { rows } = await tx.query<{ count: number }>(
    `SELECT count(*)::int AS count FROM ${table} WHERE organization_id = $1`,
    [organizationId],
  );
  return (rows[0]?.count ?? 0) < limit;
}
