import type { Queryable } from '../../platform/db/db.ts';

/** A model call of the agent service, as the ledger keeps it. */
export type ModelCallRow = {
  turn_id: string;
  thread_id: string | null;
  /** null: a call beside the conversation, such as a summary */
  step: number | null;
  name: string;
  started_at: Date;
  first_token_at: Date | null;
  latency_ms: number;
  input_tokens: number;
  cached_input_tokens: number;
  cache_write_tokens: number;
  output_tokens: number;
  reasoning_tokens: number;
  cost_usd: number | null;
  retries: number;
  error: string | null;
};

/** The model calls of these turns in the order in which they started. */
export async function readModelCalls(
  db: Queryable,
  sessionId: string,
  turnIds: readonly string[],
): Promise<ModelCallRow[]> {
  const { rows } = await db.query<ModelCallRow>(
    `SELECT turn_id, thread_id, step, name, started_at, first_token_at, latency_ms, input_tokens, cached_input_tokens,
       cache_write_tokens, output_tokens, reasoning_tokens, cost_usd, retries, error
     FROM usage_records
     WHERE session_id = $1 AND turn_id = ANY($2::text[]) AND kind = 'model' AND started_at IS NOT NULL
     ORDER BY started_at, id`,
    [sessionId, turnIds],
  );
  return rows;
}
