// Tests: test/gateway/batches/batches.test.ts
import type { Queryable } from '../../platform/db/db.ts';

export type ObjectKind = 'file' | 'batch' | 'message_batch';
export type ObjectRef = { organizationId: string; kind: ObjectKind; id: string };

export async function addObject(db: Queryable, ref: ObjectRef, provider: string): Promise<void> {
  await db.query(
    `INSERT INTO gateway_objects (organization_id, kind, id, provider) VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING`,
    [ref.organizationId, ref.kind, ref.id, provider],
  );
}

/** The provider of an object of the organization; undefined if it has no object with this id. */
export async function findObject(db: Queryable, ref: ObjectRef): Promise<string | undefined> {
  const { rows } = await db.query<{ provider: string }>(
    `SELECT provider FROM gateway_objects WHERE organization_id = $1 AND kind = $2 AND id = $3 AND provider <> ''`,
    [ref.organizationId, ref.kind, ref.id],
  );
  return rows[0]?.provider;
}

/** Whether the organization has the object, or had it before it was deleted. */
export async function isKnownObject(db: Queryable, ref: ObjectRef): Promise<boolean> {
  const { rowCount } = await db.query(
    `SELECT FROM gateway_objects WHERE organization_id = $1 AND kind = $2 AND id = $3`,
    [ref.organizationId, ref.kind, ref.id],
  );
  return rowCount > 0;
}

/** At most `limit` objects older than the object `at`, newest first; with `isNewer` newer ones, oldest first. */
export async function listObjects(
  db: Queryable,
  { organizationId, kind }: Omit<ObjectRef, 'id'>,
  { limit, at, isNewer }: { limit: number; at: string | undefined; isNewer: boolean },
): Promise<{ id: string; provider: string }[]> {
  const [compare, order] = isNewer ? ['>', 'ASC'] : ['<', 'DESC'];
  const { rows } = await db.query<{ id: string; provider: string }>(
    `SELECT id, provider FROM gateway_objects WHERE organization_id = $1 AND kind = $2 AND provider <> ''
       AND ($3::text IS NULL OR (created_at, id) ${compare} (
         SELECT created_at, id FROM gateway_objects WHERE organization_id = $1 AND kind = $2 AND id = $3))
     ORDER BY created_at ${order}, id ${order} LIMIT $4`,
    [organizationId, kind, at ?? null, limit],
  );
  return rows;
}

/** Its row stays without a provider, so that a list can go on from it. */
export async function deleteObject(db: Queryable, { organizationId, kind, id }: ObjectRef): Promise<void> {
  await db.query(`UPDATE gateway_objects SET provider = '' WHERE organization_id = $1 AND kind = $2 AND id = $3`, [
    organizationId,
    kind,
    id,
  ]);
}
