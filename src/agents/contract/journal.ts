import type { TextBlock } from '../../platform/contract/common.ts';
import type { EventEnvelope, EventStatus } from './events.ts';
import type { GoalState } from './goals.ts';
import type { PendingAction, SessionStatus } from './sessions.ts';
import type { Usage } from './usage.ts';

/** An event of the log with what only the loop may see. */
export type LogEvent = EventEnvelope & { internal: Record<string, unknown> | null };

/** A final result of a custom tool that opens a turn. */
export type ToolFinal = {
  kind: 'tool_final';
  toolUseId: string;
  toolName: string;
  isError: boolean;
  content: TextBlock[];
  /** the event that carries it and waits to be taken up; null when it replaced an earlier event */
  eventId: string | null;
};

/** What opens a turn: stands in `internal.prompt` of its first `session.status_running`, and in the inbox until then. */
export type TurnPrompt =
  | { kind: 'message'; eventId: string }
  | ToolFinal
  /** guidance that came too late for its turn; `eventId` is that of the first */
  | { kind: 'steer'; text: string; eventId: string }
  /** news of a background process */
  | { kind: 'notice'; text: string; eventId: null }
  /** the goal is not reached yet: why, where the judge or the user has said so */
  | { kind: 'goal'; objective: string; reason: string | null; eventId: null };

/** An event that is not in the log yet; its sequence is given by the append. `internal` never leaves the service. */
export type NewEvent = {
  id: string;
  turnId: string | null;
  status: EventStatus | null;
  payload: { type: string } & Record<string, unknown>;
  usage?: Usage;
  internal?: Record<string, unknown>;
  processed?: boolean;
};

export type NewAsk = {
  id: string;
  turnId: string;
  type: PendingAction['type'];
  toolUseId: string;
  toolName: string;
  /** after which the ask is answered for the caller; null: it waits without limit */
  deadline: Date | null;
};

/** Columns of the session row that an append may set; absent ones stay. */
export type SessionPatch = {
  status?: SessionStatus;
  liveTurn?: string | null;
  /** what describes the latest turn only: replaces its fields */
  usage?: Usage;
  /** counts to be added to those of earlier turns */
  usageAdd?: Usage;
  toolState?: Record<string, unknown>;
  title?: string;
  goal?: GoalState;
  compaction?: Record<string, unknown>;
  /** forgets the interrupt that has been acted upon */
  clearInterrupt?: true;
  /** when a worker should look next; a session with queued prompts is looked at at once, whatever this says */
  wakeAt?: Date | 'now' | null;
  /** the last sequence that the writer knew: what came after it keeps the session awake, whatever `wakeAt` says */
  seen?: number;
  /** gives the lease back in the same write */
  release?: true;
};

export type TurnPatch = {
  id: string;
  state: 'running' | 'waiting' | 'ended';
  steps?: number;
  /** the model reply whose calls are not all done; null when none is open */
  step?: Record<string, unknown> | null;
  usage?: Usage;
};

/** One atomic change to one session: events, the session row, its turn, its asks. */
export type JournalEntry = {
  sessionId: string;
  /** the writer's lease; null for a writer that holds the row lock in a transaction instead */
  epoch: number | null;
  events: NewEvent[];
  session?: SessionPatch;
  turn?: TurnPatch;
  asks?: NewAsk[];
  /** asks that no longer wait */
  closeAsks?: { ids: string[]; state: 'answered' | 'expired' | 'cancelled' };
  /** inbound events that a turn begins with or has taken up; one that already belongs to a turn stays with it */
  inbound?: { sequences: number[]; turnId: string; status: 'received' | 'processed' };
  /** inbox positions that have been taken up */
  taken?: number[];
};

export type Appended = {
  organizationId: string;
  /** sequence of the first event, or what it would be when there are none */
  firstSequence: number;
  events: EventEnvelope[];
  /** there is something left for a worker to do at once */
  awake: boolean;
};
