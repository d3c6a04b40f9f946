import type { Queryable } from '../../platform/db/db.ts';
import { encodeJson } from '../../platform/store/json.ts';

/** The subjects that have sessions, by agent and subject. */
export async function listDemoSubjects(
  db: Queryable,
  organizationId: string,
  limit: number,
): Promise<{ agentId: string; subjectId: string }[]> {
  const { rows } = await db.query<{ agentId: string; subjectId: string }>(
    `SELECT DISTINCT agent_id AS "agentId", subject_id AS "subjectId" FROM sessions WHERE organization_id = $1
     ORDER BY 1, 2 LIMIT $2`,
    [organizationId, limit],
  );
  return rows;
}

/** Whether anything was used before the UTC day of `now`. */
export async function hasOlderUsage(db: Queryable, organizationId: string, now: Date): Promise<boolean> {
  const { rows } = await db.query<{ found: boolean }>(
    `SELECT EXISTS (SELECT 1 FROM usage_records WHERE organization_id = $1
         AND occurred_at < date_trunc('day', $2::timestamptz AT TIME ZONE 'UTC') AT TIME ZONE 'UTC')
       OR EXISTS (SELECT 1 FROM usage_hours WHERE organization_id = $1
         AND hour < date_trunc('day', $2::timestamptz AT TIME ZONE 'UTC') AT TIME ZONE 'UTC') AS found`,
    [organizationId, now],
  );
  return rows[0]?.found === true;
}

/** Adds entries to the ledger, each marked by `{"demo": "true"}` in its metadata and without a price. */
export async function insertDemoUsage(
  db: Queryable,
  organizationId: string,
  records: readonly object[],
): Promise<void> {
  await db.query(
    `INSERT INTO usage_records (organization_id, occurred_at, source, kind, name, key_id, agent_id, subject_id, metadata,
       calls, failures, input_tokens, cached_input_tokens, output_tokens, tool_calls, sandbox_ms, cost_usd, latency_ms)
     SELECT $1, r.at, r.source, r.kind, r.name, r."keyId", r."agentId", r."subjectId", '{"demo": "true"}', r.calls,
       r.failures, r."inputTokens", r."cachedInputTokens", r."outputTokens", r."toolCalls", r."sandboxMs", r."costUsd",
       r."latencyMs"
     FROM jsonb_to_recordset($2::jsonb) AS r(at timestamptz, source text, kind text, name text, "keyId" text,
       "agentId" text, "subjectId" text, calls integer, failures integer, "inputTokens" bigint,
       "cachedInputTokens" bigint, "outputTokens" bigint, "toolCalls" integer, "sandboxMs" bigint,
       "costUsd" double precision, "latencyMs" integer)`,
    [organizationId, encodeJson(records)],
  );
}
