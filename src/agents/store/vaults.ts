import type { Queryable } from '../../platform/db/db.ts';
import { readPage } from '../../platform/store/pages.ts';
import type { Keyset, PageOf, PageRequest } from '../../platform/store/pages.ts';
import type { Vault } from '../contract/vaults.ts';
import { newId } from '../../platform/ids.ts';
import { encodeJson } from '../../platform/store/json.ts';

type VaultRow = {
  id: string;
  display_name: string;
  metadata: Record<string, unknown>;
  archived_at: Date | null;
  created_at: Date;
  updated_at: Date;
};

const COLUMNS = 'v.id, v.display_name, v.metadata, v.archived_at, v.created_at, v.updated_at';

function readVault(row: VaultRow): Vault {
  return {
    id: row.id,
    type: 'vault',
    displayName: row.display_name,
    metadata: row.metadata,
    archivedAt: row.archived_at?.toISOString() ?? null,
    createdAt: row.created_at.toISOString(),
    updatedAt: row.updated_at.toISOString(),
  };
}

export async function insertVault(
  db: Queryable,
  vault: { organizationId: string; displayName: string; metadata: Record<string, unknown> },
): Promise<Vault> {
  const { rows } = await db.query<VaultRow>(
    `INSERT INTO vaults AS v (id, organization_id, display_name, metadata) VALUES ($1, $2, $3, $4::jsonb)
     RETURNING ${COLUMNS}`,
    [newId('vlt'), vault.organizationId, vault.displayName, encodeJson(vault.metadata)],
  );
  return readVault(rows[0]!);
}

const KEYSET: Keyset = { name: 'vaults', keys: [{ sql: 'v.id', type: 'text' }], direction: 'DESC' };

/** The active ones, newest first. */
export async function listVaults(db: Queryable, organizationId: string, page: PageRequest): Promise<PageOf<Vault>> {
  const from = 'FROM vaults v WHERE v.organization_id = $1 AND v.archived_at IS NULL';
  const statement = { columns: COLUMNS, from, params: [organizationId], keyset: KEYSET };
  const found = await readPage<VaultRow>(db, statement, page);
  return { ...found, rows: found.rows.map(readVault) };
}

export async function findVault(db: Queryable, organizationId: string, id: string): Promise<Vault | undefined> {
  const { rows } = await db.query<VaultRow>(
    `SELECT ${COLUMNS} FROM vaults v WHERE v.id = $1 AND v.organization_id = $2`,
    [id, organizationId],
  );
  return rows[0] && readVault(rows[0]);
}

/** Repeated calls change nothing. */
export async function archiveVault(db: Queryable, organizationId: string, id: string): Promise<Vault | undefined> {
  const { rows } = await db.query<VaultRow>(
    `UPDATE vaults v SET archived_at = coalesce(v.archived_at, now()),
       updated_at = CASE WHEN v.archived_at IS NULL THEN now() ELSE v.updated_at END
     WHERE v.id = $1 AND v.organization_id = $2 RETURNING ${COLUMNS}`,
    [id, organizationId],
  );
  return rows[0] && readVault(rows[0]);
}

/** An archived credential counts as well. The caller holds a transaction. */
export async function deleteVault(
  tx: Queryable,
  organizationId: string,
  id: string,
): Promise<'deleted' | 'missing' | 'not_empty'> {
  const { rowCount } = await tx.query('SELECT 1 FROM vaults WHERE id = $1 AND organization_id = $2 FOR UPDATE', [
    id,
    organizationId,
  ]);
  if (rowCount === 0) return 'missing';
  const held = await tx.query('SELECT 1 FROM vault_credentials WHERE vault_id = $1 LIMIT 1', [id]);
  if (held.rowCount > 0) return 'not_empty';
  await tx.query('DELETE FROM vaults WHERE id = $1', [id]);
  return 'deleted';
}

/** In order of attachment. */
export async function listAgentVaults(db: Queryable, agentId: string): Promise<Vault[]> {
  const { rows } = await db.query<VaultRow>(
    `SELECT ${COLUMNS} FROM agent_vaults a JOIN vaults v ON v.id = a.vault_id
     WHERE a.agent_id = $1 ORDER BY a.created_at, v.id`,
    [agentId],
  );
  return rows.map(readVault);
}

/**
 * Replaces the set. `stale` when the agent has changed since `expectedUpdatedAt`; the vaults that are not there, or are
 * archived and not attached yet, are named. The caller holds a transaction and knows that the agent exists.
 */
export async function setAgentVaults(
  tx: Queryable,
  agent: { organizationId: string; agentId: string; vaultIds: readonly string[]; expectedUpdatedAt: string | null },
): Promise<'set' | 'stale' | 'inactive' | 'missing' | 'archived'> {
  const { rows } = await tx.query<{ status: string; updated_at: Date }>(
    'SELECT status, updated_at FROM agents WHERE id = $1 AND organization_id = $2 FOR UPDATE',
    [agent.agentId, agent.organizationId],
  );
  const [found] = rows;
  if (found?.status !== 'active') return 'inactive';
  const expected = agent.expectedUpdatedAt;
  if (expected !== null && found.updated_at.getTime() !== Date.parse(expected)) return 'stale';
  const { rows: vaults } = await tx.query<{ id: string; usable: boolean }>(
    `SELECT v.id, v.archived_at IS NULL OR EXISTS (
       SELECT 1 FROM agent_vaults a WHERE a.agent_id = $3 AND a.vault_id = v.id) AS usable
     FROM vaults v WHERE v.id = ANY($1::text[]) AND v.organization_id = $2 ORDER BY v.id FOR SHARE`,
    [agent.vaultIds, agent.organizationId, agent.agentId],
  );
  if (vaults.length < new Set(agent.vaultIds).size) return 'missing';
  if (vaults.some(({ usable }) => !usable)) return 'archived';
  await tx.query('DELETE FROM agent_vaults WHERE agent_id = $1 AND NOT vault_id = ANY($2::text[])', [
    agent.agentId,
    agent.vaultIds,
  ]);
  await attachVaults(tx, agent.agentId, agent.vaultIds);
  return 'set';
}

/** Attaches and marks the agent as changed, by a millisecond at least, so that what callers compare differs. */
export async function attachVaults(tx: Queryable, agentId: string, vaultIds: readonly string[]): Promise<void> {
  await tx.query(
    `INSERT INTO agent_vaults (agent_id, vault_id, created_at)
     SELECT $1, id, now() + n * interval '1 microsecond' FROM unnest($2::text[]) WITH ORDINALITY AS t (id, n)
     ON CONFLICT DO NOTHING`,
    [agentId, vaultIds],
  );
  await tx.query(
    `UPDATE agents SET updated_at = greatest(now(), updated_at + interval '1 millisecond') WHERE id = $1`,
    [agentId],
  );
}
