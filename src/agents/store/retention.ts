// Tests: test/agents/store/retention.test.ts
import type { Db } from '../../platform/db/db.ts';
import { dropEmptyMonths } from '../../platform/store/partitions.ts';

/**
 * Deletes the logs of up to `limit` sessions that were archived more than `days` ago: events, turns, words for the search
 * and pending actions. The sessions stay in lists. Returns how many sessions it was.
 */
export async function deleteArchivedLogs(db: Db, days: number, limit: number): Promise<number> {
  return db.transaction(async (tx) => {
    const { rows } = await tx.query<{ id: string }>(
      `UPDATE sessions SET log_deleted_at = now(), compaction = NULL, tool_state = '{}' WHERE id IN (
         SELECT id FROM sessions
         WHERE archived_at < now() - $1 * interval '1 day' AND log_deleted_at IS NULL
         ORDER BY archived_at LIMIT $2 FOR UPDATE SKIP LOCKED)
       RETURNING id`,
      [days, limit],
    );
    const ids = rows.map(({ id }) => id);
    if (ids.length === 0) return 0;
    for (const table of ['events', 'message_words', 'turns', 'pending_actions']) {
      await tx.query(`DELETE FROM ${table} WHERE session_id = ANY($1::text[])`, [ids]);
    }
    return ids.length;
  });
}

/** Drops past months of the event log that have no rows left; see `dropEmptyMonths`. */
export function dropEmptyEventPartitions(db: Db, now: Date): Promise<string[]> {
  return dropEmptyMonths(db, 'events', now);
}
