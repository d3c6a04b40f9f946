// Tests: test/gateway/usage.test.ts
import type { Queryable } from '../../platform/db/db.ts';
import { encodeJson } from '../../platform/store/json.ts';

/** `day` is `2026-01-31`, in UTC. */
export type UsageRef = { organizationId: string; keyId: string; model: string; day: string };

export type UsageCounts = {
  requests: number;
  failures: number;
  inputTokens: number;
  cachedInputTokens: number;
  outputTokens: number;
  reasoningTokens: number;
  costUsd: number;
  latencyMs: number;
};

export type UsageColumn = 'model' | 'key' | 'day';

export type UsageReport = { model: string | null; keyId: string | null; day: string | null } & UsageCounts;

/** Adds to the stored counts. Rows are locked in a fixed order, so replicas that write at the same time cannot deadlock. */
export async function addUsage(db: Queryable, rows: readonly (UsageRef & UsageCounts)[]): Promise<void> {
  await db.query(
    `INSERT INTO model_usage (organization_id, day, key_id, model, requests, failures, input_tokens, cached_input_tokens,
       output_tokens, reasoning_tokens, cost_usd, latency_ms)
     SELECT r."organizationId", r.day, r."keyId", r.model, r.requests, r.failures, r."inputTokens", r."cachedInputTokens",
       r."outputTokens", r."reasoningTokens", r."costUsd", r."latencyMs"
     FROM jsonb_to_recordset($1::jsonb) AS r("organizationId" text, day date, "keyId" text, model text, requests bigint,
       failures bigint, "inputTokens" bigint, "cachedInputTokens" bigint, "outputTokens" bigint, "reasoningTokens" bigint,
       "costUsd" double precision, "latencyMs" bigint)
     ORDER BY 1, 2, 3, 4
     ON CONFLICT (organization_id, day, key_id, model) DO UPDATE SET
       requests = model_usage.requests + excluded.requests,
       failures = model_usage.failures + excluded.failures,
       input_tokens = model_usage.input_tokens + excluded.input_tokens,
       cached_input_tokens = model_usage.cached_input_tokens + excluded.cached_input_tokens,
       output_tokens = model_usage.output_tokens + excluded.output_tokens,
       reasoning_tokens = model_usage.reasoning_tokens + excluded.reasoning_tokens,
       cost_usd = model_usage.cost_usd + excluded.cost_usd,
       latency_ms = model_usage.latency_ms + excluded.latency_ms`,
    [encodeJson(rows)],
  );
}

const COLUMNS: Record<UsageColumn, string> = { model: 'model', key: 'key_id', day: `to_char(day, 'YYYY-MM-DD')` };

function select(column: UsageColumn, groupBy: readonly UsageColumn[]): string {
  return groupBy.includes(column) ? COLUMNS[column] : 'NULL::text';
}

/** Sums of the days from `from` to `to`, inclusive; newest day first, then by model and key. */
export async function reportUsage(
  db: Queryable,
  {
    organizationId,
    from,
    to,
    groupBy,
  }: { organizationId: string; from: string; to: string; groupBy: readonly UsageColumn[] },
): Promise<UsageReport[]> {
  const { rows } = await db.query<UsageReport>(
    `SELECT ${select('model', groupBy)} AS model, ${select('key', groupBy)} AS "keyId", ${select('day', groupBy)} AS day,
       sum(requests)::float8 AS requests, sum(failures)::float8 AS failures, sum(input_tokens)::float8 AS "inputTokens",
       sum(cached_input_tokens)::float8 AS "cachedInputTokens", sum(output_tokens)::float8 AS "outputTokens",
       sum(reasoning_tokens)::float8 AS "reasoningTokens", sum(cost_usd) AS "costUsd", sum(latency_ms)::float8 AS "latencyMs"
     FROM model_usage WHERE organization_id = $1 AND day BETWEEN $2::date AND $3::date
     GROUP BY 1, 2, 3 ORDER BY 3 DESC, 1, 2`,
    [organizationId, from, to],
  );
  return rows;
}

/** Deletes the counts of days that ended more than `days` ago. Returns how many rows went. */
export async function deleteOldUsage(db: Queryable, days: number): Promise<number> {
  const { rowCount } = await db.query(
    `DELETE FROM model_usage WHERE day < (now() AT TIME ZONE 'UTC')::date - $1::int`,
    [Math.ceil(days)],
  );
  return rowCount;
}
