import type { Queryable } from '../../platform/db/db.ts';
import type { Sealed } from '../../platform/master-key.ts';
import { readRow } from '../../platform/store/rows.ts';
import type { RowOf } from '../../platform/store/rows.ts';

export type StoredSession = Sealed & { expiresAt: Date; checkedAt: Date };

/** An unexpired session. */
export async function findLoginSession(
  db: Queryable,
  organizationId: string,
  key: string,
): Promise<StoredSession | undefined> {
  const { rows } = await db.query<RowOf<StoredSession>>(
    `SELECT sealed, data_key, master_key_id, expires_at, checked_at FROM login_sessions
     WHERE key = $1 AND organization_id = $2 AND expires_at > now()`,
    [key, organizationId],
  );
  return rows[0] && readRow<StoredSession>(rows[0]);
}

export async function putLoginSession(
  db: Queryable,
  organizationId: string,
  key: string,
  session: Sealed & { expiresAt: Date },
): Promise<void> {
  await db.query(
    `INSERT INTO login_sessions (key, organization_id, sealed, data_key, master_key_id, expires_at)
     VALUES ($1, $2, $3, $4, $5, $6)
     ON CONFLICT (key) DO UPDATE SET sealed = excluded.sealed, data_key = excluded.data_key,
       master_key_id = excluded.master_key_id, expires_at = excluded.expires_at, checked_at = now(), created_at = now()
     WHERE login_sessions.organization_id = excluded.organization_id`,
    [key, organizationId, session.sealed, session.dataKey, session.masterKeyId, session.expiresAt],
  );
}

export async function deleteLoginSession(db: Queryable, organizationId: string, key: string): Promise<void> {
  await db.query('DELETE FROM login_sessions WHERE key = $1 AND organization_id = $2', [key, organizationId]);
}

/** Deletes expired jobs, challenges and up to 1,000 sessions. */
export async function deleteExpiredLogins(db: Queryable): Promise<void> {
  await db.query(
    `DELETE FROM login_sessions WHERE ctid IN (
       SELECT ctid FROM login_sessions WHERE expires_at <= now() LIMIT 1000 FOR UPDATE SKIP LOCKED)`,
  );
  await db.query('DELETE FROM login_jobs WHERE expires_at <= now()');
  await db.query(`DELETE FROM login_challenges WHERE expires_at <= now() - interval '1 hour'`);
}
