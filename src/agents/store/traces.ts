import type { Queryable } from '../../platform/db/db.ts';
import { encodeJson } from '../../platform/store/json.ts';
import { readPage } from '../../platform/store/pages.ts';
import type { PageOf, PageRequest } from '../../platform/store/pages.ts';
import { readLogEvent } from '../log/read.ts';
import type { TracedCall, TracedTurn } from '../log/trace.ts';
import { readEvent } from './events.ts';
import type { EventRow } from './events.ts';
import { readModelCalls } from './model-calls.ts';
import type { ModelCallRow } from './model-calls.ts';

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

const COLUMNS = `t.id, t.session_id, t.organization_id, s.agent_id, a.name AS agent_name, s.subject_id, t.state,
  t.continuations, t.started_at, t.ended_at`;
const FROM = 'FROM turns t JOIN sessions s ON s.id = t.session_id JOIN agents a ON a.id = s.agent_id';

function readCall(row: ModelCallRow): TracedCall {
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
  const turnIds = rows.map(({ id }) => id);
  const [events, calls] = await Promise.all([
    db.query<EventRow>('SELECT * FROM events WHERE session_id = $1 AND turn_id = ANY($2::text[]) ORDER BY sequence', [
      sessionId,
      turnIds,
    ]),
    readModelCalls(db, sessionId, turnIds),
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
    calls: calls.filter((call) => call.turn_id === row.id).map(readCall),
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
