import { omitUndefined } from '../../../platform/records.ts';
import { publishEphemeral, publishEvents, sendControl, sendWake } from '../../channels.ts';
import type { Queryable } from '../../../platform/db/db.ts';
import type { EventEnvelope } from '../../contract/events.ts';
import { buildToolUpdate } from '../../log/build-events.ts';
import { answerPendingActions, insertStandingApprovals, setFinals } from '../../store/pending-actions.ts';
import type { AnsweredBy } from '../../store/pending-actions.ts';
import { findEvent, replacePayload } from '../../store/events.ts';
import { insertInbox, notifySession, resumeTurn } from '../../store/inbox.ts';
import type { SendSession } from '../../store/inbox.ts';
import { writeJournal } from '../../store/journal.ts';
import type { EventDeps } from '../deps.ts';
import type { SendPlan } from './send-plan.ts';

export type Written = {
  /** what the log has now that it had not before */
  appended: EventEnvelope[];
  /** `session.tool_updated`, for the live path only */
  updates: EventEnvelope[];
  /** one for each event of the request, in its order */
  answer: EventEnvelope[];
};

async function append(tx: Queryable, session: SendSession, plan: SendPlan): Promise<EventEnvelope[]> {
  if (plan.events.length === 0) return [];
  const [written] = await writeJournal(tx, [
    {
      sessionId: session.id,
      epoch: null,
      events: plan.events,
      session: { ...plan.session, ...omitUndefined({ goal: plan.goal }) },
      ...omitUndefined({ turn: plan.turn }),
    },
  ]);
  if (written === undefined) throw new Error('A locked session has no row.');
  return written.events;
}

async function writeNotice(tx: Queryable, session: SendSession, plan: SendPlan): Promise<void> {
  const { queued, interrupt, approvals, wake } = plan;
  await insertInbox(tx, session.id, queued);
  if (queued.length === 0 && interrupt === null && approvals.session.length === 0 && !wake) return;
  await notifySession(tx, session.id, { queued: queued.length, interrupt, approvals: approvals.session, wake });
}

/** Writes a plan. The transaction holds the row lock of the session. */
export async function writePlan(tx: Queryable, session: SendSession, plan: SendPlan, by: AnsweredBy): Promise<Written> {
  const known = new Map((await append(tx, session, plan)).map((event) => [event.id, event]));
  const appended = plan.events.map((event) => event.id);
  await writeNotice(tx, session, plan);
  if (plan.resumed !== null) await resumeTurn(tx, plan.resumed);
  await answerPendingActions(tx, session.id, plan.answered, by);
  await setFinals(tx, session.id, plan.finals);
  await insertStandingApprovals(tx, session, plan.approvals.always);
  const updates: EventEnvelope[] = [];
  for (const { eventId, payload, toolUseId } of plan.patches) {
    const patched = await replacePayload(tx, session.id, eventId, payload);
    if (patched === undefined) continue;
    known.set(eventId, patched);
    updates.push(buildToolUpdate(patched, toolUseId));
  }
  for (const id of plan.answer) {
    if (known.has(id)) continue;
    const event = await findEvent(tx, session.id, id);
    if (event !== undefined) known.set(id, event);
  }
  const pick = (ids: readonly string[]) => ids.flatMap((id) => known.get(id) ?? []);
  return { appended: pick(appended), updates, answer: pick(plan.answer) };
}

/** Tells watchers and workers, after the commit. */
export function announcePlan(deps: EventDeps, session: SendSession, plan: SendPlan, written: Written): void {
  const { bus, log } = deps;
  const { appended, updates } = written;
  // First, since the turn waits for it. A worker's own events come after its claim, and so after these.
  if (plan.wake || plan.session?.wakeAt === 'now') sendWake(bus, session.id);
  // A result is seen to change before the turn that it opens begins.
  const turnAt = appended.findIndex(({ type }) => type === 'session.status_running');
  const before = turnAt < 0 ? appended.length : turnAt;
  publishEvents(bus, log, session.organizationId, appended.slice(0, before));
  for (const update of updates) publishEphemeral(bus, log, session.organizationId, update);
  publishEvents(bus, log, session.organizationId, appended.slice(before));
  for (const kind of plan.controls) sendControl(bus, { sessionId: session.id, kind });
}
