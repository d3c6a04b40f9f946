import type { Queryable } from '../db/db.ts';

/** Figures of the whole installation about webhooks, budgets and the audit. */
export type RecordFigures = {
  pendingDeliveries: number;
  /** pending deliveries of the webhook that has most */
  largestBacklog: number;
  /** enabled webhooks whose last delivery failed */
  failingWebhooks: number;
  droppedDeliveries: number;
  /** reserved for model calls under way, in US dollars */
  reservedUsd: number;
  auditRecords: number;
  /** budgets that are spent in their current period, by what happens then; those for each session are not counted */
  reachedBudgets: Record<'pause' | 'refuse' | 'notify', number>;
};

export async function readRecordFigures(db: Queryable): Promise<RecordFigures> {
  const { rows } = await db.query<RecordFigures>(
    `WITH pending AS (
       SELECT count(*)::float8 AS count FROM webhook_deliveries WHERE state = 'pending' GROUP BY webhook_id
     ), reached AS (
       SELECT b.on_reached FROM budgets b
       JOIN budget_periods p ON p.budget_id = b.id AND p.period = budget_period_key(b.period, NULL, now())
       WHERE p.spent_usd >= b.limit_usd)
     SELECT (SELECT coalesce(sum(count), 0) FROM pending) AS "pendingDeliveries",
       (SELECT coalesce(max(count), 0) FROM pending) AS "largestBacklog",
       (SELECT count(*)::float8 FROM webhooks WHERE enabled AND failing_since IS NOT NULL) AS "failingWebhooks",
       (SELECT coalesce(sum(dropped_deliveries), 0)::float8 FROM webhooks) AS "droppedDeliveries",
       (SELECT coalesce(sum(amount_usd - idle_usd), 0)::float8 FROM budget_reservations
          WHERE expires_at > now()) AS "reservedUsd",
       (SELECT coalesce(sum(sequence), 0)::float8 FROM audit_heads) AS "auditRecords",
       (SELECT jsonb_build_object(
          'pause', count(*) FILTER (WHERE on_reached = 'pause'),
          'refuse', count(*) FILTER (WHERE on_reached = 'refuse'),
          'notify', count(*) FILTER (WHERE on_reached = 'notify')) FROM reached) AS "reachedBudgets"`,
  );
  const [figures] = rows;
  if (figures === undefined) throw new Error('The figures of the records were not read.');
  return figures;
}
