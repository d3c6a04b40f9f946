import type { ModelInfo, ModelUsage } from '../../inference/model.ts';
import type { EventEnvelope } from '../contract/events.ts';
import type { GoalState } from '../contract/goals.ts';
import type { PendingAction, SessionStatus } from '../contract/sessions.ts';
import type { Usage } from '../contract/usage.ts';
import type { NewEvent, OpenStep } from './event.ts';
import type { LogExtent } from './extent.ts';

/** A question to the caller, or a call of a custom tool, that a turn waits for. */
export type NewPendingAction = {
  id: string;
  turnId: string;
  type: PendingAction['type'];
  toolUseId: string;
  toolName: string;
  /** when the service answers on the caller's behalf; null: never */
  deadline: Date | null;
};

/** Columns of the session row to change; absent ones stay. */
export type SessionPatch = {
  status?: SessionStatus;
  liveTurn?: string | null;
  /** fields that describe the latest turn only: replaces them */
  usage?: Usage;
  /** counts to add to those of earlier turns */
  usageAdd?: Usage;
  toolState?: Record<string, unknown>;
  title?: string;
  goal?: GoalState;
  /** the part of the log that prompts are made from after a compaction */
  compaction?: LogExtent;
  /** clears the interrupt that has been handled */
  clearInterrupt?: true;
  /** when a worker should claim the session next; a session with queued prompts is due at once in any case */
  wakeAt?: Date | 'now' | null;
  /** the last sequence that the writer has seen: later events keep the session due, whatever `wakeAt` says */
  seen?: number;
  /** releases the lease in the same write */
  release?: true;
};

export type TurnPatch = {
  id: string;
  state: 'running' | 'waiting' | 'ended';
  steps?: number;
  /** the model reply with unfinished calls; null when there is none */
  step?: OpenStep | null;
  usage?: Usage;
};

/** One model call, for the ledger. Times are ISO 8601. */
export type ModelCallRecord = {
  turnId: string | null;
  /** the subagent that made it */
  threadId: string | null;
  /** the number of the reply in its turn, from 1; null for calls beside the conversation */
  step: number | null;
  model: string;
  startedAt: string;
  firstTokenAt: string | null;
  latencyMs: number;
  usage: ModelUsage;
  /** null: the model has no price */
  costUsd: number | null;
  /** US dollars per million tokens, as they were at the call */
  price: ModelInfo['price'] | null;
  retries: number;
  error: string | null;
};

/** One atomic change to one session: events, the session row, its turn, its pending actions. */
export type JournalEntry = {
  sessionId: string;
  /** the writer's lease; null for a writer that holds the row lock in a transaction instead */
  epoch: number | null;
  events: NewEvent[];
  session?: SessionPatch;
  turn?: TurnPatch;
  /** pending actions to open */
  asks?: NewPendingAction[];
  /** pending actions to close */
  closeAsks?: { ids: string[]; state: 'answered' | 'expired' | 'cancelled' };
  /** inbound events that a turn starts with or has consumed; an event that already belongs to a turn stays with it */
  inbound?: { sequences: number[]; turnId: string; status: 'received' | 'processed' };
  /** inbox positions to delete */
  taken?: number[];
  /** model calls to add to the ledger */
  calls?: ModelCallRecord[];
};

/** A change of the session that is written under the worker's own lease. */
export type Change = Omit<JournalEntry, 'sessionId' | 'epoch'>;

export type Appended = {
  organizationId: string;
  /** sequence of the first event, or the next free one when there are none */
  firstSequence: number;
  events: EventEnvelope[];
  /** the session is due at once */
  awake: boolean;
};
