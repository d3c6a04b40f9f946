import type { Queryable } from '../../platform/db/db.ts';
import type { StandingApproval } from '../contract/agents.ts';
import { readPage } from '../../platform/store/pages.ts';
import type { Keyset, PageOf, PageRequest } from '../../platform/store/pages.ts';

/** One subject of one agent. */
export type Subject = { organizationId: string; agentId: string; subjectId: string };

const WHERE = 'WHERE organization_id = $1 AND agent_id = $2 AND subject_id = $3';

function params({ organizationId, agentId, subjectId }: Subject): string[] {
  return [organizationId, agentId, subjectId];
}

const KEYSET: Keyset = { name: 'approvals', keys: [{ sql: 'tool COLLATE "C"', type: 'text' }], direction: 'ASC' };

/** By tool, in code point order. */
export async function listApprovals(
  db: Queryable,
  subject: Subject,
  page: PageRequest,
): Promise<PageOf<StandingApproval>> {
  const statement = {
    columns: 'tool, created_at',
    from: `FROM standing_approvals ${WHERE}`,
    params: params(subject),
    keyset: KEYSET,
  };
  const found = await readPage<{ tool: string; created_at: Date }>(db, statement, page);
  const rows = found.rows.map((row) => ({
    object: 'approval' as const,
    tool: row.tool,
    createdAt: row.created_at.toISOString(),
  }));
  return { ...found, rows };
}

/** Revokes one tool, or all of them. Returns how many there were. */
export async function deleteApprovals(db: Queryable, subject: Subject, tool: string | null): Promise<number> {
  const { rowCount } = await db.query(`DELETE FROM standing_approvals ${WHERE} AND ($4::text IS NULL OR tool = $4)`, [
    ...params(subject),
    tool,
  ]);
  return rowCount;
}
