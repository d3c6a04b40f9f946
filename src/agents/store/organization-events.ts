import type { Queryable } from '../../platform/db/db.ts';
import type { SessionStatus } from '../contract/sessions.ts';

/** An event of some session without its content. */
export type EventPlace = { sessionId: string; id: string; type: string; sequence: number; createdAt: string };

/** What a list of sessions shows that events change. */
export type SessionSummary = {
  agentId: string;
  subjectId: string;
  status: SessionStatus;
  title: string | null;
  openActions: number;
  costUsd: number | null;
  lastActivityAt: string;
};

/** Of several sessions, the events past a sequence each, in order; at most `limit` of one session. */
export async function listEventPlaces(
  db: Queryable,
  after: ReadonlyMap<string, number>,
  limit: number,
): Promise<EventPlace[]> {
  const { rows } = await db.query<{ session_id: string; id: string; type: string; sequence: number; created_at: Date }>(
    `SELECT w.session_id, e.id, e.type, e.sequence, e.created_at
     FROM unnest($1::text[], $2::bigint[]) AS w (session_id, after) CROSS JOIN LATERAL (
       SELECT v.id, v.type, v.sequence, v.created_at FROM events v
       WHERE v.session_id = w.session_id AND v.sequence > w.after ORDER BY v.sequence LIMIT $3) AS e
     ORDER BY e.created_at, w.session_id, e.sequence`,
    [[...after.keys()], [...after.values()], limit],
  );
  return rows.map(({ session_id: sessionId, created_at: createdAt, ...place }) => ({
    ...place,
    sessionId,
    createdAt: createdAt.toISOString(),
  }));
}

/** Those of the sessions that the organization has, by id. */
export async function findSessionSummaries(
  db: Queryable,
  organizationId: string,
  ids: readonly string[],
): Promise<Map<string, SessionSummary>> {
  const { rows } = await db.query<{
    id: string;
    agent_id: string;
    subject_id: string;
    status: SessionStatus;
    title: string | null;
    open_actions: number;
    cost_usd: number | null;
    last_activity_at: Date;
  }>(
    `SELECT s.id, s.agent_id, s.subject_id, s.status, s.title, s.last_activity_at,
       (s.usage->>'cost_usd')::double precision AS cost_usd,
       (SELECT count(*) FROM pending_actions p WHERE p.session_id = s.id AND p.state = 'pending') AS open_actions
     FROM sessions s WHERE s.organization_id = $1 AND s.id = ANY($2::text[])`,
    [organizationId, ids],
  );
  return new Map(
    rows.map((row) => [
      row.id,
      {
        agentId: row.agent_id,
        subjectId: row.subject_id,
        status: row.status,
        title: row.title,
        openActions: row.open_actions,
        costUsd: row.cost_usd,
        lastActivityAt: row.last_activity_at.toISOString(),
      },
    ]),
  );
}
