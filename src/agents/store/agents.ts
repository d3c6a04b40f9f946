import type { Queryable } from '../../platform/db/db.ts';
import type { RateLimits } from '../contract/agents.ts';
import { readPage } from '../../platform/store/pages.ts';
import type { Keyset, PageOf, PageRequest } from '../../platform/store/pages.ts';
import { newId } from '../../platform/ids.ts';
import { insertVersion, readSummary, SUMMARY_COLUMNS } from './versions.ts';
import type { SummaryRow, VersionContent, VersionSummary } from './versions.ts';

export type AgentStatus = 'active' | 'archived';

/** An agent with its latest version. */
export type StoredAgent = {
  id: string;
  organizationId: string;
  name: string;
  status: AgentStatus;
  rateLimits: RateLimits;
  latestVersion: number;
  productionVersion: number;
  version: VersionSummary;
  createdAt: Date;
  updatedAt: Date;
};

type AgentRow = SummaryRow & {
  id: string;
  organization_id: string;
  name: string;
  status: AgentStatus;
  conversations_per_minute: number;
  messages_per_minute: number;
  latest_version: number;
  production_version: number;
  created_at: Date;
  updated_at: Date;
};

const COLUMNS = `a.*, ${SUMMARY_COLUMNS}`;
const FROM = 'FROM agents a JOIN agent_versions v ON v.agent_id = a.id AND v.version = a.latest_version';
const SELECT = `SELECT ${COLUMNS} ${FROM}`;
const KEYSET: Keyset = { name: 'agents', keys: [{ sql: 'a.id', type: 'text' }], direction: 'DESC' };

function readAgent(row: AgentRow): StoredAgent {
  return {
    id: row.id,
    organizationId: row.organization_id,
    name: row.name,
    status: row.status,
    rateLimits: {
      conversationsPerMinute: row.conversations_per_minute,
      messagesPerMinute: row.messages_per_minute,
    },
    latestVersion: row.latest_version,
    productionVersion: row.production_version,
    version: readSummary(row),
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}

export async function findAgent(db: Queryable, organizationId: string, id: string): Promise<StoredAgent | undefined> {
  const { rows } = await db.query<AgentRow>(`${SELECT} WHERE a.id = $1 AND a.organization_id = $2`, [
    id,
    organizationId,
  ]);
  return rows[0] && readAgent(rows[0]);
}

/** Whether the organization has such an agent, archived or not. */
export async function hasAgent(db: Queryable, organizationId: string, id: string): Promise<boolean> {
  const { rows } = await db.query('SELECT 1 FROM agents WHERE id = $1 AND organization_id = $2', [id, organizationId]);
  return rows.length > 0;
}

/** Newest first. */
export async function listAgents(
  db: Queryable,
  organizationId: string,
  { status, ...page }: PageRequest & { status?: AgentStatus | undefined },
): Promise<PageOf<StoredAgent>> {
  const statement = {
    columns: COLUMNS,
    from: `${FROM} WHERE a.organization_id = $1 AND ($2::text IS NULL OR a.status = $2)`,
    params: [organizationId, status ?? null],
    keyset: KEYSET,
  };
  const found = await readPage<AgentRow>(db, statement, page);
  return { ...found, rows: found.rows.map(readAgent) };
}

/** An agent with version 0 in production. The caller holds a transaction. */
export async function insertAgent(
  tx: Queryable,
  agent: { organizationId: string; name: string; rateLimits: RateLimits; content: VersionContent },
): Promise<string> {
  const id = newId('agt');
  await tx.query(
    `INSERT INTO agents (id, organization_id, name, conversations_per_minute, messages_per_minute, latest_version,
       production_version) VALUES ($1, $2, $3, $4, $5, 0, 0)`,
    [id, agent.organizationId, agent.name, agent.rateLimits.conversationsPerMinute, agent.rateLimits.messagesPerMinute],
  );
  await insertVersion(tx, id, 0, agent.content);
  return id;
}

/**
 * Adds the version after `base` and makes it the latest. False when the latest is another by now, or the agent is
 * archived or gone: then nothing has changed. The caller holds a transaction.
 */
export async function publishVersion(
  tx: Queryable,
  agent: { id: string; name: string; base: number; rateLimits: RateLimits; content: VersionContent },
): Promise<boolean> {
  const { rowCount } = await tx.query(
    `UPDATE agents SET name = $3, latest_version = $2 + 1, conversations_per_minute = $4, messages_per_minute = $5,
       updated_at = now() WHERE id = $1 AND latest_version = $2 AND status = 'active'`,
    [agent.id, agent.base, agent.name, agent.rateLimits.conversationsPerMinute, agent.rateLimits.messagesPerMinute],
  );
  if (rowCount === 0) return false;
  await insertVersion(tx, agent.id, agent.base + 1, agent.content);
  return true;
}

export async function archiveAgent(db: Queryable, id: string): Promise<void> {
  await db.query(`UPDATE agents SET status = 'archived', updated_at = now() WHERE id = $1 AND status = 'active'`, [id]);
}

/** False when the agent is archived or gone. */
export async function setRateLimits(
  db: Queryable,
  id: string,
  limits: { [Limit in keyof RateLimits]?: number | undefined },
): Promise<boolean> {
  const { rowCount } = await db.query(
    `UPDATE agents SET conversations_per_minute = coalesce($2, conversations_per_minute),
       messages_per_minute = coalesce($3, messages_per_minute), updated_at = now()
     WHERE id = $1 AND status = 'active'`,
    [id, limits.conversationsPerMinute ?? null, limits.messagesPerMinute ?? null],
  );
  return rowCount > 0;
}

/** False when the agent is archived or gone. The version must exist. */
export async function setProduction(db: Queryable, id: string, version: number): Promise<boolean> {
  const { rowCount } = await db.query(
    `UPDATE agents SET production_version = $2, updated_at = now() WHERE id = $1 AND status = 'active'`,
    [id, version],
  );
  return rowCount > 0;
}

/**
 * Deletes an agent with everything that hangs on it, and tells whose volumes are left to delete. The caller holds a
 * transaction.
 */
export async function deleteAgent(
  tx: Queryable,
  organizationId: string,
  id: string,
): Promise<{ outcome: 'deleted' } | { outcome: 'missing' } | { outcome: 'running' }> {
  const agent = await tx.query('SELECT 1 FROM agents WHERE id = $1 AND organization_id = $2 FOR UPDATE', [
    id,
    organizationId,
  ]);
  if (agent.rowCount === 0) return { outcome: 'missing' };
  const { rows } = await tx.query<{ status: string }>(
    'SELECT status FROM sessions WHERE agent_id = $1 ORDER BY id FOR UPDATE',
    [id],
  );
  if (rows.some((row) => row.status === 'running')) return { outcome: 'running' };
  await tx.query('DELETE FROM events WHERE session_id IN (SELECT id FROM sessions WHERE agent_id = $1)', [id]);
  await tx.query(
    `DELETE FROM idempotency_keys WHERE organization_id = $1
       AND scope IN (SELECT 'events:' || id FROM sessions WHERE agent_id = $2)`,
    [organizationId, id],
  );
  await tx.query('DELETE FROM agents WHERE id = $1', [id]);
  return { outcome: 'deleted' };
}
