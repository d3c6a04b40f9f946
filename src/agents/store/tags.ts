import type { Queryable } from '../../platform/db/db.ts';
import type { AgentTag } from '../contract/agents.ts';
import { readPage } from '../../platform/store/pages.ts';
import type { Keyset, PageOf, PageRequest } from '../../platform/store/pages.ts';

type TagRow = { name: string; version: number; agent_version_id: string; created_at: Date; updated_at: Date };

const COLUMNS = 't.name, t.version, v.id AS agent_version_id, t.created_at, t.updated_at';
const SELECT = `SELECT ${COLUMNS}
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

const KEYSET: Keyset = { name: 'tags', keys: [{ sql: 't.name COLLATE "C"', type: 'text' }], direction: 'ASC' };

/** By name, in code point order. */
export async function listTags(db: Queryable, agentId: string, page: PageRequest): Promise<PageOf<AgentTag>> {
  const from = `FROM agent_tags t JOIN agent_versions v ON v.agent_id = t.agent_id AND v.version = t.version
    WHERE t.agent_id = $1`;
  const found = await readPage<TagRow>(db, { columns: COLUMNS, from, params: [agentId], keyset: KEYSET }, page);
  return { ...found, rows: found.rows.map(readTag) };
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
