// Tests: test/gateway/requests.test.ts
import type { Price } from '../../inference/model.ts';
import type { Queryable } from '../../platform/db/db.ts';
import { encodeJson } from '../../platform/store/json.ts';
import { readPage } from '../../platform/store/pages.ts';
import type { PageOf, PageRequest } from '../../platform/store/pages.ts';

/** One model call: names and numbers. Times are in milliseconds, `createdAt` is ISO 8601. */
export type RequestRecord = {
  requestId: string;
  createdAt: string;
  keyId: string;
  /** the client's format, or the endpoint */
  format: string;
  /** as the caller named it */
  model: string;
  /** `<provider>/<id>` that answered or was tried last */
  upstream: string;
  /** `ok`, an error code, or `client_gone` */
  outcome: string;
  inputTokens: number;
  cachedInputTokens: number;
  outputTokens: number;
  reasoningTokens: number;
  costUsd: number;
  /** US dollars per million tokens, as it was then; null: the model had none */
  price: Price | null;
  latencyMs: number;
  /** of streams that have sent their first part */
  firstTokenMs: number | null;
  user: string | null;
  tags: string[];
};

export type NewRequest = RequestRecord & { organizationId: string };

export async function addRequests(db: Queryable, rows: readonly NewRequest[]): Promise<void> {
  await db.query(
    `INSERT INTO gateway_requests (organization_id, request_id, created_at, key_id, format, model, upstream, outcome,
       input_tokens, cached_input_tokens, output_tokens, reasoning_tokens, cost_usd, latency_ms, first_token_ms, end_user,
       tags, price)
     SELECT r."organizationId", r."requestId", r."createdAt", r."keyId", r.format, r.model, r.upstream, r.outcome,
       r."inputTokens", r."cachedInputTokens", r."outputTokens", r."reasoningTokens", r."costUsd", r."latencyMs",
       r."firstTokenMs", r."user", r.tags, nullif(r.price, 'null')
     FROM jsonb_to_recordset($1::jsonb) AS r("organizationId" text, "requestId" text, "createdAt" timestamptz,
       "keyId" text, format text, model text, upstream text, outcome text, "inputTokens" bigint,
       "cachedInputTokens" bigint, "outputTokens" bigint, "reasoningTokens" bigint, "costUsd" double precision,
       "latencyMs" bigint, "firstTokenMs" bigint, "user" text, tags jsonb, price jsonb)
     JOIN organizations o ON o.id = r."organizationId"`,
    [encodeJson(rows)],
  );
}

const COLUMNS = `request_id AS "requestId", to_char(created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') AS
  "createdAt", key_id AS "keyId", format, model, upstream, outcome, input_tokens::float8 AS "inputTokens",
  cached_input_tokens::float8 AS "cachedInputTokens", output_tokens::float8 AS "outputTokens",
  reasoning_tokens::float8 AS "reasoningTokens", cost_usd AS "costUsd", latency_ms::float8 AS "latencyMs",
  first_token_ms::float8 AS "firstTokenMs", end_user AS "user", tags, price`;

/** The newest call with this request id; undefined: none. */
export async function findRequest(
  db: Queryable,
  { organizationId, requestId }: { organizationId: string; requestId: string },
): Promise<RequestRecord | undefined> {
  const { rows } = await db.query<RequestRecord>(
    `SELECT ${COLUMNS} FROM gateway_requests WHERE organization_id = $1 AND request_id = $2
     ORDER BY sequence DESC LIMIT 1`,
    [organizationId, requestId],
  );
  return rows[0];
}

/** Newest first. */
export function listRequests(db: Queryable, organizationId: string, page: PageRequest): Promise<PageOf<RequestRecord>> {
  return readPage<RequestRecord>(
    db,
    {
      columns: COLUMNS,
      from: 'FROM gateway_requests WHERE organization_id = $1',
      params: [organizationId],
      keyset: { name: 'gateway-requests', keys: [{ sql: 'sequence', type: 'bigint' }], direction: 'DESC' },
      counted: false,
    },
    page,
  );
}

/** Deletes up to `batch` records older than `days`. Returns how many were deleted. */
export async function deleteOldRequests(db: Queryable, days: number, batch: number): Promise<number> {
  const { rowCount } = await db.query(
    `DELETE FROM gateway_requests WHERE sequence IN (
       SELECT sequence FROM gateway_requests WHERE created_at < now() - $1::float8 * interval '1 day'
       ORDER BY created_at LIMIT $2)`,
    [days, batch],
  );
  return rowCount;
}
