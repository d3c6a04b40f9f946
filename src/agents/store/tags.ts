import type { Queryable } from '../../platform/db/db.ts';
import type { AgentTag } from '../contract/agents.ts';
import type { Page } from '../../platform/contract/common.ts';

type TagRow = { name: string; version: number; agent_version_id: string; created_at: Date; updated_at: Date };

const SELECT = `SELECT t.name, t.version, v.id AS agent_version_id, t.created_at, t.updated_at
  FROM t JOIN agent_versions v ON v.agent_id = t.agent_id AND v.version = t.version`;

function readTag(row: TagRow): AgentTag {
  return {
    object: 'agent.tag',
    name: row.name,
    version: row.version,
    agentVersionId: row.agent_version_id,
    createdAt: row.created_at.toISOString(),
    updatedAt: row.updated_at.toISOString(),
  };
}

/** By name, in code point order. */
export async function listTags(
  db: Queryable,
  agentId: string,
  page: Page,
): Promise<{ tags: AgentTag[]; total: number }> {
  const [{ rows }, count] = await Promise.all([
    db.query<TagRow>(
      `WITH t AS (SELECT * FROM agent_tags WHERE agent_id = $1)
       ${SELECT} ORDER BY t.name COLLATE "C" LIMIT $2 OFFSET $3`,
      [agentId, page.limit, page.offset],
    ),
    db.query<{ total: number }>('SELECT count(*) AS total FROM agent_tags WHERE agent_id = $1', [agentId]),
  ]);
  return { tags: rows.map(readTag), total: count.rows[0]!.total };
}

/** Makes or moves a tag; undefined when the agent is archived or gone. The version must exist. */
export async function setTag(
  db: Queryable,
  agentId: string,
  name: string,
  version: number,
): Promise<AgentTag | undefined> {
  const { rows } = await db.query<TagRow>(
    `WITH t AS (
       INSERT INTO agent_tags (agent_id, name, version)
       SELECT id, $2, $3 FROM agents WHERE id = $1 AND status = 'active' FOR SHARE
       ON CONFLICT (agent_id, name) DO UPDATE SET version = excluded.version, updated_at = now()
       RETURNING *)
     ${SELECT}`,
    [agentId, name, version],
  );
  return rows[0] && readTag(rows[0]);
}

/** False when there is no such tag. */
export async function deleteTag(db: Queryable, agentId: string, name: string): Promise<boolean> {
  const { rowCount } = await db.query('DELETE FROM agent_tags WHERE agent_id = $1 AND name = $2', [agentId, name]);
  return rowCount > 0;
}
