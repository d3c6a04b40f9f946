import type { Db, Queryable } from '../db/db.ts';
import { DEFAULT_REQUESTS_PER_MINUTE, DEFAULT_SCOPES, BOOTSTRAP_SCOPES } from '../contract/keys.ts';
import type { ApiKey, ApiKeyCreate, ApiKeyCreated, Scope } from '../contract/keys.ts';
import { encodeJson } from './json.ts';
import { readPage } from './pages.ts';
import type { Keyset, PageOf, PageRequest } from './pages.ts';
import { randomToken, sha256 } from '../crypto.ts';
import { newId } from '../ids.ts';

/** The organization of the first key. Its admin keys manage all organizations. */
export const BOOTSTRAP_ORGANIZATION = 'default';
const BOOTSTRAP_KEY = 'bootstrap';
const BOOTSTRAP_SETTING = 'bootstrap (by setting)';

export type KeyRow = {
  id: string;
  name: string;
  organization: string;
  organization_id: string;
  prefix: string;
  scopes: Scope[];
  requests_per_minute: number;
  tokens_per_day: number | null;
  models: string[] | null;
  metadata: Record<string, unknown>;
  created_at: Date;
  expires_at: Date | null;
  last_used_at: Date | null;
  previous_expires_at: Date | null;
  revoked_at: Date | null;
};

export const KEY_COLUMNS = `k.id, k.name, o.name AS organization, k.organization_id, k.prefix, k.scopes, k.requests_per_minute,
  k.tokens_per_day, k.models, k.metadata, k.created_at, k.expires_at, k.last_used_at, k.previous_expires_at,
  k.revoked_at`;
/** Of the key `k`: neither revoked nor expired. */
export const IS_ACTIVE = 'k.revoked_at IS NULL AND (k.expires_at IS NULL OR k.expires_at > now())';
export const KEY_FROM = 'FROM api_keys k JOIN organizations o ON o.id = k.organization_id';

export function readKey(row: KeyRow): ApiKey {
  return {
    object: 'api_key',
    id: row.id,
    name: row.name,
    organization: row.organization,
    organizationId: row.organization_id,
    prefix: row.prefix,
    scopes: row.scopes,
    requestsPerMinute: row.requests_per_minute,
    tokensPerDay: row.tokens_per_day,
    models: row.models,
    metadata: row.metadata,
    createdAt: row.created_at.toISOString(),
    expiresAt: row.expires_at?.toISOString() ?? null,
    lastUsedAt: row.last_used_at?.toISOString() ?? null,
    previousExpiresAt: row.previous_expires_at?.toISOString() ?? null,
    revokedAt: row.revoked_at?.toISOString() ?? null,
  };
}

/** `cap_` and 40 URL-safe characters: 240 random bits. */
export function makeKeyText(): string {
  return `cap_${randomToken(30)}`;
}

/** The organization of that name, made when it is new. */
export async function ensureOrganization(db: Queryable, name: string): Promise<string> {
  const { rows } = await db.query<{ id: string }>(
    `INSERT INTO organizations (id, name) VALUES ($1, $2)
     ON CONFLICT (name) DO UPDATE SET name = excluded.name RETURNING id`,
    [newId('org'), name],
  );
  return rows[0]!.id;
}

export async function findOrganization(db: Queryable, name: string): Promise<string | undefined> {
  const { rows } = await db.query<{ id: string }>('SELECT id FROM organizations WHERE name = $1', [name]);
  return rows[0]?.id;
}

/** Long enough to distinguish keys, and too short to guess a short custom key. */
export function cutPrefix(text: string): string {
  return text.slice(0, Math.min(12, Math.floor(text.length / 3)));
}

async function insertKey(
  db: Queryable,
  key: {
    text: string;
    name: string;
    organizationId: string;
    scopes: readonly Scope[];
    requestsPerMinute: number;
  } & Pick<ApiKeyCreate, 'tokensPerDay' | 'expiresAt' | 'models' | 'metadata'>,
): Promise<ApiKey> {
  const { rows } = await db.query<KeyRow>(
    `WITH k AS (
       INSERT INTO api_keys (id, organization_id, name, prefix, key_sha256, scopes, requests_per_minute, tokens_per_day,
         expires_at, models, metadata)
       VALUES ($1, $2, $3, $4, $5, $6::text[], $7, $8, $9::timestamptz, $10::text[], $11::jsonb)
       ON CONFLICT (key_sha256) DO UPDATE SET name = excluded.name, organization_id = excluded.organization_id,
         scopes = excluded.scopes, revoked_at = NULL
       RETURNING *)
     SELECT ${KEY_COLUMNS} FROM k JOIN organizations o ON o.id = k.organization_id`,
    [
      newId('key'),
      key.organizationId,
      key.name,
      cutPrefix(key.text),
      sha256(key.text),
      key.scopes,
      key.requestsPerMinute,
      key.tokensPerDay ?? null,
      key.expiresAt ?? null,
      key.models ?? null,
      encodeJson(key.metadata ?? {}),
    ],
  );
  return readKey(rows[0]!);
}

/**
 * Makes a key, and the organization when it is named for the first time. Its text is in the result and nowhere else.
 */
export async function createKey(db: Db, key: ApiKeyCreate & { organization: string }): Promise<ApiKeyCreated> {
  const text = makeKeyText();
  const made = await db.transaction(async (tx) =>
    insertKey(tx, {
      ...key,
      text,
      organizationId: await ensureOrganization(tx, key.organization),
      scopes: key.scopes === undefined ? DEFAULT_SCOPES : [...new Set(key.scopes)],
      requestsPerMinute: key.requestsPerMinute ?? DEFAULT_REQUESTS_PER_MINUTE,
    }),
  );
  return { ...made, key: text };
}

/** A key that works, by its text. */
export async function findActiveKey(db: Queryable, text: string): Promise<ApiKey | undefined> {
  const { rows } = await db.query<KeyRow>(
    `SELECT ${KEY_COLUMNS} ${KEY_FROM}
     WHERE (k.key_sha256 = $1 OR (k.previous_sha256 = $1 AND k.previous_expires_at > now())) AND ${IS_ACTIVE}`,
    [sha256(text)],
  );
  return rows[0] && readKey(rows[0]);
}

const KEYSET: Keyset = { name: 'keys', keys: [{ sql: 'k.id', type: 'text' }], direction: 'DESC' };

/** Newest first; of one organization, or of all when none is named. */
export async function listKeys(
  db: Queryable,
  page: PageRequest,
  organizationId: string | null,
): Promise<PageOf<ApiKey>> {
  const statement = {
    columns: KEY_COLUMNS,
    from: `${KEY_FROM} WHERE ($1::text IS NULL OR k.organization_id = $1)`,
    params: [organizationId],
    keyset: KEYSET,
  };
  const found = await readPage<KeyRow>(db, statement, page);
  return { ...found, rows: found.rows.map(readKey) };
}

/** True when there is such a key in the organization (in any, when none is named); repeated calls change nothing. */
export async function revokeKey(db: Queryable, id: string, organizationId: string | null): Promise<boolean> {
  const { rowCount } = await db.query(
    `UPDATE api_keys SET revoked_at = coalesce(revoked_at, now())
     WHERE id = $1 AND ($2::text IS NULL OR organization_id = $2)`,
    [id, organizationId],
  );
  return rowCount > 0;
}

/**
 * Sees to it that somebody can get in. A key given by setting is (re)established and replaces the one set before;
 * without one, a key is made when there is none yet, and returned so that it can be shown this once.
 */
export async function bootstrapKey(db: Db, options: { key: string | undefined }): Promise<string | undefined> {
  const { key } = options;
  return db.transaction(async (tx) => {
    // One start at a time, or two processes would each print a key.
    await tx.query('LOCK TABLE organizations IN SHARE ROW EXCLUSIVE MODE');
    const organizationId = await ensureOrganization(tx, BOOTSTRAP_ORGANIZATION);
    const own = { organizationId, scopes: BOOTSTRAP_SCOPES, requestsPerMinute: DEFAULT_REQUESTS_PER_MINUTE };
    if (key !== undefined) {
      await tx.query('DELETE FROM api_keys WHERE name = $1 AND organization_id = $2 AND key_sha256 <> $3', [
        BOOTSTRAP_SETTING,
        organizationId,
        sha256(key),
      ]);
      await insertKey(tx, { ...own, text: key, name: BOOTSTRAP_SETTING });
      return undefined;
    }
    const { rowCount } = await tx.query('SELECT 1 FROM api_keys WHERE organization_id = $1 LIMIT 1', [organizationId]);
    if (rowCount > 0) return undefined;
    const text = makeKeyText();
    await insertKey(tx, { ...own, text, name: BOOTSTRAP_KEY });
    return text;
  });
}
