import type { Queryable } from '../../platform/db/db.ts';
import type { StandingApproval } from '../contract/agents.ts';
import type { Page } from '../../platform/contract/common.ts';

/** One subject of one agent. */
export type Subject = { organizationId: string; agentId: string; subjectId: string };

const WHERE = 'WHERE organization_id = $1 AND agent_id = $2 AND subject_id = $3';

function params({ organizationId, agentId, subjectId }: Subject): string[] {
  return [organizationId, agentId, subjectId];
}

/** By tool, in code point order. */
export async function listApprovals(
  db: Queryable,
  subject: Subject,
  page: Page,
): Promise<{ approvals: StandingApproval[]; total: number }> {
  const [{ rows }, count] = await Promise.all([
    db.query<{ tool: string; created_at: Date }>(
      `SELECT tool, created_at FROM standing_approvals ${WHERE} ORDER BY tool COLLATE "C" LIMIT $4 OFFSET $5`,
      [...params(subject), page.limit, page.offset],
    ),
    db.query<{ total: number }>(`SELECT count(*) AS total FROM standing_approvals ${WHERE}`, params(subject)),
  ]);
  const approvals = rows.map((row) => ({
    object: 'approval' as const,
    tool: row.tool,
    createdAt: row.created_at.toISOString(),
  }));
  return { approvals, total: count.rows[0]!.total };
}

/** Revokes one tool, or all of them. Returns how many there were. */
export async function deleteApprovals(db: Queryable, subject: Subject, tool: string | null): Promise<number> {
  const { rowCount } = await db.query(`DELETE FROM standing_approvals ${WHERE} AND ($4::text IS NULL OR tool = $4)`, [
    ...params(subject),
    tool,
  ]);
  return rowCount;
}
