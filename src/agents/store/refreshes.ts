import type { Queryable } from '../../platform/db/db.ts';
import type { Health } from './credentials.ts';

/** The right of `owner` to refresh the secrets of one revision of a credential. */
export type RefreshLease = { id: string; revision: number; owner: string };

/** Acquires the lease for `seconds` at most. False when another owner holds it, or the secrets have changed since. */
export async function acquireRefresh(
  db: Queryable,
  { id, revision, owner }: RefreshLease,
  seconds: number,
): Promise<boolean> {
  const { rowCount } = await db.query(
    `UPDATE vault_credentials SET refresh_owner = $3, refresh_expires = now() + $4 * interval '1 second'
     WHERE id = $1 AND revision = $2 AND archived_at IS NULL
       AND (refresh_expires IS NULL OR refresh_expires < now()
         -- acquired before the clock was set back
         OR refresh_expires > now() + 2 * $4 * interval '1 second')`,
    [id, revision, owner, seconds],
  );
  return rowCount > 0;
}

/** Releases the lease after a refresh without new tokens. */
export async function failRefresh(
  db: Queryable,
  { id, revision, owner }: RefreshLease,
  health: Exclude<Health, 'ok'>,
): Promise<void> {
  await db.query(
    `UPDATE vault_credentials SET health = $4, health_at = now(), refresh_owner = NULL, refresh_expires = NULL
     WHERE id = $1 AND revision = $2 AND refresh_owner = $3`,
    [id, revision, owner, health],
  );
}
