import { z } from 'zod';
import { CursorPage, CursorPagination, Id } from '../../platform/contract/common.ts';

export const TraceQuery = CursorPage.extend({
  turnId: Id.optional().describe('of this turn alone'),
});

/** A page of a session's turns as spans; `resourceSpans` is what a collector takes at `/v1/traces`. */
export const SessionTrace = z
  .object({
    object: z.literal('session_trace'),
    sessionId: Id,
    resourceSpans: z
      .array(z.record(z.string(), z.unknown()))
      .describe('`ExportTraceServiceRequest.resourceSpans` of OTLP in JSON; empty for a page without turns'),
    pagination: CursorPagination.describe('counts turns'),
  })
  .meta({ id: 'SessionTrace' });
export type SessionTrace = z.infer<typeof SessionTrace>;
