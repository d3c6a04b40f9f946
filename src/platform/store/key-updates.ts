import type { Queryable } from '../db/db.ts';
import type { ApiKey, ApiKeyCreated, ApiKeyPatch, Organization } from '../contract/keys.ts';
import { sha256 } from '../crypto.ts';
import { encodeJson } from './json.ts';
import { KEY_COLUMNS, KEY_FROM, cutPrefix, makeKeyText, readKey } from './keys.ts';
import type { KeyRow } from './keys.ts';
import { readPage } from './pages.ts';
import type { PageOf, PageRequest } from './pages.ts';

/** A key of the organization, or of any when that is null. */
export type KeyRef = { id: string; organizationId: string | null };

const OWN = 'k.id = $1 AND ($2::text IS NULL OR k.organization_id = $2)';
/** Uses of a key closer together than this write nothing. */
const USE_PRECISION = "interval '1 minute'";

export async function findKey(db: Queryable, { id, organizationId }: KeyRef): Promise<ApiKey | undefined> {
  const { rows } = await db.query<KeyRow>(`SELECT ${KEY_COLUMNS} ${KEY_FROM} WHERE ${OWN}`, [id, organizationId]);
  return rows[0] && readKey(rows[0]);
}

/** A column, and its value as text with its type. */
type Change = { column: string; type: string; value: unknown };

const COLUMN: Readonly<Record<keyof ApiKeyPatch, Omit<Change, 'value'>>> = {
  name: { column: 'name', type: 'text' },
  scopes: { column: 'scopes', type: 'text[]' },
  requestsPerMinute: { column: 'requests_per_minute', type: 'integer' },
  tokensPerDay: { column: 'tokens_per_day', type: 'bigint' },
  expiresAt: { column: 'expires_at', type: 'timestamptz' },
  models: { column: 'models', type: 'text[]' },
  metadata: { column: 'metadata', type: 'jsonb' },
};

async function updateKey(db: Queryable, ref: KeyRef, changes: readonly Change[]): Promise<ApiKey | undefined> {
  const sets = changes.map(({ column, type }, index) => `${column} = $${index + 3}::${type}`);
  const { rows } = await db.query<KeyRow>(
    `WITH k AS (UPDATE api_keys k SET ${sets.join(', ')} WHERE ${OWN} AND k.revoked_at IS NULL RETURNING *)
     SELECT ${KEY_COLUMNS} FROM k JOIN organizations o ON o.id = k.organization_id`,
    [ref.id, ref.organizationId, ...changes.map(({ value }) => value)],
  );
  return rows[0] && readKey(rows[0]);
}

/** Changes the fields that the patch has, one at least; undefined when there is no such key, or it is revoked. */
export function patchKey(db: Queryable, ref: KeyRef, patch: ApiKeyPatch): Promise<ApiKey | undefined> {
  const fields = Object.keys(COLUMN) as (keyof ApiKeyPatch)[];
  const changes = fields.flatMap((field) => {
    const value = patch[field];
    if (value === undefined) return [];
    return [{ ...COLUMN[field], value: field === 'metadata' ? encodeJson(value) : value }];
  });
  return updateKey(db, ref, changes);
}

/**
 * Gives a key a new secret, which is in the result and nowhere else. Undefined when there is no such key, or it is
 * revoked.
 */
export async function rotateKey(
  db: Queryable,
  ref: KeyRef,
  gracePeriodSeconds: number,
): Promise<ApiKeyCreated | undefined> {
  const text = makeKeyText();
  const { rows } = await db.query<KeyRow>(
    `WITH k AS (
       UPDATE api_keys k SET key_sha256 = $3, prefix = $4,
         previous_sha256 = CASE WHEN $5::integer > 0 THEN k.key_sha256 END,
         previous_expires_at = now() + make_interval(secs => $5::integer)
       WHERE ${OWN} AND k.revoked_at IS NULL RETURNING *)
     SELECT ${KEY_COLUMNS} FROM k JOIN organizations o ON o.id = k.organization_id`,
    [ref.id, ref.organizationId, sha256(text), cutPrefix(text), gracePeriodSeconds],
  );
  return rows[0] && { ...readKey(rows[0]), key: text };
}

/** Records the last use of a key, to the minute. A failed write is ignored. */
export async function touchKey(db: Queryable, id: string): Promise<void> {
  const sql = `UPDATE api_keys SET last_used_at = now()
    WHERE id = $1 AND (last_used_at IS NULL OR last_used_at < now() - ${USE_PRECISION})`;
  await db.query(sql, [id]).catch(() => undefined);
}

/** Newest first; the one organization, or all when that is null. */
export async function listOrganizations(
  db: Queryable,
  organizationId: string | null,
  page: PageRequest,
): Promise<PageOf<Organization>> {
  const found = await readPage<{ id: string; name: string; created_at: Date }>(
    db,
    {
      columns: 'o.id, o.name, o.created_at',
      from: 'FROM organizations o WHERE ($1::text IS NULL OR o.id = $1)',
      params: [organizationId],
      keyset: { name: 'organizations', keys: [{ sql: 'o.id', type: 'text' }], direction: 'DESC' },
    },
    page,
  );
  const rows = found.rows.map(({ id, name, created_at: createdAt }) => {
    return { object: 'organization' as const, id, name, createdAt: createdAt.toISOString() };
  });
  return { ...found, rows };
}
