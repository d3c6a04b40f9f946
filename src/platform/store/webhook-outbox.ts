import type { Queryable } from '../db/db.ts';
import type { Sealed } from '../master-key.ts';
import { readRow } from './rows.ts';
import type { RowOf } from './rows.ts';

/** A delivery that this process has claimed, with what it needs to send it. */
export type DueDelivery = {
  id: string;
  webhookId: string;
  organizationId: string;
  type: string;
  sessionId: string | null;
  agentId: string | null;
  subjectId: string | null;
  eventId: string | null;
  /** what the delivery says where it is about no session */
  data: Record<string, unknown> | null;
  attempts: number;
  createdAt: Date;
  url: string;
  fullEvent: boolean;
  secret: Sealed;
  /** while it is still valid */
  previousSecret: Sealed | null;
};

/** Deliveries of one webhook at once: a slow endpoint delays no other. */
const PER_WEBHOOK = 4;
/** Deliveries of one organization at once, half of what a process sends: nobody's slow endpoints take all its places. */
const PER_ORGANIZATION = 16;

/** Of a delivery until its next try, at most six hours; what is later was noted before the clock was set back. */
const LONGEST_WAIT = `interval '8 hours'`;

/** Whether nobody holds a claim. One that lasts longer than any can is from before the clock was set back. `$2`: seconds. */
const isFree = (row = ''): string =>
  `(${row}locked_until IS NULL OR ${row}locked_until <= now() OR ${row}locked_until > now() + 2 * $2::int * interval '1 second')`;

/**
 * Claims deliveries that are due. Of one session and webhook only the oldest is, so they arrive in order. Organizations
 * take turns, however many deliveries each has. A claim lasts `leaseSeconds`: the delivery of a process that died is sent
 * again by another one.
 */
export async function claimDeliveries(db: Queryable, limit: number, leaseSeconds: number): Promise<DueDelivery[]> {
  const { rows } = await db.query<RowOf<DueDelivery>>(
    `WITH busy AS MATERIALIZED (
       SELECT webhook_id, organization_id, count(*) AS count FROM webhook_deliveries
       WHERE state = 'pending' AND NOT ${isFree()} GROUP BY webhook_id, organization_id
     ), due AS (
       SELECT d.id, d.organization_id, d.position, row_number() OVER (PARTITION BY d.webhook_id ORDER BY d.position)
         + coalesce((SELECT b.count FROM busy b WHERE b.webhook_id = d.webhook_id), 0) AS place
       FROM webhook_deliveries d
       WHERE d.state = 'pending' AND ${isFree('d.')}
         AND (d.next_attempt_at <= now() OR d.next_attempt_at > now() + ${LONGEST_WAIT} OR d.attempts = 0)
         AND (d.session_id IS NULL OR NOT EXISTS (
           SELECT 1 FROM webhook_deliveries e WHERE e.webhook_id = d.webhook_id AND e.session_id = d.session_id
             AND e.state = 'pending' AND e.position < d.position))
     ), ready AS (
       SELECT id, position, row_number() OVER (PARTITION BY organization_id ORDER BY position)
         + coalesce((SELECT sum(b.count) FROM busy b WHERE b.organization_id = due.organization_id), 0) AS place
       FROM due WHERE place <= ${PER_WEBHOOK}
     ), chosen AS (
       SELECT d.id FROM webhook_deliveries d JOIN ready ON ready.id = d.id
       WHERE ready.place <= ${PER_ORGANIZATION} AND d.state = 'pending' AND ${isFree('d.')}
       ORDER BY ready.place, ready.position LIMIT $1 FOR UPDATE OF d SKIP LOCKED
     ), claimed AS (
       UPDATE webhook_deliveries d SET locked_until = now() + $2::int * interval '1 second', attempts = d.attempts + 1
       FROM chosen WHERE d.id = chosen.id RETURNING d.*)
     SELECT c.id, c.webhook_id, c.organization_id, c.type, c.session_id, c.agent_id, c.subject_id, c.event_id, c.data,
       c.attempts, c.created_at, w.url, w.full_event, w.secret,
       CASE WHEN w.previous_expires_at > now() THEN w.previous_secret END AS previous_secret
     FROM claimed c JOIN webhooks w ON w.id = c.webhook_id ORDER BY c.position`,
    [limit, leaseSeconds],
  );
  return rows.map((row) => readRow<DueDelivery>(row));
}

/** Ms until a pending delivery is due or its claim ends, 0 or less when one is overdue; null: none is pending. */
export async function readDeliveryDueMs(db: Queryable): Promise<number | null> {
  const { rows } = await db.query<{ due: number | null }>(
    `SELECT (extract(epoch FROM min(greatest(next_attempt_at, locked_until)) - now()) * 1000)::float8 AS due
     FROM webhook_deliveries WHERE state = 'pending'`,
  );
  return rows[0]?.due ?? null;
}

export async function markDelivered(tx: Queryable, { id, webhookId }: DueDelivery, status: number): Promise<void> {
  await tx.query(
    `UPDATE webhook_deliveries SET state = 'delivered', delivered_at = now(), locked_until = NULL, last_status = $2,
       last_error = NULL WHERE id = $1 AND state = 'pending'`,
    [id, status],
  );
  await tx.query('UPDATE webhooks SET failing_since = NULL WHERE id = $1 AND failing_since IS NOT NULL', [webhookId]);
}

/** `retryInSeconds`: null when it is not tried again. */
export async function markFailed(
  tx: Queryable,
  { id, webhookId }: DueDelivery,
  failure: { status: number | null; error: string; retryInSeconds: number | null },
): Promise<void> {
  await tx.query(
    `UPDATE webhook_deliveries SET state = CASE WHEN $4::float8 IS NULL THEN 'failed' ELSE state END,
       next_attempt_at = now() + coalesce($4::float8, 0) * interval '1 second', locked_until = NULL, last_status = $2,
       last_error = $3 WHERE id = $1 AND state = 'pending'`,
    [id, failure.status, failure.error, failure.retryInSeconds],
  );
  await tx.query('UPDATE webhooks SET failing_since = coalesce(failing_since, now()) WHERE id = $1', [webhookId]);
}

/** Disables endpoints that failed for this many days, and drops their deliveries. */
export async function disableDeadWebhooks(db: Queryable, days: number): Promise<number> {
  const { rowCount } = await db.query(
    `WITH dead AS (
       UPDATE webhooks SET enabled = false, updated_at = now(),
         disabled_reason = 'No delivery has succeeded for ' || $1::int || ' days.'
       WHERE enabled AND failing_since < now() - $1::int * interval '1 day' RETURNING id)
     UPDATE webhook_deliveries d SET state = 'failed' FROM dead WHERE d.webhook_id = dead.id AND d.state = 'pending'`,
    [days],
  );
  return rowCount;
}

/**
 * Drops the oldest pending deliveries of webhooks that have more than `bound`, at most `limit` at once and none that is being
 * sent. They stay in the list as failed and can be sent again. Returns how many were dropped.
 */
export async function dropExcessDeliveries(db: Queryable, bound: number, limit: number): Promise<number> {
  const { rows } = await db.query<{ dropped: number }>(
    `WITH crowded AS (
       SELECT webhook_id, count(*) - $1::int AS excess FROM webhook_deliveries WHERE state = 'pending'
       GROUP BY webhook_id HAVING count(*) > $1::int
     ), oldest AS (
       SELECT d.id FROM crowded c CROSS JOIN LATERAL (
         SELECT e.id FROM webhook_deliveries e
         WHERE e.webhook_id = c.webhook_id AND e.state = 'pending' AND (e.locked_until IS NULL OR e.locked_until <= now())
         ORDER BY e.position LIMIT least(c.excess, $2::int) FOR UPDATE SKIP LOCKED) AS d
     ), dropped AS (
       UPDATE webhook_deliveries d SET state = 'failed', locked_until = NULL,
         last_error = 'Dropped: the webhook had more than ' || $1::int || ' pending deliveries.'
       FROM oldest WHERE d.id = oldest.id AND d.state = 'pending' RETURNING d.webhook_id
     ), counted AS (
       UPDATE webhooks w SET dropped_deliveries = w.dropped_deliveries + n.count
       FROM (SELECT webhook_id, count(*) AS count FROM dropped GROUP BY webhook_id) AS n WHERE w.id = n.webhook_id)
     SELECT count(*)::int AS dropped FROM dropped`,
    [bound, limit],
  );
  return rows[0]?.dropped ?? 0;
}

export async function deleteOldDeliveries(db: Queryable, days: number): Promise<number> {
  const { rowCount } = await db.query(
    `DELETE FROM webhook_deliveries WHERE state <> 'pending' AND created_at < now() - $1::int * interval '1 day'`,
    [days],
  );
  return rowCount;
}
