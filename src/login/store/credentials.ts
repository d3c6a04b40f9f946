import type { Queryable } from '../../platform/db/db.ts';
import { readPage } from '../../platform/store/pages.ts';
import type { CredentialHealth, CredentialListQuery, StoredCredential } from '../contract/credentials.ts';
import type { Sealed } from '../../platform/master-key.ts';

type ShownRow = {
  id: string;
  collection_id: string | null;
  domain: string;
  username: string | null;
  method: string;
  health: CredentialHealth;
  health_code: string | null;
  checked_at: Date | null;
  expires_at: Date | null;
  auto_refresh: boolean;
  refresh_at: Date | null;
  passkeys: number;
  enrol_passkey: boolean;
  created_at: Date;
};

type Row = ShownRow & { sealed: string; data_key: string; master_key_id: string; session_key: string };

const SHOWN = `id, collection_id, domain, username, method, health, health_code, checked_at, expires_at, auto_refresh,
  refresh_at, passkeys, enrol_passkey, created_at`;

export type NewLoginCredential = Sealed & {
  id: string;
  organizationId: string;
  collectionId: string | null;
  domain: string;
  username: string | null;
  method: string;
  /** of the session in `login_sessions` */
  sessionKey: string;
  expiresAt: Date | null;
  autoRefresh?: boolean;
  /** how many the secrets hold */
  passkeys?: number;
  enrolPasskey?: boolean;
};

function readShown(row: ShownRow): StoredCredential {
  return {
    credentialId: row.id,
    domain: row.domain,
    username: row.username,
    collectionId: row.collection_id,
    method: row.method,
    health: row.health,
    healthCode: row.health_code,
    checkedAt: row.checked_at?.toISOString() ?? null,
    autoRefresh: row.auto_refresh,
    nextRefreshAt: row.refresh_at?.toISOString() ?? null,
    passkeys: row.passkeys,
    enrolPasskey: row.enrol_passkey,
    createdAt: row.created_at.toISOString(),
    expiresAt: row.expires_at?.toISOString() ?? null,
  };
}

export async function insertLoginCredential(db: Queryable, credential: NewLoginCredential): Promise<void> {
  await db.query(
    `INSERT INTO login_credentials (id, organization_id, collection_id, domain, username, method, sealed, data_key,
       master_key_id, session_key, expires_at, auto_refresh, refresh_at, passkeys, enrol_passkey)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, CASE WHEN $12 THEN now() END, $13, $14)`,
    [
      credential.id,
      credential.organizationId,
      credential.collectionId,
      credential.domain,
      credential.username,
      credential.method,
      credential.sealed,
      credential.dataKey,
      credential.masterKeyId,
      credential.sessionKey,
      credential.expiresAt,
      credential.autoRefresh ?? false,
      credential.passkeys ?? 0,
      credential.enrolPasskey ?? false,
    ],
  );
}

/** Newest first. */
export async function listCredentialPage(
  db: Queryable,
  organizationId: string,
  { limit, cursor }: CredentialListQuery,
): Promise<{ data: StoredCredential[]; nextCursor: string | null }> {
  const { rows, nextCursor } = await readPage<ShownRow>(
    db,
    {
      columns: SHOWN,
      from: 'FROM login_credentials WHERE organization_id = $1',
      params: [organizationId],
      keyset: { name: 'credentials', keys: [{ sql: 'id', type: 'text' }], direction: 'DESC' },
      counted: false,
    },
    { limit, cursor },
  );
  return { data: rows.map(readShown), nextCursor };
}

/** At most 1,000, newest first. */
export async function listLoginCredentials(db: Queryable, organizationId: string): Promise<StoredCredential[]> {
  const { rows } = await db.query<ShownRow>(
    `SELECT ${SHOWN} FROM login_credentials WHERE organization_id = $1 ORDER BY id DESC LIMIT 1000`,
    [organizationId],
  );
  return rows.map(readShown);
}

export async function findLoginCredential(
  db: Queryable,
  organizationId: string,
  id: string,
): Promise<(Sealed & { shown: StoredCredential; sessionKey: string }) | undefined> {
  const { rows } = await db.query<Row>(
    `SELECT ${SHOWN}, sealed, data_key, master_key_id, session_key FROM login_credentials
     WHERE id = $1 AND organization_id = $2`,
    [id, organizationId],
  );
  const row = rows[0];
  return (
    row && {
      shown: readShown(row),
      sessionKey: row.session_key,
      sealed: row.sealed,
      dataKey: row.data_key,
      masterKeyId: row.master_key_id,
    }
  );
}

/** Records the end of a new session. With renewal on, it is renewed when a tenth of its time is left. */
export async function updateLoginExpiry(
  db: Queryable,
  organizationId: string,
  id: string,
  expiresAt: Date,
): Promise<void> {
  await db.query(
    `UPDATE login_credentials SET expires_at = $3, updated_at = now(),
       refresh_at = CASE WHEN auto_refresh THEN now() + greatest(($3::timestamptz - now()) * 0.9, interval '5 minutes') END
     WHERE id = $1 AND organization_id = $2`,
    [id, organizationId, expiresAt],
  );
}

/** Claims credentials that are due for renewal, for `holdSeconds`. After a transient error they are due again. */
export async function claimDueCredentials(
  db: Queryable,
  limit: number,
  holdSeconds: number,
): Promise<{ id: string; organizationId: string }[]> {
  const { rows } = await db.query<{ id: string; organization_id: string }>(
    `UPDATE login_credentials SET refresh_at = now() + $2::int * interval '1 second' WHERE id IN (
       SELECT id FROM login_credentials WHERE refresh_at <= now() AND auto_refresh ORDER BY refresh_at LIMIT $1
       FOR UPDATE SKIP LOCKED)
     RETURNING id, organization_id`,
    [limit, holdSeconds],
  );
  return rows.map((row) => ({ id: row.id, organizationId: row.organization_id }));
}

/** Switches the renewal of a credential and the creation of passkeys on or off. */
export async function updateLoginOptions(
  db: Queryable,
  organizationId: string,
  id: string,
  { autoRefresh, enrolPasskey }: { autoRefresh: boolean; enrolPasskey: boolean },
): Promise<void> {
  await db.query(
    `UPDATE login_credentials SET auto_refresh = $3, updated_at = now(), refresh_at = CASE WHEN $3 THEN now() END,
       enrol_passkey = $4
     WHERE id = $1 AND organization_id = $2`,
    [id, organizationId, autoRefresh, enrolPasskey],
  );
}

/**
 * New secrets: the old session is useless, and whether the secrets are right is unknown. False if the secrets are no
 * longer those sealed as `before`.
 */
export async function replaceLoginSecrets(
  db: Queryable,
  organizationId: string,
  id: string,
  change: Sealed & {
    before: string;
    username: string | null;
    method: string;
    sessionKey: string;
    autoRefresh: boolean;
    passkeys: number;
    enrolPasskey: boolean;
  },
): Promise<boolean> {
  const { rows } = await db.query(
    `UPDATE login_credentials SET sealed = $3, data_key = $4, master_key_id = $5, username = $6, method = $7,
       session_key = $8, expires_at = NULL, health = 'unknown', health_code = NULL, checked_at = NULL, updated_at = now(),
       auto_refresh = $9, refresh_at = CASE WHEN $9 THEN now() END, passkeys = $10, enrol_passkey = $11
     WHERE id = $1 AND organization_id = $2 AND sealed = $12 RETURNING id`,
    [
      id,
      organizationId,
      change.sealed,
      change.dataKey,
      change.masterKeyId,
      change.username,
      change.method,
      change.sessionKey,
      change.autoRefresh,
      change.passkeys,
      change.enrolPasskey,
      change.before,
    ],
  );
  return rows.length > 0;
}

/** Seals the same secrets with other passkeys. False if the secrets are no longer those sealed as `before`. */
export async function replaceSealedSecrets(
  db: Queryable,
  organizationId: string,
  id: string,
  { before, after, passkeys }: { before: string; after: Sealed; passkeys: number },
): Promise<boolean> {
  const { rows } = await db.query(
    `UPDATE login_credentials SET sealed = $4, data_key = $5, master_key_id = $6, passkeys = $7, updated_at = now()
     WHERE id = $1 AND organization_id = $2 AND sealed = $3 RETURNING id`,
    [id, organizationId, before, after.sealed, after.dataKey, after.masterKeyId, passkeys],
  );
  return rows.length > 0;
}

/** Records the result of a login. `code`: the error that needs attention. */
export async function updateLoginHealth(
  db: Queryable,
  organizationId: string,
  id: string,
  { health, code }: { health: CredentialHealth; code: string | null },
): Promise<void> {
  await db.query(
    `UPDATE login_credentials SET health = $3, health_code = $4, checked_at = now(),
       refresh_at = CASE WHEN $3 <> 'needs_attention' THEN refresh_at END
     WHERE id = $1 AND organization_id = $2`,
    [id, organizationId, health, code],
  );
}

/** Returns its session key, or undefined where the credential does not exist. */
export async function deleteLoginCredential(
  db: Queryable,
  organizationId: string,
  id: string,
): Promise<string | undefined> {
  const { rows } = await db.query<{ session_key: string }>(
    'DELETE FROM login_credentials WHERE id = $1 AND organization_id = $2 RETURNING session_key',
    [id, organizationId],
  );
  return rows[0]?.session_key;
}
