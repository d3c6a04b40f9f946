import type { LiveEvent } from '../../../channels.ts';
import type { Queryable } from '../../../../platform/db/db.ts';
import type { EventEnvelope } from '../../../contract/events.ts';
import { findEvent } from '../../../store/events.ts';

export type Update = EventEnvelope & { type: 'session.tool_updated' };

/** `session.tool_updated` patches an earlier event and is not in the log. */
export function isUpdate(event: LiveEvent): event is Update {
  return 'type' in event && event.type === 'session.tool_updated';
}

/** An update too large for the bus comes without the new payload, which the log has. */
export function isComplete(update: Update): boolean {
  return update.payload.payload !== undefined;
}

/** Fills in what did not fit; undefined when the session is gone. */
export async function completeUpdate(db: Queryable, update: Update): Promise<EventEnvelope | undefined> {
  if (isComplete(update)) return update;
  const patched = await findEvent(db, update.sessionId, String(update.payload.event_id));
  return patched && { ...update, payload: { ...update.payload, payload: patched.payload } };
}
