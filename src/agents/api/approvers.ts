import { errors } from '../../platform/errors.ts';
import type { Caller } from '../../platform/http/deps.ts';
import type { Queryable } from '../../platform/db/db.ts';
import type { EventsSend } from '../contract/events.ts';
import { hasPendingActions } from '../store/pending-actions.ts';

type Rights = Pick<Caller, 'scopes'>;

/** A caller that only answers what waits for people sees the sessions in which something does or did, and no others. */
export async function checkReadable(db: Queryable, caller: Rights, sessionId: string): Promise<void> {
  if (caller.scopes.includes('agents:read') || caller.scopes.includes('agents:write')) return;
  if (!(await hasPendingActions(db, sessionId))) throw errors.notFound('session');
}

/** Throws `forbidden` for events that go beyond answers to approvals and clarifications, from a caller that only answers. */
export function checkSendable(caller: Rights, events: EventsSend['events']): void {
  if (caller.scopes.includes('agents:write')) return;
  const isAnswer = (type: string) => type === 'user.approval_response' || type === 'user.clarify_result';
  if (!events.every((event) => isAnswer(event.type))) throw errors.missingScope('agents:write');
}
