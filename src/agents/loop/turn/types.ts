import type { EventEnvelope, Waiting } from '../../contract/events.ts';
import type { Change, ModelCallRecord } from '../../log/entry.ts';
import type { LogEvent, NewEvent } from '../../log/event.ts';
import type { Reasoning } from '../../contract/reasoning.ts';
import type { ToolConfig } from '../../contract/tools.ts';
import type { Usage } from '../../contract/usage.ts';
import type { Inference } from '../../../inference/model.ts';
import { HandoverError } from '../../../sandbox/sandbox.ts';
import type { SandboxSession } from '../../../sandbox/sandbox.ts';
import { CapstanError } from '../../../platform/errors.ts';
import type { CauseOptions } from '../../../platform/errors.ts';
import type { Trace } from '../../../platform/trace-context.ts';
import type { Permissions } from '../tool-calls/decide.ts';
import type { Delegation } from '../subagents/delegation.ts';
import type { AttachmentPort } from '../history/attachments.ts';
import type { OpenStep } from '../../log/event.ts';
import type { McpPort } from '../tool-calls/mcp.ts';
import type { ToolPorts } from '../../tools/ports.ts';
import type { Tool } from '../../tools/tool.ts';

/** The log of the session, read and extended under the lease. */
export type Journal = {
  /** all events so far, also those of other writers */
  readonly events: readonly LogEvent[];
  /** Writes a change, and reads what other writers added in between. Throws `LeaseLostError` when the session belongs to another worker. */
  append(change: Change): Promise<void>;
  /** Reads what other writers added. */
  refresh(): Promise<void>;
};

/** A pending action of a turn, as it was when it was read. */
export type PendingActionState = {
  id: string;
  type: string;
  toolUseId: string;
  state: 'pending' | 'answered' | 'expired' | 'cancelled';
  answer: Record<string, unknown> | null;
  deadline: Date | null;
};

/** The session that a turn belongs to; constant while the turn runs. */
export type TurnSession = {
  id: string;
  organizationId: string;
  agentId: string;
  subjectId: string;
  modelName: string;
  systemPrompt: string;
  /** sections that memory and skills add to the system prompt; the same for the whole session */
  promptNotes: readonly string[];
  /** the day, in UTC, on which the session was created: `2026-11-22` */
  startedOn: string;
  /** the configs of the session's role, or of the agent version */
  toolConfigs: readonly ToolConfig[];
  /** how hard the model is to think; null: the provider's default */
  effort: Reasoning['effort'] | null;
};

/** The state of a turn. The loop changes it; the journal stores the same. */
export type Turn = {
  id: string;
  startedAt: Date;
  /** model calls made */
  steps: number;
  step: OpenStep | null;
  usage: Usage;
  /** events of the last reply, to be written with the next change */
  unwritten: NewEvent[];
  /** model calls to be added to the ledger with the next change */
  unwrittenCalls: ModelCallRecord[];
  /** sequences of inbound events that the model has read and that the next write marks as processed */
  consumed: number[];
  toolState: Record<string, unknown>;
};

/** What every part of a turn needs. */
export type TurnContext = {
  session: TurnSession;
  journal: Journal;
  inference: Inference;
  /** Aborted with an `InterruptedError`, or with another reason when this worker must stop. */
  signal: AbortSignal;
  /** Aborted with a `DrainError` when the worker shuts down: the turn stops before it starts more work; absent: never. */
  drain?: AbortSignal;
  /** what outgoing requests name as their trace; absent: nothing is traced */
  trace?: Trace | undefined;
  /** logs details for an operator that callers do not receive */
  logError(error: unknown, message: string, fields?: Record<string, string>): void;
};

/** What calling the model needs beyond that. */
export type ModelCallDeps = TurnContext & {
  tools: ReadonlyMap<string, Tool>;
  mcp: Pick<McpPort, 'listTools' | 'listUnavailable' | 'listInstructions'>;
  attachments: AttachmentPort;
  openSandbox(signal: AbortSignal): Promise<SandboxSession>;
  limits: { retryForMs: number; silenceMs: number };
  /** tells watchers and the session record that the turn waits before it calls the model again; null: it goes on */
  reportWaiting(waiting: Waiting | null, turnId: string): Promise<void>;
  sendLive(frame: Pick<EventEnvelope, 'id' | 'type' | 'status' | 'payload'>, turnId: string): void;
};

/** What running one tool needs beyond the context. */
export type ToolRunDeps = TurnContext & {
  tools: ReadonlyMap<string, Tool>;
  ports: ToolPorts;
  attachments: AttachmentPort;
  /** describes images when the session's own model cannot read them */
  visionModel?: string;
  /** read for every decision, because callers change permissions while a turn runs */
  readPermissions(): Promise<Permissions>;
  openSandbox(signal: AbortSignal): Promise<SandboxSession>;
  sendLive: ModelCallDeps['sendLive'];
  /** subagents for the call of this id; a subagent has none */
  delegation?: (callId: string) => Delegation;
};

/** What settling the calls of a model reply needs beyond running tools. */
export type SettleDeps = ToolRunDeps & {
  mcp: Pick<McpPort, 'call' | 'listTools'>;
  readPendingActions(turnId: string): Promise<PendingActionState[]>;
  /** `approvalMs`: how long an approval waits before it counts as denied; absent: for ever */
  limits: { customToolTimeoutMs: number; approvalMs?: number };
};

/** Times in milliseconds. */
export type TurnLimits = {
  /** model calls of one turn */
  maxSteps: number;
  customToolTimeoutMs: number;
  /** how long an approval waits before it counts as denied; absent: for ever */
  approvalMs?: number;
  /** how long a failing model call is repeated */
  retryForMs: number;
  /** a model provider that sends nothing for this long has failed */
  silenceMs: number;
};

/** What the loop of model calls and tool calls needs. */
export type LoopDeps = ModelCallDeps & SettleDeps & { mcp: McpPort; limits: TurnLimits };

/** What a whole turn needs. */
export type TurnDeps = LoopDeps & {
  /** whether the session may have a goal to judge after the turn; absent: no */
  mayHaveGoal?(): boolean;
};

/** The caller asked to stop this turn. */
export class InterruptedError extends CapstanError<'interrupted'> {
  constructor(message: string, options: CauseOptions = {}) {
    super('interrupted', message, options);
  }
}

/** The worker shuts down; the turn continues on another one, from the journal. */
export class DrainError extends CapstanError<'draining'> {
  constructor(message: string, options: CauseOptions = {}) {
    super('draining', message, { ...options, retryable: true });
  }
}

/** The session belongs to another worker now; nothing more may be written. */
export class LeaseLostError extends HandoverError<'lease_lost'> {
  constructor(message: string, options: CauseOptions = {}) {
    super('lease_lost', message, options);
  }
}
