import type { Queryable } from '../../platform/db/db.ts';
import type { GoalState } from '../contract/goals.ts';

/** Whether other work precedes the next turn of the goal: a live turn or a queued prompt. */
export async function hasOtherWork(db: Queryable, sessionId: string): Promise<boolean> {
  const { rows } = await db.query<{ preempted: boolean }>(
    'SELECT live_turn IS NOT NULL OR queued_count > 0 AS preempted FROM sessions WHERE id = $1',
    [sessionId],
  );
  return rows[0]?.preempted !== false;
}

/** Locks the session row, and tells what decides over another turn; undefined when the lease is lost. */
export async function lockGoal(
  tx: Queryable,
  sessionId: string,
  epoch: number,
): Promise<{ goal: GoalState | null; isFree: boolean } | undefined> {
  const { rows } = await tx.query<{ goal: GoalState | null; free: boolean }>(
    `SELECT goal, status = 'idle' AND live_turn IS NULL AND queued_count = 0 AS free
     FROM sessions WHERE id = $1 AND lease_epoch = $2 FOR UPDATE`,
    [sessionId, epoch],
  );
  const row = rows[0];
  return row && { goal: row.goal, isFree: row.free };
}
