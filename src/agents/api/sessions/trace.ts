import type { z } from 'zod';
import { buildTurnSpans } from '../../log/trace.ts';
import type { SessionTrace, TraceQuery } from '../../contract/traces.ts';
import { listTracedTurns } from '../../store/traces.ts';
import type { ApiDeps } from '../deps.ts';

/** The spans of a session's turns, the same that a collector gets of them. */
export async function buildTrace(
  { db, traceView = { serviceName: 'capstan', content: false } }: Pick<ApiDeps, 'db' | 'traceView'>,
  sessionId: string,
  query: z.infer<typeof TraceQuery>,
): Promise<SessionTrace> {
  const { rows, nextCursor } = await listTracedTurns(db, sessionId, query);
  const spans = rows.flatMap((turn) => buildTurnSpans(turn, traceView));
  // Loaded when somebody asks for it.
  const { encodeSpans } = await import('../../../platform/telemetry/otlp-json.ts');
  const { resourceSpans } = encodeSpans(spans, traceView.serviceName);
  const pagination = { limit: query.limit, hasMore: nextCursor !== null, nextCursor };
  return { object: 'session_trace', sessionId, resourceSpans, pagination };
}
