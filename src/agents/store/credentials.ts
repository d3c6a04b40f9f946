import type { Queryable } from '../../platform/db/db.ts';
import { readPage } from '../../platform/store/pages.ts';
import type { Keyset, PageOf, PageRequest } from '../../platform/store/pages.ts';
import type { Credential, PublicAuth } from '../contract/vaults.ts';
import type { Sealed } from '../../platform/master-key.ts';
import { encodeJson } from '../../platform/store/json.ts';
import { readRow } from '../../platform/store/rows.ts';
import type { RowOf } from '../../platform/store/rows.ts';

/** How the last refresh went. */
export type Health = 'ok' | 'refused' | 'unavailable';

/** A credential with what a request needs of it; its secrets are sealed. */
export type StoredCredential = Sealed & {
  id: string;
  vaultId: string;
  auth: PublicAuth;
  /** grows whenever the secrets change */
  revision: number;
  refreshable: boolean;
  /** seconds until it expires, negative when it has; null: it does not */
  expiresIn: number | null;
  health: Health;
  /** seconds since the last refresh that failed */
  healthAge: number | null;
  /** a refresh is in progress */
  refreshing: boolean;
};

export type CredentialRow = {
  id: string;
  vault_id: string;
  display_name: string;
  metadata: Record<string, unknown> | null;
  auth: PublicAuth;
  archived_at: Date | null;
  created_at: Date;
  updated_at: Date;
};

type StoredRow = RowOf<StoredCredential>;

const SHOWN = 'c.id, c.vault_id, c.display_name, c.metadata, c.auth, c.archived_at, c.created_at, c.updated_at';
export const STORED = `c.id, c.vault_id, c.auth, c.sealed, c.data_key, c.master_key_id, c.revision, c.refreshable,
  extract(epoch FROM c.expires_at - now())::float8 AS expires_in, c.health,
  extract(epoch FROM now() - c.health_at)::float8 AS health_age,
  coalesce(c.refresh_expires > now(), false) AS refreshing`;

function readCredential(row: CredentialRow): Credential {
  return {
    id: row.id,
    type: 'vault_credential',
    vaultId: row.vault_id,
    displayName: row.display_name,
    metadata: row.metadata,
    auth: row.auth,
    archivedAt: row.archived_at?.toISOString() ?? null,
    createdAt: row.created_at.toISOString(),
    updatedAt: row.updated_at.toISOString(),
  };
}

export type NewCredential = Sealed & {
  id: string;
  vaultId: string;
  displayName: string;
  metadata: Record<string, unknown> | null;
  auth: PublicAuth;
  serverKey: string;
};

function expiryOf(auth: PublicAuth): string | null {
  return auth.type === 'mcp_oauth' ? auth.expiresAt : null;
}

function isRefreshable(auth: PublicAuth): boolean {
  return auth.type === 'mcp_oauth' && auth.refresh !== null;
}

/** Undefined when the vault is archived or gone; holds it until the transaction ends. */
export async function insertCredential(
  db: Queryable,
  organizationId: string,
  credential: NewCredential,
): Promise<Credential | undefined> {
  const { rows } = await db.query<CredentialRow>(
    `WITH vault AS (
       SELECT id FROM vaults WHERE id = $2 AND organization_id = $12 AND archived_at IS NULL FOR SHARE)
     INSERT INTO vault_credentials AS c (id, vault_id, display_name, metadata, auth, server_key, sealed, data_key,
       master_key_id, expires_at, refreshable)
     SELECT $1, id, $3, $4::jsonb, $5::jsonb, $6, $7, $8, $9, $10::timestamptz, $11::boolean FROM vault
     RETURNING ${SHOWN}`,
    [
      credential.id,
      credential.vaultId,
      credential.displayName,
      credential.metadata === null ? null : encodeJson(credential.metadata),
      encodeJson(credential.auth),
      credential.serverKey,
      credential.sealed,
      credential.dataKey,
      credential.masterKeyId,
      expiryOf(credential.auth),
      isRefreshable(credential.auth),
      organizationId,
    ],
  );
  return rows[0] && readCredential(rows[0]);
}

const KEYSET: Keyset = { name: 'credentials', keys: [{ sql: 'c.id', type: 'text' }], direction: 'DESC' };

/** The active ones of a vault, newest first. */
export async function listCredentials(db: Queryable, vaultId: string, page: PageRequest): Promise<PageOf<Credential>> {
  const from = 'FROM vault_credentials c WHERE c.vault_id = $1 AND c.archived_at IS NULL';
  const found = await readPage<CredentialRow>(db, { columns: SHOWN, from, params: [vaultId], keyset: KEYSET }, page);
  return { ...found, rows: found.rows.map(readCredential) };
}

export async function findCredential(db: Queryable, vaultId: string, id: string): Promise<Credential | undefined> {
  const { rows } = await db.query<CredentialRow>(
    `SELECT ${SHOWN} FROM vault_credentials c WHERE c.id = $1 AND c.vault_id = $2`,
    [id, vaultId],
  );
  return rows[0] && readCredential(rows[0]);
}

/** For a change under the row's lock: the caller holds a transaction. `archived` also when its vault is. */
export async function lockCredential(
  tx: Queryable,
  organizationId: string,
  vaultId: string,
  id: string,
): Promise<(StoredCredential & { archived: boolean }) | undefined> {
  const { rows } = await tx.query<StoredRow & { archived: boolean }>(
    `SELECT ${STORED}, c.archived_at IS NOT NULL OR v.archived_at IS NOT NULL AS archived
     FROM vault_credentials c JOIN vaults v ON v.id = c.vault_id
     WHERE c.id = $1 AND c.vault_id = $2 AND v.organization_id = $3 FOR UPDATE OF c`,
    [id, vaultId, organizationId],
  );
  return rows[0] && readRow<StoredCredential & { archived: boolean }>(rows[0]);
}

export async function describeCredential(
  tx: Queryable,
  id: string,
  change: { displayName?: string | undefined; metadata?: Record<string, unknown> | null | undefined },
): Promise<Credential> {
  const { metadata } = change;
  const { rows } = await tx.query<CredentialRow>(
    `UPDATE vault_credentials c SET display_name = coalesce($2, c.display_name),
       metadata = CASE WHEN $3::boolean THEN $4::jsonb ELSE c.metadata END, updated_at = now()
     WHERE c.id = $1 RETURNING ${SHOWN}`,
    [
      id,
      change.displayName ?? null,
      metadata !== undefined,
      metadata === undefined || metadata === null ? null : encodeJson(metadata),
    ],
  );
  return readCredential(rows[0]!);
}

/** New secrets, which make the credential good again. False when another change of them came first. */
export async function writeSecrets(
  db: Queryable,
  id: string,
  revision: number,
  change: Sealed & { auth: PublicAuth },
): Promise<boolean> {
  const { rowCount } = await db.query(
    `UPDATE vault_credentials SET auth = $3::jsonb, sealed = $4, data_key = $5, master_key_id = $6,
       expires_at = $7::timestamptz, revision = revision + 1, health = 'ok', health_at = NULL,
       refresh_owner = NULL, refresh_expires = NULL, updated_at = now()
     WHERE id = $1 AND revision = $2`,
    [id, revision, encodeJson(change.auth), change.sealed, change.dataKey, change.masterKeyId, expiryOf(change.auth)],
  );
  return rowCount > 0;
}

/** Repeated calls change nothing. */
export async function archiveCredential(db: Queryable, vaultId: string, id: string): Promise<Credential | undefined> {
  const { rows } = await db.query<CredentialRow>(
    `UPDATE vault_credentials c SET archived_at = coalesce(c.archived_at, now()),
       updated_at = CASE WHEN c.archived_at IS NULL THEN now() ELSE c.updated_at END
     WHERE c.id = $1 AND c.vault_id = $2 RETURNING ${SHOWN}`,
    [id, vaultId],
  );
  return rows[0] && readCredential(rows[0]);
}

export async function deleteCredential(db: Queryable, vaultId: string, id: string): Promise<boolean> {
  const { rowCount } = await db.query('DELETE FROM vault_credentials WHERE id = $1 AND vault_id = $2', [id, vaultId]);
  return rowCount > 0;
}

/** The credentials that an agent has for servers, by normalized URL. Archived ones and those of archived vaults not. */
export async function listMatches(
  db: Queryable,
  agentId: string,
  serverKeys: readonly string[],
): Promise<Map<string, StoredCredential[]>> {
  const { rows } = await db.query<StoredRow & { server_key: string }>(
    `SELECT c.server_key, ${STORED} FROM agent_vaults a
     JOIN vaults v ON v.id = a.vault_id AND v.archived_at IS NULL
     JOIN vault_credentials c ON c.vault_id = v.id AND c.archived_at IS NULL
     WHERE a.agent_id = $1 AND c.server_key = ANY($2::text[]) ORDER BY c.id`,
    [agentId, serverKeys],
  );
  const matches = new Map<string, StoredCredential[]>();
  for (const { server_key: serverKey, ...row } of rows) {
    const list = matches.get(serverKey) ?? [];
    list.push(readRow<StoredCredential>(row));
    matches.set(serverKey, list);
  }
  return matches;
}

export async function findStored(db: Queryable, id: string): Promise<StoredCredential | undefined> {
  const { rows } = await db.query<StoredRow>(`SELECT ${STORED} FROM vault_credentials c WHERE c.id = $1`, [id]);
  return rows[0] && readRow<StoredCredential>(rows[0]);
}
