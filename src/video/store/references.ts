import type { Queryable } from '../../platform/db/db.ts';
import { readPage } from '../../platform/store/pages.ts';
import type { Keyset, PageOf, PageRequest } from '../../platform/store/pages.ts';
import { encodeJson } from '../../platform/store/json.ts';

export type ReferenceKind = 'image' | 'video' | 'audio';

/** A file that an organization uploaded as a reference. */
export type StoredUpload = {
  key: string;
  fileName: string;
  contentType: string;
  sizeBytes: number;
  kind: ReferenceKind | null;
  cleanKey: string | null;
  facts: { width?: number; height?: number } | null;
};

export type ProbedUpload = { key: string; kind: ReferenceKind; cleanKey: string; facts: StoredUpload['facts'] };

export async function insertUpload(
  db: Queryable,
  organizationId: string,
  upload: { key: string; fileName: string; contentType: string; sizeBytes: number },
): Promise<void> {
  await db.query(
    `INSERT INTO uploads (key, organization_id, file_name, content_type, size_bytes) VALUES ($1, $2, $3, $4, $5)`,
    [upload.key, organizationId, upload.fileName, upload.contentType, upload.sizeBytes],
  );
}

export async function findUploads(
  db: Queryable,
  organizationId: string,
  keys: readonly string[],
): Promise<StoredUpload[]> {
  const { rows } = await db.query<StoredUpload>(
    `SELECT key, file_name AS "fileName", content_type AS "contentType", size_bytes AS "sizeBytes", kind,
       clean_key AS "cleanKey", facts
     FROM uploads WHERE organization_id = $1 AND key = ANY($2::text[])`,
    [organizationId, keys],
  );
  return rows;
}

/** Records that a file passed the checks and is in use. */
export async function saveProbe(db: Queryable, organizationId: string, probed: ProbedUpload): Promise<void> {
  await db.query(
    `UPDATE uploads SET kind = $3, clean_key = $4, facts = $5::jsonb, used_at = now()
     WHERE organization_id = $1 AND key = $2`,
    [organizationId, probed.key, probed.kind, probed.cleanKey, encodeJson(probed.facts)],
  );
}

/** Protects files that are used again from the sweep. */
export async function touchUploads(db: Queryable, organizationId: string, keys: readonly string[]): Promise<void> {
  await db.query('UPDATE uploads SET used_at = now() WHERE organization_id = $1 AND key = ANY($2::text[])', [
    organizationId,
    keys,
  ]);
}

/**
 * Deletes the records of up to 100 files that were unused for a day, or not used again for `retentionDays`, and that
 * belong to no character. Returns their keys; all objects with these prefixes may then be deleted.
 */
export async function deleteOldUploads(db: Queryable, retentionDays: number): Promise<string[]> {
  const { rows } = await db.query<{ key: string }>(
    `DELETE FROM uploads WHERE key IN (
       SELECT u.key FROM uploads u
       WHERE coalesce(u.used_at, u.created_at) < now() - CASE WHEN u.used_at IS NULL THEN 1 ELSE $1 END * interval '1 day'
         AND NOT EXISTS (SELECT 1 FROM characters c
           WHERE c.organization_id = u.organization_id AND u.key = ANY(c.image_keys))
       LIMIT 100 FOR UPDATE SKIP LOCKED)
     RETURNING key`,
    [retentionDays],
  );
  return rows.map(({ key }) => key);
}

export type StoredCharacter = {
  id: string;
  name: string;
  description: string | null;
  imageKeys: string[];
  createdAt: Date;
};

const CHARACTER = 'id, name, description, image_keys AS "imageKeys", created_at AS "createdAt"';

export async function insertCharacter(
  db: Queryable,
  organizationId: string,
  character: { id: string; name: string; description: string | null; imageKeys: string[] },
): Promise<StoredCharacter> {
  const { rows } = await db.query<StoredCharacter>(
    `INSERT INTO characters (id, organization_id, name, description, image_keys) VALUES ($1, $2, $3, $4, $5::text[])
     RETURNING ${CHARACTER}`,
    [character.id, organizationId, character.name, character.description, character.imageKeys],
  );
  return rows[0]!;
}

const NEWEST_FIRST: Keyset = { name: 'characters', keys: [{ sql: 'id', type: 'text' }], direction: 'DESC' };

/** Newest first. Throws `validation_error` for a bad cursor. */
export async function listCharacters(
  db: Queryable,
  organizationId: string,
  page: PageRequest,
): Promise<PageOf<StoredCharacter>> {
  const from = 'FROM characters WHERE organization_id = $1';
  const list = { columns: CHARACTER, from, params: [organizationId], keyset: NEWEST_FIRST, counted: false };
  return readPage(db, list, page);
}
