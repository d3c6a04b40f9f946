import type { Queryable } from '../../platform/db/db.ts';
import { readPage } from '../../platform/store/pages.ts';
import type { PageOf, PageRequest } from '../../platform/store/pages.ts';
import type { StopReason } from '../contract/events.ts';
import type { Turn, TurnStep } from '../contract/turns.ts';
import type { Usage } from '../contract/usage.ts';
import { readModelCalls } from './model-calls.ts';
import type { ModelCallRow } from './model-calls.ts';

type TurnRow = { id: string; state: Turn['state']; usage: Usage | null; started_at: Date; ended_at: Date | null };

/** A model call of the conversation. */
type StepRow = ModelCallRow & { step: number };

type SpanRow = { turn_id: string; first: number; last: number; stop_reason: StopReason | null };
type UseRow = { turn_id: string; id: string; thread_id: string | null; step: number | null; created_at: Date };

const USES = ['agent.tool_use', 'agent.mcp_tool_use', 'agent.custom_tool_use', 'agent.clarify_request'];

function isStep(call: ModelCallRow): call is StepRow {
  return call.step !== null;
}

function buildUsage(row: StepRow): Usage {
  return {
    model: row.name,
    input: row.input_tokens,
    output: row.output_tokens,
    cache_read: row.cached_input_tokens,
    cache_write: row.cache_write_tokens,
    reasoning: row.reasoning_tokens,
    total: row.input_tokens + row.output_tokens,
    calls: 1,
    ...(row.cost_usd === null ? { cost_status: 'unknown' } : { cost_usd: row.cost_usd, cost_status: 'estimated' }),
    latency_ms: row.latency_ms,
  };
}

function buildStep(row: StepRow): TurnStep {
  return {
    index: row.step,
    threadId: row.thread_id,
    model: row.name,
    startedAt: row.started_at.toISOString(),
    firstTokenAt: row.first_token_at?.toISOString() ?? null,
    endedAt: new Date(row.started_at.getTime() + row.latency_ms).toISOString(),
    usage: buildUsage(row),
    toolUseIds: [],
    error: row.error,
    retries: row.retries,
  };
}

/** The reply that made a call. The log does not say which reply of a subagent it was: the last one before the call. */
function findStep(steps: readonly TurnStep[], use: UseRow): TurnStep | undefined {
  const own = steps.filter((step) => step.threadId === use.thread_id && step.error === null);
  if (use.step !== null) return own.findLast((step) => step.index === use.step);
  return own.findLast((step) => Date.parse(step.startedAt) <= use.created_at.getTime());
}

async function readParts(db: Queryable, sessionId: string, turnIds: readonly string[]) {
  const params = [sessionId, turnIds];
  const [calls, spans, uses] = await Promise.all([
    readModelCalls(db, sessionId, turnIds),
    db.query<SpanRow>(
      `SELECT turn_id, min(sequence) AS first, max(sequence) AS last,
         (array_agg(payload->'stop_reason' ORDER BY sequence DESC) FILTER (WHERE type = 'session.status_idle'))[1]
           AS stop_reason
       FROM events WHERE session_id = $1 AND turn_id = ANY($2::text[]) GROUP BY turn_id`,
      params,
    ),
    db.query<UseRow>(
      `SELECT turn_id, id, payload->>'thread_id' AS thread_id, (internal->>'step')::int AS step, created_at
       FROM events WHERE session_id = $1 AND turn_id = ANY($2::text[]) AND type = ANY($3::text[]) ORDER BY sequence`,
      [...params, USES],
    ),
  ]);
  return { steps: calls.filter(isStep), spans: spans.rows, uses: uses.rows };
}

/** The turns of a session in the order in which they started, or the reverse, each with its model calls. */
export async function listTurns(
  db: Queryable,
  sessionId: string,
  { order, ...page }: PageRequest & { order: 'asc' | 'desc' },
): Promise<PageOf<Turn>> {
  const found = await readPage<TurnRow>(
    db,
    {
      columns: 't.id, t.state, t.usage, t.started_at, t.ended_at',
      from: 'FROM turns t WHERE t.session_id = $1',
      params: [sessionId],
      keyset: {
        name: `turns-${order}`,
        keys: [{ sql: 't.id', type: 'text' }],
        direction: order === 'asc' ? 'ASC' : 'DESC',
      },
      counted: false,
    },
    page,
  );
  const parts = await readParts(
    db,
    sessionId,
    found.rows.map(({ id }) => id),
  );
  const rows = found.rows.map((row): Turn => {
    const span = parts.spans.find((candidate) => candidate.turn_id === row.id);
    const steps = parts.steps.filter((step) => step.turn_id === row.id).map(buildStep);
    for (const use of parts.uses) if (use.turn_id === row.id) findStep(steps, use)?.toolUseIds.push(use.id);
    return {
      object: 'turn',
      id: row.id,
      state: row.state,
      firstSequence: span?.first ?? null,
      lastSequence: span?.last ?? null,
      startedAt: row.started_at.toISOString(),
      endedAt: row.ended_at?.toISOString() ?? null,
      stopReason: row.state === 'running' ? null : (span?.stop_reason ?? null),
      usage: row.usage,
      steps,
    };
  });
  return { ...found, rows };
}
