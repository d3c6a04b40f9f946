import type { Queryable } from '../../../src/platform/db/db.ts';

/** Work left in the tables although every session is idle. */
export async function findUnrest(db: Queryable): Promise<string[]> {
  const { rows } = await db.query<{ fault: string }>(
    `SELECT format('session %s is left as %s, turn %s, lease %s, to be woken %s, %s queued',
                   id, status, live_turn, lease_owner, wake_at, queued_count) AS fault
     FROM sessions WHERE status <> 'idle' OR live_turn IS NOT NULL OR lease_owner IS NOT NULL OR wake_at IS NOT NULL
       OR queued_count <> 0 OR interrupt IS NOT NULL
     UNION ALL SELECT format('turn %s is left %s', id, state) FROM turns WHERE state <> 'ended' OR step IS NOT NULL
     UNION ALL SELECT format('inbox of %s holds %s', session_id, kind) FROM inbox
     UNION ALL SELECT format('ask %s is left pending', id) FROM pending_actions WHERE state = 'pending'
     UNION ALL SELECT format('event %s of %s is there %s times', sequence, session_id, count(*)) FROM events
               GROUP BY session_id, sequence HAVING count(*) > 1`,
  );
  return rows.map((row) => row.fault);
}
