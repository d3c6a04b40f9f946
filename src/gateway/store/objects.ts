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
    `SELECT provider FROM gateway_objects WHERE organization_id = $1 AND kind = $2 AND id = $3`,
    [ref.organizationId, ref.kind, ref.id],
  );
  return rows[0]?.provider;
}

/** At most `limit` objects, newest first, after the object `after`. */
export async function listObjects(
  db: Queryable,
  { organizationId, kind }: Omit<ObjectRef, 'id'>,
  { limit, after }: { limit: number; after: string | undefined },
): Promise<{ id: string; provider: string }[]> {
  const { rows } = await db.query<{ id: string; provider: string }>(
    `SELECT id, provider FROM gateway_objects WHERE organization_id = $1 AND kind = $2
       AND ($3::text IS NULL OR (created_at, id) < (
         SELECT created_at, id FROM gateway_objects WHERE organization_id = $1 AND kind = $2 AND id = $3))
     ORDER BY created_at DESC, id DESC LIMIT $4`,
    [organizationId, kind, after ?? null, limit],
  );
  return rows;
}

export async function deleteObject(db: Queryable, { organizationId, kind, id }: ObjectRef): Promise<void> {
  await db.query(`DELETE FROM gateway_objects WHERE organization_id = $1 AND kind = $2 AND id = $3`, [
    organizationId,
    kind,
    id,
  ]);
}
