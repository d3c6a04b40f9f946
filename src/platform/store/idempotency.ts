import type { Queryable } from '../db/db.ts';
import { sha256 } from '../crypto.ts';
import { encodeJson } from './json.ts';

/** One idempotent request: `scope` names the operation and what it acts upon, `key` is the caller's. */
export type IdempotencyRef = { organizationId: string; scope: string; key: string };

export type KeptAnswer = { bodySha256: string; status: number; response: unknown };

/** The first answer given within the last 24 hours. */
export async function findKeptAnswer(db: Queryable, ref: IdempotencyRef): Promise<KeptAnswer | undefined> {
  const { rows } = await db.query<{ body_sha256: string; status: number; response: unknown }>(
    `SELECT body_sha256, status, response FROM idempotency_keys
     WHERE organization_id = $1 AND scope = $2 AND key = $3 AND created_at > now() - interval '24 hours'`,
    [ref.organizationId, ref.scope, ref.key],
  );
  const row = rows[0];
  return row && { bodySha256: row.body_sha256, status: row.status, response: row.response };
}

/**
 * Keeps an answer, in the transaction of its effect. False when another request has kept one for this key meanwhile:
 * then this transaction must be given up. Waits for such a request to end.
 */
export async function keepAnswer(tx: Queryable, ref: IdempotencyRef, answer: KeptAnswer): Promise<boolean> {
  return (await keepAnswers(tx, [{ ...ref, ...answer }])).length === 1;
}

/** The same for answers of several requests, no two of which have the same key; those that were kept. */
export async function keepAnswers(
  tx: Queryable,
  answers: readonly (IdempotencyRef & KeptAnswer)[],
): Promise<Pick<IdempotencyRef, 'organizationId' | 'key'>[]> {
  const { rows } = await tx.query<Pick<IdempotencyRef, 'organizationId' | 'key'>>(
    `INSERT INTO idempotency_keys (organization_id, scope, key, body_sha256, status, response)
     SELECT "organizationId", scope, key, "bodySha256", status, response
     FROM jsonb_to_recordset($1::jsonb) AS a ("organizationId" text, scope text, key text, "bodySha256" text,
       status integer, response jsonb)
     ORDER BY "organizationId", scope, key
     ON CONFLICT (organization_id, scope, key) DO UPDATE SET
       body_sha256 = excluded.body_sha256, status = excluded.status, response = excluded.response, created_at = now()
     WHERE idempotency_keys.created_at <= now() - interval '24 hours'
     RETURNING organization_id AS "organizationId", key`,
    [encodeJson(answers)],
  );
  return rows;
}

/** Forgets up to 1,000 answers older than 24 hours. */
export async function deleteOldAnswers(db: Queryable): Promise<number> {
  const { rowCount } = await db.query(
    `DELETE FROM idempotency_keys WHERE ctid IN (
       SELECT ctid FROM idempotency_keys WHERE created_at <= now() - interval '24 hours'
       ORDER BY created_at LIMIT 1000 FOR UPDATE SKIP LOCKED)`,
  );
  return rowCount;
}

function sortKeys(_key: string, value: unknown): unknown {
  if (value === null || typeof value !== 'object' || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([left], [right]) => (left < right ? -1 : 1)));
}

/** Equal for bodies that differ only in the order of keys. */
export function hashBody(body: unknown): string {
  return sha256(JSON.stringify(body, sortKeys));
}
