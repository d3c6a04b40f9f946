import type { SessionPatch, TurnPatch } from '../../log/entry.ts';
import type { InternalOf, NewEvent, TurnPrompt } from '../../log/event.ts';
import type { GoalState } from '../../contract/goals.ts';
import type { AnsweredAction, AnsweredBy, StoredAction } from '../../store/pending-actions.ts';
import type { SendSession } from '../../store/inbox.ts';

/** Everything that one accepted request changes, decided before anything is written. */
export type SendPlan = {
  /** 202 when the request's prompt has to wait */
  status: 200 | 202;
  events: NewEvent[];
  session: SessionPatch | undefined;
  turn: TurnPatch | undefined;
  /** the session's goal from now on; undefined: as before */
  goal: GoalState | undefined;
  /** ids of the events to answer with, one for each event of the request, in its order */
  answer: string[];
  /** what the request costs: the inbound events that change something */
  points: number;
  answered: AnsweredAction[];
  finals: { id: string; eventId: string }[];
  /** earlier events whose payload is replaced */
  patches: { toolUseId: string; eventId: string; payload: NewEvent['payload'] }[];
  queued: TurnPrompt[];
  interrupt: { eventId: string; message: string | null } | null;
  approvals: { session: string[]; always: string[] };
  /** a paused turn that goes on */
  resumed: string | null;
  /** a worker is needed though `session` does not say so */
  wake: boolean;
  controls: ('steer' | 'interrupt')[];
};

export function buildEmptyPlan(): SendPlan {
  return {
    status: 200,
    events: [],
    session: undefined,
    turn: undefined,
    goal: undefined,
    answer: [],
    points: 0,
    answered: [],
    finals: [],
    patches: [],
    queued: [],
    interrupt: null,
    approvals: { session: [], always: [] },
    resumed: null,
    wake: false,
    controls: [],
  };
}

export type SessionState = Pick<SendSession, 'status' | 'liveTurn' | 'queuedCount' | 'goal'> & {
  /** whose request it is */
  sentBy?: AnsweredBy;
  trace?: InternalOf<'user.message'>['trace'];
};

/** A plan in the making, and what the events of the request so far have changed. */
export type Draft = {
  plan: SendPlan;
  session: SessionState;
  actions: Map<string, StoredAction>;
  newEventId: () => string;
  /** whether a prompt that is opened now starts its turn at once */
  isFree: () => boolean;
  /** Starts the turn with this prompt if the session is free, else puts it in line. Tells the turn it opened. */
  open: (prompt: TurnPrompt) => string | null;
};
