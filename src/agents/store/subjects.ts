import type { Queryable } from '../../platform/db/db.ts';
import { escapeLike } from '../../platform/store/like.ts';
import { readPage } from '../../platform/store/pages.ts';
import type { Keyset, PageOf, PageRequest } from '../../platform/store/pages.ts';
import type { SubjectSummary } from '../contract/subjects.ts';

type SubjectRow = {
  agent_id: string;
  subject_id: string;
  sessions: number;
  last_activity_at: Date;
  cost_usd: number | null;
};

const KEYSET: Keyset = {
  name: 'subjects',
  keys: [
    { sql: 'u.agent_id', type: 'text' },
    { sql: 'u.subject_id', type: 'text' },
  ],
  direction: 'ASC',
};

/** The subjects that have sessions, by agent and subject. `q`: part of the subject, in any case. */
export async function listSubjects(
  db: Queryable,
  organizationId: string,
  { agentId, q, ...page }: PageRequest & { agentId?: string | undefined; q?: string | undefined },
): Promise<PageOf<SubjectSummary>> {
  const statement = {
    columns: 'u.agent_id, u.subject_id, u.sessions, u.last_activity_at, u.cost_usd',
    from: `FROM (
        SELECT agent_id, subject_id, count(*) AS sessions, max(last_activity_at) AS last_activity_at,
          sum((usage->>'cost_usd')::double precision) AS cost_usd
        FROM sessions WHERE organization_id = $1 AND ($2::text IS NULL OR agent_id = $2)
          AND ($3::text IS NULL OR subject_id ILIKE $3)
        GROUP BY agent_id, subject_id) AS u
      WHERE true`,
    params: [organizationId, agentId ?? null, q === undefined ? null : `%${escapeLike(q)}%`],
    keyset: KEYSET,
    counted: false,
  };
  const found = await readPage<SubjectRow>(db, statement, page);
  const rows = found.rows.map((row): SubjectSummary => ({
    object: 'subject',
    agentId: row.agent_id,
    subjectId: row.subject_id,
    sessions: row.sessions,
    lastActivityAt: row.last_activity_at.toISOString(),
    costUsd: row.cost_usd,
    volumeBytes: null,
  }));
  return { ...found, rows };
}
