// Tests: test/console/transcript.test.ts
import { isOf, isToolResult } from '../../data/events.ts';
import type { EventEnvelope, StopReason } from '../../data/events.ts';

const SILENT = new Set([
  'session.status_running',
  'session.title_updated',
  'user.approval_response',
  'user.clarify_result',
]);

export function readStop(event: EventEnvelope): StopReason | undefined {
  return isOf(event, 'session.status_idle') ? event.payload.stop_reason : undefined;
}

export function isFailure(event: EventEnvelope): boolean {
  if (isToolResult(event)) return event.payload.is_error === true;
  return readStop(event)?.type === 'error';
}

/** Events without a row of their own: shown in another row, or empty. */
export function isAbsorbed(event: EventEnvelope): boolean {
  if (SILENT.has(event.type) || isToolResult(event)) return true;
  if (!isOf(event, 'session.status_idle')) return false;
  const stop = readStop(event)?.type;
  return stop !== 'error' && stop !== 'budget_reached' && event.payload.interrupted !== true;
}
