import type { NewEvent } from '../../src/agents/log/event.ts';
import { newId } from '../../src/platform/ids.ts';

/** An event whose payload lacks what only the loop reads, for tests of the paths that carry payloads unread. */
export function buildRawEvent(
  payload: { type: string } & Record<string, unknown>,
  { id = newId('evt'), turnId = null }: { id?: string; turnId?: string | null } = {},
): NewEvent {
  return { id, turnId, status: 'complete', payload } as NewEvent;
}
