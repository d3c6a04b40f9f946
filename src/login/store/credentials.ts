import type { Queryable } from '../../platform/db/db.ts';
import type { CredentialHealth, StoredCredential } from '../contract/credentials.ts';
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
  created_at: Date;
};

type Row = ShownRow & { sealed: string; data_key: string; master_key_id: string; session_key: string };

const SHOWN = 'id, collection_id, domain, username, method, health, health_code, checked_at, expires_at, created_at';

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
    createdAt: row.created_at.toISOString(),
    expiresAt: row.expires_at?.toISOString() ?? null,
  };
}

export async function insertLoginCredential(db: Queryable, credential: NewLoginCredential): Promise<void> {
  await db.query(
    `INSERT INTO login_credentials (id, organization_id, collection_id, domain, username, method, sealed, data_key,
       master_key_id, session_key, expires_at)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`,
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
    ],
  );
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

export async function updateLoginExpiry(
  db: Queryable,
  organizationId: string,
  id: string,
  expiresAt: Date,
): Promise<void> {
  await db.query(
    'UPDATE login_credentials SET expires_at = $3, updated_at = now() WHERE id = $1 AND organization_id = $2',
    [id, organizationId, expiresAt],
  );
}

/** New secrets: the old session is of no use, and nobody knows yet whether they are right. */
export async function replaceLoginSecrets(
  db: Queryable,
  organizationId: string,
  id: string,
  change: Sealed & { username: string | null; method: string; sessionKey: string },
): Promise<void> {
  await db.query(
    `UPDATE login_credentials SET sealed = $3, data_key = $4, master_key_id = $5, username = $6, method = $7,
       session_key = $8, expires_at = NULL, health = 'unknown', health_code = NULL, checked_at = NULL, updated_at = now()
     WHERE id = $1 AND organization_id = $2`,
    [
      id,
      organizationId,
      change.sealed,
      change.dataKey,
      change.masterKeyId,
      change.username,
      change.method,
      change.sessionKey,
    ],
  );
}

/** Records what came of a login. `code`: the error that needs attention. */
export async function updateLoginHealth(
  db: Queryable,
  organizationId: string,
  id: string,
  { health, code }: { health: CredentialHealth; code: string | null },
): Promise<void> {
  await db.query(
    `UPDATE login_credentials SET health = $3, health_code = $4, checked_at = now()
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
