import type { Queryable } from '../../platform/db/db.ts';
import type { Sandbox } from '../contract/sandboxes.ts';

type SessionNames = Pick<Sandbox, 'sessionTitle' | 'sessionStatus' | 'agentName'>;
type NamesRow = { id: string; title: string | null; status: Sandbox['sessionStatus']; agent_name: string | null };

/** What to call the sessions that sandboxes belong to, by id; sessions of other organizations are left out. */
export async function findSessionNames(
  db: Queryable,
  organizationId: string,
  ids: readonly string[],
): Promise<Map<string, SessionNames>> {
  const { rows } = await db.query<NamesRow>(
    `SELECT s.id, s.title, s.status, (SELECT a.name FROM agents a WHERE a.id = s.agent_id) AS agent_name
     FROM sessions s WHERE s.organization_id = $1 AND s.id = ANY($2)`,
    [organizationId, [...ids]],
  );
  return new Map(
    rows.map((row) => [row.id, { sessionTitle: row.title, sessionStatus: row.status, agentName: row.agent_name }]),
  );
}
