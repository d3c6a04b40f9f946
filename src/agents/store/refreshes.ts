import type { Queryable } from '../../platform/db/db.ts';
import type { Health } from './credentials.ts';

/**
 * Takes the right to refresh the secrets of this revision, for so many seconds at most. False when somebody else has
 * it, or has changed them already.
 */
export async function acquireRefresh(
  db: Queryable,
  id: string,
  revision: number,
  owner: string,
  seconds: number,
): Promise<boolean> {
  const { rowCount } = await db.query(
    `UPDATE vault_credentials SET refresh_owner = $3, refresh_expires = now() + $4 * interval '1 second'
     WHERE id = $1 AND revision = $2 AND archived_at IS NULL
       AND (refresh_expires IS NULL OR refresh_expires < now())`,
    [id, revision, owner, seconds],
  );
  return rowCount > 0;
}

/** Ends a refresh that brought no tokens. */
export async function failRefresh(
  db: Queryable,
  id: string,
  revision: number,
  owner: string,
  health: Exclude<Health, 'ok'>,
): Promise<void> {
  await db.query(
    `UPDATE vault_credentials SET health = $4, health_at = now(), refresh_owner = NULL, refresh_expires = NULL
     WHERE id = $1 AND revision = $2 AND refresh_owner = $3`,
    [id, revision, owner, health],
  );
}
