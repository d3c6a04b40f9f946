import type { eventRoutes } from '../../../contract/routes/sessions.ts';
import { errors } from '../../../../platform/errors.ts';
import { findLogEnd } from '../../../store/events.ts';
import type { EventDeps } from '../../deps.ts';
import type { Answer, Call } from '../../../../platform/http/route.ts';
import { checkReadable } from '../../approvers.ts';
import { beginStream } from '../begin-stream.ts';
import { pickGrant } from '../grant.ts';
import { readCursor, writeCursor } from './cursor.ts';
import { buildOpening } from './frame.ts';
import type { Hub } from './hub.ts';
import { openStream } from './client-stream.ts';

async function getLogEnd(deps: EventDeps, organizationId: string, sessionId: string): Promise<number> {
  const end = await findLogEnd(deps.db, organizationId, sessionId);
  if (end === undefined) throw errors.notFound('session');
  return end;
}

/**
 * Handler of `GET /v1/sessions/{sessionId}/events/stream`. Nothing that lives as long as the stream may hold the call.
 */
export async function openEventStream(
  deps: EventDeps,
  hub: Hub,
  call: Call<typeof eventRoutes.streamEvents>,
): Promise<Answer> {
  const { request, reply, query } = call;
  const { organizationId, keyId } = call.caller;
  const { sessionId } = call.params;
  await getLogEnd(deps, organizationId, sessionId);
  await checkReadable(deps.db, call.caller, sessionId);
  const releaseSlot = deps.streamSlots.acquire(keyId);
  const response = reply.raw;
  const stream = openStream(deps, { organizationId, sessionId, grant: pickGrant(call.caller) }, response);
  const leave = () => {
    hub.leave(sessionId, stream);
    releaseSlot();
  };
  const header = request.headers['last-event-id'];
  const cursor = typeof header === 'string' ? readCursor(header) : undefined;
  let after: number;
  try {
    await hub.join(organizationId, sessionId, stream);
    const end = await getLogEnd(deps, organizationId, sessionId);
    // A position past the end would suppress later events.
    after = Math.min(cursor?.sequence ?? query.after ?? end, end);
  } catch (error) {
    leave();
    throw error;
  }
  if (!beginStream(deps, request, reply, leave)) return 'hijacked';
  response.write(buildOpening(writeCursor({ time: Date.now(), updateId: null, ...cursor, sequence: after })));
  void stream.start({ after, cursor });
  return 'hijacked';
}
