import type { Queryable } from '../../platform/db/db.ts';
import { encodeJson } from '../../platform/store/json.ts';
import { readPage } from '../../platform/store/pages.ts';
import type { PageOf, PageRequest } from '../../platform/store/pages.ts';
import { readLogEvent } from '../log/read.ts';
import type { TracedCall, TracedTurn } from '../log/trace.ts';
import { readEvent } from './events.ts';
import type { EventRow } from './events.ts';

type TurnRow = {
  id: string;
  session_id: string;
  organization_id: string;
  agent_id: string;
  agent_name: string;
  subject_id: string;
  state: string;
  continuations: { at: string; worker: string }[];
  started_at: Date;
  ended_at: Date | null;
};

type CallRow = {
  turn_id: string;
  thread_id: string | null;
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

const COLUMNS = `t.id, t.session_id, t.organization_id, s.agent_id, a.name AS agent_name, s.subject_id, t.state,
  t.continuations, t.started_at, t.ended_at`;
const FROM = 'FROM turns t JOIN sessions s ON s.id = t.session_id JOIN agents a ON a.id = s.agent_id';

function readCall(row: CallRow): TracedCall {
  return {
    threadId: row.thread_id,
    step: row.step,
    model: row.name,
    startedAt: row.started_at,
    firstTokenAt: row.first_token_at,
    latencyMs: row.latency_ms,
    inputTokens: row.input_tokens,
    cachedInputTokens: row.cached_input_tokens,
    cacheWriteTokens: row.cache_write_tokens,
    outputTokens: row.output_tokens,
    reasoningTokens: row.reasoning_tokens,
    costUsd: row.cost_usd,
    retries: row.retries,
    error: row.error,
  };
}

async function readTurns(db: Queryable, sessionId: string, rows: readonly TurnRow[]): Promise<TracedTurn[]> {
  const params = [sessionId, rows.map(({ id }) => id)];
  const [events, calls] = await Promise.all([
    db.query<EventRow>(
      'SELECT * FROM events WHERE session_id = $1 AND turn_id = ANY($2::text[]) ORDER BY sequence',
      params,
    ),
    db.query<CallRow>(
      `SELECT turn_id, thread_id, step, name, started_at, first_token_at, latency_ms, input_tokens, cached_input_tokens,
         cache_write_tokens, output_tokens, reasoning_tokens, cost_usd, retries, error
       FROM usage_records
       WHERE session_id = $1 AND turn_id = ANY($2::text[]) AND kind = 'model' AND started_at IS NOT NULL
       ORDER BY started_at, id`,
      params,
    ),
  ]);
  return rows.map((row) => ({
    id: row.id,
    sessionId: row.session_id,
    organizationId: row.organization_id,
    agentId: row.agent_id,
    agentName: row.agent_name,
    subjectId: row.subject_id,
    startedAt: row.started_at,
    endedAt: row.state === 'ended' ? row.ended_at : null,
    continuations: row.continuations,
    events: events.rows
      .filter((event) => event.turn_id === row.id)
      .map((event) => readLogEvent(readEvent(event), event.internal)),
    calls: calls.rows.filter((call) => call.turn_id === row.id).map(readCall),
  }));
}

/** One turn with all that its trace is built from. */
export async function findTracedTurn(
  db: Queryable,
  sessionId: string,
  turnId: string,
): Promise<TracedTurn | undefined> {
  const { rows } = await db.query<TurnRow>(`SELECT ${COLUMNS} ${FROM} WHERE t.session_id = $1 AND t.id = $2`, [
    sessionId,
    turnId,
  ]);
  return (await readTurns(db, sessionId, rows))[0];
}

/** The turns of a session in the order in which they started. */
export async function listTracedTurns(
  db: Queryable,
  sessionId: string,
  { turnId, ...page }: PageRequest & { turnId?: string | undefined },
): Promise<PageOf<TracedTurn>> {
  const found = await readPage<TurnRow>(
    db,
    {
      columns: COLUMNS,
      from: `${FROM} WHERE t.session_id = $1 AND ($2::text IS NULL OR t.id = $2)`,
      params: [sessionId, turnId ?? null],
      keyset: { name: 'traces', keys: [{ sql: 't.id', type: 'text' }], direction: 'ASC' },
      counted: false,
    },
    page,
  );
  return { ...found, rows: await readTurns(db, sessionId, found.rows) };
}

/** A worker goes on with a turn that has begun before. The caller holds the lease. */
export async function noteContinuation(db: Queryable, turnId: string, worker: string): Promise<void> {
  const entry = encodeJson([{ at: new Date().toISOString(), worker }]);
  await db.query(`UPDATE turns SET continuations = continuations || $2::jsonb WHERE id = $1`, [turnId, entry]);
}
