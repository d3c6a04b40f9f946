// Tests: test/console/transcript.test.ts
import { isToolResult, readPayload } from '../../data/events.ts';
import type { EventEnvelope, StopReason, ToolResult } from '../../data/events.ts';

const SILENT = new Set([
  'session.status_running',
  'session.title_updated',
  'user.approval_response',
  'user.clarify_result',
]);

export function readStop(event: EventEnvelope): StopReason | undefined {
  return event.type === 'session.status_idle'
    ? readPayload<{ stop_reason?: StopReason }>(event).stop_reason
    : undefined;
}

export function isFailure(event: EventEnvelope): boolean {
  if (isToolResult(event)) return readPayload<ToolResult>(event).is_error === true;
  return readStop(event)?.type === 'error';
}

/** Events without a row of their own: shown in another row, or empty. */
export function isAbsorbed(event: EventEnvelope): boolean {
  if (SILENT.has(event.type) || isToolResult(event)) return true;
  if (event.type !== 'session.status_idle') return false;
  const stop = readStop(event)?.type;
  return (
    stop !== 'error' && stop !== 'budget_reached' && readPayload<{ interrupted?: true }>(event).interrupted !== true
  );
}
