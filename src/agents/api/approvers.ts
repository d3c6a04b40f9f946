import { errors } from '../../platform/errors.ts';
import type { Caller } from '../../platform/http/deps.ts';
import { ROLES } from '../../platform/contract/roles.ts';
import type { Role } from '../../platform/contract/roles.ts';
import type { Scope } from '../../platform/contract/keys.ts';
import type { Queryable } from '../../platform/db/db.ts';
import type { EventsSend } from '../contract/events.ts';
import { hasPendingActions, listApprovalRules } from '../store/pending-actions.ts';
import type { AnsweredBy, ApprovalRule } from '../store/pending-actions.ts';
import type { SendSession } from '../store/inbox.ts';

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

/** What only this role and those above may do: whoever may do it counts as one of them, a key too. */
const MARKS: Readonly<Record<Role, Scope>> = {
  viewer: 'agents:read',
  approver: 'agents:approve',
  builder: 'agents:write',
  operator: 'agents:deploy',
  admin: 'admin',
  owner: 'owner',
};

type Answerer = Pick<Caller, 'scopes' | 'user' | 'keyId'>;

/** Whose key or sign-in a request carries. */
export function identify({ user, keyId }: Pick<Caller, 'user' | 'keyId'>): AnsweredBy {
  return user === null ? { type: 'key', id: keyId } : { type: 'user', id: user.id };
}

function isNamed(approver: string, { scopes, user }: Answerer): boolean {
  const colon = approver.indexOf(':');
  const name = approver.slice(colon + 1);
  switch (approver.slice(0, colon)) {
    case 'role': {
      const role = ROLES.find((each) => each === name);
      return role !== undefined && scopes.includes(MARKS[role]);
    }
    case 'group':
      return user?.groups.includes(name) === true;
    default:
      return user !== null && isPerson(user, name);
  }
}

function isPerson({ id, email }: { id: string; email: string | null }, name: string): boolean {
  return id === name || email?.toLowerCase() === name.toLowerCase();
}

/** Why a caller may not answer an approval; undefined: it may. */
export function explainRefusal(caller: Answerer, rule: ApprovalRule, subjectId: string): string | undefined {
  const { approvers, separationOfDuties, requestedBy } = rule;
  if (approvers !== null && !approvers.some((approver) => isNamed(approver, caller))) {
    return `This approval can be answered by ${approvers.join(', ')} only.`;
  }
  if (!separationOfDuties) return undefined;
  const by = identify(caller);
  const isRequester = requestedBy?.type === by.type && requestedBy.id === by.id;
  const isSubject = caller.user !== null && isPerson(caller.user, subjectId);
  return isRequester || isSubject ? 'Whoever asked for this call may not answer its approval.' : undefined;
}

/** Throws `forbidden`, which leaves a record, where one of these approvals is not for the caller to answer. */
export async function checkApprovers(
  tx: Queryable,
  caller: Answerer,
  { id, subjectId }: Pick<SendSession, 'id' | 'subjectId'>,
  events: EventsSend['events'],
): Promise<void> {
  const ids = events.flatMap((event) => (event.type === 'user.approval_response' ? [event.approval_id] : []));
  if (ids.length === 0) return;
  for (const rule of await listApprovalRules(tx, id, ids)) {
    const reason = explainRefusal(caller, rule, subjectId);
    if (reason !== undefined) throw errors.refusedApproval(reason);
  }
}
