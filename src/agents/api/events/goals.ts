import type { UserMessage } from '../../contract/events.ts';
import { readGoalPhrase, startGoal } from '../../contract/goals.ts';
import type { GoalAction, GoalState } from '../../contract/goals.ts';
import { buildIdle, buildInbound, buildMessage } from '../../log/build-events.ts';
import type { Draft } from './send-plan.ts';

/** Applies a message to the goal. `answered`: it was a control phrase, so it opens no turn. */
export function takeGoal(draft: Draft, message: UserMessage): 'ordinary' | 'started' | 'answered' {
  const phrase = readGoalPhrase(message);
  if (phrase === undefined) return 'ordinary';
  if (phrase.kind === 'start') {
    draft.plan.goal = startGoal(phrase.objective, draft.session.goal);
    return 'started';
  }
  takeControlPhrase(draft, message, phrase.action);
  return 'answered';
}

/** The caller wants the work to stop: the loop does not take it up again by itself. */
export function pauseForInterrupt(draft: Draft): void {
  const { goal, liveTurn } = draft.session;
  if (goal?.status !== 'active' || draft.plan.goal !== undefined) return;
  draft.plan.goal = { ...goal, status: 'paused', reason: 'Interrupted by the user.', revision: goal.revision + 1 };
  pushMessage(draft, liveTurn, 'The goal is paused, because you interrupted its turn. /goal resume goes on with it.');
}

function takeControlPhrase(draft: Draft, message: UserMessage, action: GoalAction): void {
  const { plan, session } = draft;
  const id = draft.newEventId();
  plan.events.push(buildInbound({ id, turnId: null }, 'processed', message));
  plan.answer.push(id);
  plan.points += 1;
  const { goal, text } = decideControl(action, plan.goal ?? session.goal);
  if (goal !== undefined) plan.goal = goal;
  pushMessage(draft, null, text);
  if (action === 'resume' && goal !== undefined && draft.isFree()) {
    draft.open({ kind: 'goal', objective: goal.objective, reason: goal.reason, eventId: null });
    return;
  }
  // A running turn ends with its own idle event; a waiting turn repeats what it waits for.
  if (session.status === 'running') return;
  const pending = [...draft.actions.values()]
    .filter(({ state }) => state === 'pending')
    .map((pendingAction) => pendingAction.id);
  const isWaiting = session.status === 'waiting_on_human' && pending.length > 0;
  plan.events.push(
    buildIdle(
      { id: draft.newEventId(), turnId: isWaiting ? session.liveTurn : null },
      { stop_reason: isWaiting ? { type: 'requires_action', event_ids: pending } : { type: 'end_turn' } },
    ),
  );
}

/** Pure: the goal as it is from now on (undefined: as before) and what is said about it. */
export function decideControl(action: GoalAction, goal: GoalState | null): { goal?: GoalState; text: string } {
  if (goal === null || goal.status === 'cleared') {
    return { text: 'There is no goal. Set one with /goal followed by what is to be achieved.' };
  }
  const change = (status: GoalState['status'], reason: string | null, text: string) => ({
    goal: { ...goal, status, reason, revision: goal.revision + 1 },
    text,
  });
  switch (action) {
    case 'status':
      return { text: describeGoal(goal) };
    case 'pause':
      if (goal.status !== 'active') return { text: `There is nothing to pause. ${describeGoal(goal)}` };
      return change('paused', 'Paused by the user.', 'The goal is paused. /goal resume goes on with it.');
    case 'resume': {
      if (goal.status === 'done') return { text: `There is nothing to resume. ${describeGoal(goal)}` };
      const { goal: active, text } = change('active', null, `The goal goes on: ${goal.objective}`);
      return { goal: { ...active, turnsUsed: 0, unreadable: 0, failures: 0 }, text };
    }
    case 'clear':
    case 'stop':
      return change('cleared', 'Cleared by the user.', 'The goal is cleared.');
    case 'done':
      return change('done', 'Marked as done by the user.', 'The goal is marked as done.');
  }
}

function describeGoal({ objective, status, turnsUsed, maxTurns, reason }: GoalState): string {
  const head = `The goal is ${status}, after ${turnsUsed} of ${maxTurns} turns: ${objective}`;
  return reason === null ? head : `${head}\n${reason}`;
}

const MAX_BLOCK = 20_000;

function pushMessage(draft: Draft, turnId: string | null, text: string): void {
  const id = draft.newEventId();
  const shown = text.length > MAX_BLOCK ? `${text.slice(0, MAX_BLOCK - 1).replace(/[\uD800-\uDBFF]$/, '')}…` : text;
  draft.plan.events.push(buildMessage({ id, turnId }, [{ type: 'text', text: shown }]));
}
