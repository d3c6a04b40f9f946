import { publishEvents } from '../../channels.ts';
import type { Queryable } from '../../../platform/db/db.ts';
import type { EventEnvelope } from '../../contract/events.ts';
import type { Session } from '../../contract/sessions.ts';
import { splitUsage } from '../../contract/usage.ts';
import { errors, errorText } from '../../../platform/errors.ts';
import { buildIdle } from '../../log/build-events.ts';
import { lockSession } from '../../store/inbox.ts';
import type { SendSession } from '../../store/inbox.ts';
import { writeJournal } from '../../store/journal.ts';
import { deleteSession, findTurnUsage, markArchived } from '../../store/sessions.ts';
import type { ApiDeps } from '../deps.ts';
import { deleteAttachments } from '../events/attachments/stored.ts';
import { getSession } from './find.ts';

async function getLocked(tx: Queryable, organizationId: string, id: string): Promise<SendSession> {
  const session = await lockSession(tx, organizationId, id);
  if (session === undefined) throw errors.notFound('session');
  return session;
}

/** Ends the turn that waits for a person: its asks are cancelled, and the log says so. */
async function endWaitingTurn(tx: Queryable, session: Session, turnId: string): Promise<EventEnvelope[]> {
  const usage = await findTurnUsage(tx, turnId);
  const end = { stop_reason: { type: 'end_turn' }, interrupted: true } as const;
  const [written] = await writeJournal(tx, [
    {
      sessionId: session.id,
      epoch: null,
      events: [buildIdle({ turnId }, end, usage ?? undefined)],
      session: { liveTurn: null, ...(usage === null ? {} : splitUsage(usage)) },
      turn: { id: turnId, state: 'ended' },
      closeAsks: { ids: session.pendingActions.map((action) => action.eventId), state: 'cancelled' },
    },
  ]);
  return written?.events ?? [];
}

/** Archives a session that no turn runs in; an archived one stays as it is. Its sandbox goes, the volume stays. */
export async function archiveSession(deps: ApiDeps, organizationId: string, id: string): Promise<Session> {
  const { events, target } = await deps.db.transaction(async (tx) => {
    const locked = await getLocked(tx, organizationId, id);
    if (locked.status === 'archived') return { events: [], target: undefined };
    if (locked.status === 'running') throw errors.invalidState('The session is running.');
    const session = await getSession(tx, organizationId, id);
    const written = locked.liveTurn === null ? [] : await endWaitingTurn(tx, session, locked.liveTurn);
    await markArchived(tx, id);
    return { events: written, target: locked };
  });
  if (target !== undefined) {
    publishEvents(deps.bus, deps.log, organizationId, events);
    const { agentId, subjectId } = target;
    await deps.sandboxes.remove({ organizationId, agentId, subjectId, sessionId: id }).catch((error: unknown) => {
      deps.log.warn({ sessionId: id, error: errorText(error) }, 'sandbox of an archived session is left over');
    });
  }
  return getSession(deps.db, organizationId, id);
}

/**
 * Deletes a session that no turn runs in. Its sandbox goes first, outside the transaction: should that fail, nothing
 * has happened, and a session that begins to run in between merely starts another sandbox.
 */
export async function removeSession(deps: ApiDeps, organizationId: string, id: string): Promise<void> {
  const session = await getSession(deps.db, organizationId, id);
  if (session.status === 'running') throw errors.invalidState('The session is running.');
  const { agentId, subjectId } = session;
  await deps.sandboxes.remove({ organizationId, agentId, subjectId, sessionId: id }).catch((error: unknown) => {
    throw errors.serviceDeleteFailed(error);
  });
  await deps.db.transaction(async (tx) => {
    const locked = await getLocked(tx, organizationId, id);
    if (locked.status === 'running') throw errors.invalidState('The session is running.');
    await deleteSession(tx, organizationId, id);
  });
  await deleteAttachments(deps.objects, id).catch((error: unknown) => {
    deps.log.warn({ sessionId: id, error: errorText(error) }, 'attachments of a deleted session are left over');
  });
}
