// Tests: test/flow/budgets.test.ts
import type { Queryable } from '../../platform/db/db.ts';
import { encodeJson } from '../../platform/store/json.ts';
import type { BudgetTarget } from '../../platform/store/budgets.ts';
import type { TurnPrompt } from '../log/event.ts';

const NOTICE: TurnPrompt = {
  kind: 'notice',
  text: 'The budget that had stopped this conversation has been raised. Go on with the task where it was left.',
  eventId: null,
};

/**
 * Opens a turn in every idle session that a budget had paused. `spentBelowUsd`: only where less was spent when it
 * stopped; null: in all. Returns the ids of the sessions.
 */
export async function resumePausedSessions(
  tx: Queryable,
  organizationId: string,
  { scope, id, spentBelowUsd }: BudgetTarget & { spentBelowUsd: number | null },
): Promise<string[]> {
  const { rows } = await tx.query<{ id: string }>(
    `WITH paused AS (
       SELECT s.id FROM sessions s
       WHERE s.organization_id = $1 AND s.last_stop_reason->>'type' = 'budget_reached' AND s.status = 'idle'
         AND s.queued_count = 0 AND s.last_stop_reason->'budget'->>'scope' = $2
         AND s.last_stop_reason->'budget'->>'id' = $3 AND s.last_stop_reason->'budget'->>'onReached' = 'pause'
         AND ($4::float8 IS NULL OR (s.last_stop_reason->'budget'->>'spentUsd')::float8 < $4::float8)
       ORDER BY s.id FOR UPDATE
     ), queued AS (
       INSERT INTO inbox (session_id, kind, event_id, content) SELECT p.id, 'notice', NULL, $5::jsonb FROM paused p
     )
     UPDATE sessions s SET queued_count = s.queued_count + 1, wake_at = now() FROM paused p WHERE s.id = p.id
     RETURNING s.id`,
    [organizationId, scope, id, spentBelowUsd, encodeJson(NOTICE)],
  );
  return rows.map((row) => row.id);
}
