import type { ImagePart, ReasoningPart } from '../../inference/model.ts';
import type { TextBlock } from '../../platform/contract/common.ts';
import type { Trace } from '../../platform/trace-context.ts';
import type { EventEnvelope, EventStatus, InboundEvent, OutboundPayload } from '../contract/events.ts';
import type { McpTarget } from '../contract/mcp.ts';
import type { Usage } from '../contract/usage.ts';

/** A tool call in a model reply. `useId` is the id that callers see, `callId` the one that the model knows. */
export type StepCall = {
  useId: string;
  index: number;
  callId: string;
  name: string;
  arguments: string;
  /** set for a call that was cut off: the output tokens of the reply */
  cutOffAt?: number;
  /** set for a tool of an MCP server */
  mcp?: McpTarget;
};

/**
 * A model reply with unfinished calls. Stored with the turn. `unsent`: uses that are in the log although no sandbox has
 * received them yet; absent: none.
 */
export type OpenStep = { number: number; calls: StepCall[]; unsent?: string[] };

/** The position of a part in the turn: the model reply (`step`) and its place within that reply. */
export type StepPosition = { step: number; index: number };

/** Identifies the parent of a nested call; stored in the payload of its use and its result. */
export type NestedCallTag = {
  /** the use of the tool that made the call */
  parent_tool_use_id: string;
  /** the subagent that made the call */
  thread_id?: string;
};

/** The final result of a custom tool, which opens a turn. */
export type ToolFinal = {
  kind: 'tool_final';
  toolUseId: string;
  toolName: string;
  isError: boolean;
  content: TextBlock[];
  /** the unconsumed event that carries the result; null when the result replaced the payload of an earlier event */
  eventId: string | null;
};

/** What opens a turn. Stored in the inbox, then in `internal.prompt` of the turn's first `session.status_running`. */
export type TurnPrompt =
  | { kind: 'message'; eventId: string }
  | ToolFinal
  /** guidance that arrived after the last model call of its turn; `eventId` is the first such event */
  | { kind: 'steer'; text: string; eventId: string }
  /** output or exit of a background process */
  | { kind: 'notice'; text: string; eventId: null }
  /** the goal is not reached yet; `reason` comes from the judge or the user */
  | { kind: 'goal'; objective: string; reason: string | null; eventId: null };

/** The provider's signature of a reasoning part, which the next request must repeat. */
export type ReasoningSignature = Omit<ReasoningPart, 'type' | 'text'>;

/** What a compaction keeps, by keys of history entries, and the text that replaces the rest. */
export type Compaction = {
  /** the last entry of the kept beginning; null when the beginning is dropped */
  head: string | null;
  /** the first entry of the kept end */
  tail: string;
  /** the latest prompt, if it precedes `tail`: it is repeated after the summary */
  prompt: string | null;
  /** the framed summary as the model reads it */
  text: string;
  /** the bare summary, which the next compaction extends */
  summary: string;
  /** when the model last failed to write a summary; null when a model wrote this one */
  failedAt: string | null;
  /** the fraction of the conversation that was removed, 0 to 1 */
  saved: number;
};

/** `arguments` is set only when the parsed input does not reproduce the model's text. */
type CallInternal = StepPosition & { callId: string; name: string; arguments?: string };
type ResultInternal = StepPosition & { images?: ImagePart[] };

/** Data that the loop stores with a payload and that never leaves the service. Other types store none. */
type InternalFields = {
  'user.message': {
    /** the message sets the session's goal */
    goal?: true;
    /** whose key or sign-in it came with */
    by?: { type: 'key' | 'user'; id: string };
    /** the trace and the id of the request that it came with */
    trace?: Trace & { requestId: string };
  };
  'session.status_running': { prompt: TurnPrompt } | { resume: true };
  'session.compacted': { compaction: Compaction };
  'agent.message': StepPosition & {
    /** the request of this reply held the guidance up to this sequence, beyond what its tool results carry */
    guidance?: number;
  };
  // `proof` is the stored name of the signature.
  'agent.thinking': StepPosition & { proof?: ReasoningSignature };
  'agent.approval_request': { approvalOf: string; inStep: number };
  'agent.tool_use': CallInternal;
  'agent.mcp_tool_use': CallInternal;
  'agent.custom_tool_use': CallInternal;
  'agent.clarify_request': CallInternal;
  'agent.tool_result': ResultInternal;
  'agent.mcp_tool_result': ResultInternal;
};

/** Every payload of the log: what callers send and what the service writes. */
export type EventPayload = InboundEvent | OutboundPayload;
export type EventType = EventPayload['type'];
export type PayloadOf<T extends EventType> = Extract<EventPayload, { type: T }>;
export type InternalOf<T extends EventType> = T extends keyof InternalFields ? InternalFields[T] : never;

/** An event of one type that is not in the log yet; the append assigns its sequence. */
export type NewEventOf<T extends EventType> = {
  id: string;
  turnId: string | null;
  status: EventStatus | null;
  payload: PayloadOf<T>;
  usage?: Usage;
  internal?: InternalOf<T>;
  processed?: boolean;
};
type NewInbound = Omit<NewEventOf<'user.message'>, 'payload'> & { payload: InboundEvent };
export type NewEvent = NewInbound | { [T in OutboundPayload['type']]: NewEventOf<T> }[OutboundPayload['type']];

/** A stored event of one type, with what only the loop may see. */
export type LogEventOf<T extends EventType> = Omit<EventEnvelope, 'type' | 'payload'> & {
  type: T;
  payload: PayloadOf<T>;
  internal: InternalOf<T> | null;
};
export type LogEvent = { [T in EventType]: LogEventOf<T> }[EventType];
