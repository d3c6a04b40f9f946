import type { Queryable } from '../db/db.ts';
import { encodeJson } from './json.ts';

export type UsageSource = 'gateway' | 'agents' | 'video' | 'login';

/** What a count belongs to. Empty text stands for what does not apply. `hour` is ISO 8601, in UTC. */
export type UsageRef = {
  organizationId: string;
  hour: string;
  source: UsageSource;
  kind: 'model' | 'tool' | 'video' | 'login';
  /** the model, or the tool */
  name: string;
  keyId: string;
  agentId: string;
  subjectId: string;
  automationId: string;
  userId: string;
};

export type UsageCounts = {
  requests: number;
  failures: number;
  inputTokens: number;
  cachedInputTokens: number;
  cacheWriteTokens: number;
  outputTokens: number;
  reasoningTokens: number;
  credits: number;
  costUsd: number;
  latencyMs: number;
  /** calls by duration: less than 64, 128, … ms; 16 of them */
  latencies: number[];
};

/** Upper bound of the first class of durations, in ms; each class is twice as wide as the one before. */
export const FIRST_LATENCY_MS = 64;
export const LATENCY_CLASSES = 16;

/** The class of a duration. */
export function classifyLatency(ms: number): number {
  return Math.min(LATENCY_CLASSES - 1, Math.max(0, Math.ceil(Math.log2((ms + 1) / FIRST_LATENCY_MS))));
}

/** The latency of one call. */
export function countLatency(ms: number): number[] {
  const classes = Array<number>(LATENCY_CLASSES).fill(0);
  classes[classifyLatency(ms)] = 1;
  return classes;
}

/** The start of the hour. */
export function toHour(date: Date): string {
  return new Date(Math.floor(date.getTime() / 3_600_000) * 3_600_000).toISOString();
}

export const REF_COLUMNS = [
  'organization_id',
  'hour',
  'source',
  'kind',
  'name',
  'key_id',
  'agent_id',
  'subject_id',
  'automation_id',
  'user_id',
] as const;
const LATENCIES = Array.from({ length: LATENCY_CLASSES }, (_, index) => `latency_${index}`);
export const COUNT_COLUMNS = [
  'calls',
  'failures',
  'input_tokens',
  'cached_input_tokens',
  'cache_write_tokens',
  'output_tokens',
  'reasoning_tokens',
  'tool_calls',
  'sandbox_ms',
  'credits',
  'cost_usd',
  'latency_ms',
  ...LATENCIES,
];

const INTO_HOURS = `INSERT INTO usage_hours (${[...REF_COLUMNS, ...COUNT_COLUMNS].join(', ')})`;
const ADD_TO_HOURS = `ON CONFLICT (${REF_COLUMNS.join(', ')}) DO UPDATE SET
  ${COUNT_COLUMNS.map((name) => `${name} = usage_hours.${name} + excluded.${name}`).join(', ')}`;

/**
 * Adds to the counts by hour. Rows are locked in a fixed order, so replicas that write at the same time cannot
 * deadlock.
 */
export async function addUsage(db: Queryable, rows: readonly (UsageRef & UsageCounts)[]): Promise<void> {
  await db.query(
    `${INTO_HOURS}
     SELECT r."organizationId", r.hour, r.source, r.kind, r.name, r."keyId", r."agentId", r."subjectId", r."automationId",
       r."userId", r.requests, r.failures, r."inputTokens", r."cachedInputTokens", r."cacheWriteTokens",
       r."outputTokens", r."reasoningTokens", 0, 0, r.credits, r."costUsd", r."latencyMs",
       ${LATENCIES.map((_, index) => `(r.latencies->>${index})::bigint`).join(', ')}
     FROM jsonb_to_recordset($1::jsonb) AS r("organizationId" text, hour timestamptz, source text, kind text, name text,
       "keyId" text, "agentId" text, "subjectId" text, "automationId" text, "userId" text, requests bigint,
       failures bigint, "inputTokens" bigint, "cachedInputTokens" bigint, "cacheWriteTokens" bigint,
       "outputTokens" bigint, "reasoningTokens" bigint, credits double precision, "costUsd" double precision,
       "latencyMs" bigint, latencies jsonb)
     ORDER BY ${REF_COLUMNS.map((_, index) => index + 1).join(', ')}
     ${ADD_TO_HOURS}`,
    [encodeJson(rows)],
  );
}

/** Whether the latency of a row of the ledger is in this class, as `classifyLatency` has it. Comparisons cost little. */
function isInClass(index: number): string {
  const isAbove = index === 0 ? 'true' : `r.latency_ms >= ${FIRST_LATENCY_MS * 2 ** (index - 1)}`;
  return index === LATENCY_CLASSES - 1 ? isAbove : `${isAbove} AND r.latency_ms < ${FIRST_LATENCY_MS * 2 ** index}`;
}

/** A row of the ledger, alias `r`, as the columns of an hour. */
export const RECORD_AS_HOUR = `date_trunc('hour', r.occurred_at AT TIME ZONE 'UTC') AT TIME ZONE 'UTC' AS hour, r.source,
  r.kind, r.name, r.key_id, r.agent_id, r.subject_id, r.automation_id, r.user_id, r.calls::bigint AS calls,
  r.failures::bigint AS failures, r.input_tokens, r.cached_input_tokens, r.cache_write_tokens, r.output_tokens,
  r.reasoning_tokens, r.tool_calls::bigint AS tool_calls, r.sandbox_ms, r.credits, coalesce(r.cost_usd, 0) AS cost_usd,
  CASE WHEN r.kind = 'tool' THEN 0 ELSE r.latency_ms END::bigint AS latency_ms,
  ${LATENCIES.map((name, index) => `CASE WHEN r.kind <> 'tool' AND ${isInClass(index)} THEN r.calls ELSE 0 END::bigint AS ${name}`).join(', ')}`;

/**
 * Moves up to `limit` rows of the ledger into the counts by hour: each counts in exactly one of them at any time.
 * Returns how many were moved; 0 also while another process does so.
 */
export async function rollUpUsage(db: Queryable, limit: number): Promise<number> {
  const { rows } = await db.query<{ moved: number }>(
    `WITH held AS MATERIALIZED (SELECT pg_try_advisory_xact_lock(4242010002) AS ok), taken AS (
       SELECT id FROM usage_records WHERE NOT rolled AND (SELECT ok FROM held) LIMIT $1 FOR UPDATE SKIP LOCKED
     ), r AS (
       UPDATE usage_records u SET rolled = true FROM taken WHERE u.id = taken.id RETURNING u.*
     ), h AS (
       SELECT r.organization_id, ${RECORD_AS_HOUR} FROM r
     ), added AS (
       ${INTO_HOURS}
       SELECT ${REF_COLUMNS.join(', ')}, ${COUNT_COLUMNS.map((name) => `sum(${name})`).join(', ')} FROM h
       GROUP BY ${REF_COLUMNS.join(', ')} ORDER BY ${REF_COLUMNS.join(', ')}
       ${ADD_TO_HOURS})
     SELECT count(*) AS moved FROM r`,
    [limit],
  );
  return rows[0]?.moved ?? 0;
}

/** Deletes what is more than `days` old. Returns how many rows went. */
export async function deleteOldUsage(db: Queryable, days: number): Promise<number> {
  const before = `date_trunc('day', now() AT TIME ZONE 'UTC') AT TIME ZONE 'UTC' - $1::int * interval '1 day'`;
  const hours = await db.query(`DELETE FROM usage_hours WHERE hour < ${before}`, [Math.ceil(days)]);
  await db.query(`DELETE FROM usage_days WHERE day < ${before}`, [Math.ceil(days)]);
  const records = await db.query(`DELETE FROM usage_records WHERE rolled AND occurred_at < ${before}`, [
    Math.ceil(days),
  ]);
  return hours.rowCount + records.rowCount;
}
