import type { EventsSend, InboundEvent, UserMessage } from '../../contract/events.ts';
import type { TurnPrompt } from '../../log/event.ts';
import { buildIdle, buildInbound, buildTurnResume, buildTurnStart } from '../../log/build-events.ts';
import { errors } from '../../../platform/errors.ts';
import { omitUndefined } from '../../../platform/records.ts';
import type { newId } from '../../../platform/ids.ts';
import type { StoredAction } from '../../store/pending-actions.ts';
import { pauseForInterrupt, takeGoal } from './goals.ts';
import { findAction, isAnswer, takeAnswer } from './answers.ts';
import { buildEmptyPlan } from './send-plan.ts';
import type { Draft, SendPlan, SessionState } from './send-plan.ts';

function refuseArchived(draft: Draft, events: readonly InboundEvent[]): never {
  const [first] = events;
  if (first && isAnswer(first) && findAction(draft.actions, first) !== undefined) throw errors.responseExpired();
  throw errors.invalidState('The session is archived.');
}

function takePrompt(draft: Draft, event: UserMessage): void {
  const part = takeGoal(draft, event);
  if (part === 'answered') return;
  const id = draft.newEventId();
  const turnId = draft.open({ kind: 'message', eventId: id });
  if (turnId === null) draft.plan.status = 202;
  const status = turnId === null ? 'queued' : 'received';
  const { sentBy: by, trace } = draft.session;
  const own = omitUndefined({ goal: part === 'started' ? (true as const) : undefined, by, trace });
  const internal = Object.keys(own).length === 0 ? undefined : own;
  draft.plan.events.push(buildInbound({ id, turnId }, status, event, internal));
  draft.plan.answer.push(id);
  draft.plan.points += 1;
}

function takeControl(draft: Draft, event: InboundEvent & { type: 'user.steer' | 'user.interrupt' }): void {
  const { plan, session } = draft;
  if (session.liveTurn === null) throw errors.noActiveTurn();
  const id = draft.newEventId();
  plan.events.push(buildInbound({ id, turnId: session.liveTurn }, 'received', event));
  plan.answer.push(id);
  plan.points += 1;
  const kind = event.type === 'user.steer' ? 'steer' : 'interrupt';
  if (!plan.controls.includes(kind)) plan.controls.push(kind);
  if (event.type === 'user.steer') return;
  pauseForInterrupt(draft);
  plan.interrupt = { eventId: id, message: event.message ?? null };
  // No worker holds a turn that waits for a person, so one has to be woken.
  if (session.status === 'waiting_on_human') plan.wake = true;
}

/**
 * After the answers: the turn goes on when nothing is left to answer, else the caller is told which actions are still
 * pending.
 */
function settleActions({ plan, session, actions, newEventId }: Draft): void {
  if (plan.answered.length === 0 || session.status !== 'waiting_on_human' || session.liveTurn === null) return;
  const rest = [...actions.values()].filter((action) => action.state === 'pending').map((action) => action.id);
  const slot = { id: newEventId(), turnId: session.liveTurn };
  if (rest.length > 0) {
    plan.events.push(buildIdle(slot, { stop_reason: { type: 'requires_action', event_ids: rest } }));
    return;
  }
  plan.events.push(buildTurnResume(slot));
  plan.session = { status: 'running', wakeAt: 'now' };
  plan.resumed = session.liveTurn;
}

/**
 * What a request does to a session in this state, or the `ApiError` that refuses all of it. `actions` holds the pending
 * ones and those that the request names. Pure but for the identifiers, which `makeId` gives.
 */
export function decideSend(
  session: SessionState,
  actions: readonly StoredAction[],
  body: EventsSend,
  makeId: typeof newId,
): SendPlan {
  const plan = buildEmptyPlan();
  const busy = session.status === 'running' || session.status === 'waiting_on_human';
  const hasPrompt = body.events.some((event) => event.type === 'user.message');
  const free = !busy && session.queuedCount === 0;
  let opener: { turnId: string; prompt: TurnPrompt } | null = null;
  const draft: Draft = {
    plan,
    session,
    actions: new Map(actions.map((action) => [action.id, { ...action }])),
    newEventId: () => makeId('evt'),
    isFree: () => free && opener === null,
    open: (prompt) => {
      // A prompt goes before the results of tools that came with it.
      if (draft.isFree() && (prompt.kind === 'message' || prompt.kind === 'goal' || !hasPrompt)) {
        opener = { turnId: makeId('trn'), prompt };
        return opener.turnId;
      }
      if (prompt.kind === 'message') plan.queued.unshift(prompt);
      else plan.queued.push(prompt);
      if (!busy) plan.wake = true;
      return null;
    },
  };
  if (session.status === 'archived') refuseArchived(draft, body.events);
  if (busy && hasPrompt && body.events.length > 1) {
    throw errors.invalidState('While a turn is live, a prompt cannot be sent together with other events.');
  }
  for (const event of body.events) {
    if (event.type === 'user.message') takePrompt(draft, event);
    else if (isAnswer(event)) takeAnswer(draft, event);
    else takeControl(draft, event);
  }
  settleActions(draft);
  startTurn(draft, opener);
  return plan;
}

function startTurn({ plan, newEventId }: Draft, opener: { turnId: string; prompt: TurnPrompt } | null): void {
  if (opener === null) return;
  plan.events.push(buildTurnStart({ id: newEventId(), turnId: opener.turnId }, opener.prompt));
  plan.session = { status: 'running', liveTurn: opener.turnId, wakeAt: 'now' };
  plan.turn = { id: opener.turnId, state: 'running' };
}
