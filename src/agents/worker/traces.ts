import type { Db } from '../../platform/db/db.ts';
import { errorText } from '../../platform/errors.ts';
import type { Logger } from '../../platform/log.ts';
import { omitUndefined } from '../../platform/records.ts';
import type { TraceExporter } from '../../platform/telemetry/exporter.ts';
import type { Trace } from '../../platform/trace-context.ts';
import { runSpan, runWork } from '../../platform/work-context.ts';
import type { LogEvent } from '../log/event.ts';
import { buildTurnSpans } from '../log/trace.ts';
import { findTrace, turnSpanId } from '../log/trace-ids.ts';
import { findTracedTurn, noteContinuation } from '../store/traces.ts';

/** `content`: spans hold what was said, too. */
export type TurnTraces = { exporter: TraceExporter; content: boolean };

type Deps = { db: Db; log: Logger; traces?: TurnTraces | undefined };

type RunningTurn = {
  sessionId: string;
  events: readonly LogEvent[];
  /** no worker has worked on it before */
  isNew: boolean;
  worker: string | undefined;
};

/**
 * Runs a turn under its ids in logs, and exports its spans once it has ended. They are built from the log, so the trace of a
 * turn is whole whichever workers were lost on the way.
 */
export async function runTraced(
  turn: { id: string },
  { sessionId, events, isNew, worker = 'unknown' }: RunningTurn,
  deps: Deps,
  run: (trace: Trace | undefined) => Promise<'ended' | 'waiting'>,
): Promise<'ended' | 'waiting'> {
  const trace = findTrace(events, turn.id);
  const isTraced = deps.traces !== undefined || trace.parent !== undefined;
  const ids = { turnId: turn.id, traceId: trace.traceId, ...omitUndefined({ requestId: trace.requestId }) };
  return runWork(ids, async () => {
    if (!isNew) await noteContinuation(deps.db, turn.id, worker);
    const shown = isTraced ? trace : undefined;
    const end = await runSpan(shown, turnSpanId(turn.id), () => run(shown));
    if (end === 'ended' && trace.sampled) await exportTurn(sessionId, turn.id, deps);
    return end;
  });
}

/** After the last write of the turn, so that nobody waits for it. */
async function exportTurn(sessionId: string, turnId: string, { db, log, traces }: Deps): Promise<void> {
  if (traces === undefined) return;
  try {
    const traced = await findTracedTurn(db, sessionId, turnId);
    if (traced !== undefined) traces.exporter.export(buildTurnSpans(traced, traces));
  } catch (error) {
    log.warn({ error: errorText(error) }, 'the trace of a turn was not exported');
  }
}
