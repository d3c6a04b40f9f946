import type { Queryable } from '../../platform/db/db.ts';

export async function insertLoginChallenge(
  db: Queryable,
  challenge: { id: string; organizationId: string; owner: string; kind: string; expiresAt: Date },
): Promise<void> {
  await db.query(
    'INSERT INTO login_challenges (id, organization_id, owner, kind, expires_at) VALUES ($1, $2, $3, $4, $5)',
    [challenge.id, challenge.organizationId, challenge.owner, challenge.kind, challenge.expiresAt],
  );
}

/** The process that holds the page. `over`: answered or expired. */
export async function findLoginChallenge(
  db: Queryable,
  organizationId: string,
  id: string,
): Promise<{ owner: string; over: boolean } | undefined> {
  const { rows } = await db.query<{ owner: string; over: boolean }>(
    'SELECT owner, expires_at <= now() AS over FROM login_challenges WHERE id = $1 AND organization_id = $2',
    [id, organizationId],
  );
  return rows[0];
}

/** The row stays for a while, so that a late answer gets `challenge_expired`. */
export async function endLoginChallenge(db: Queryable, organizationId: string, id: string): Promise<void> {
  await db.query(
    'UPDATE login_challenges SET expires_at = least(expires_at, now()) WHERE id = $1 AND organization_id = $2',
    [id, organizationId],
  );
}
