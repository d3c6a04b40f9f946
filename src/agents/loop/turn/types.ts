import type { EventEnvelope } from '../../contract/events.ts';
import type { Change } from '../../log/entry.ts';
import type { LogEvent, NewEvent } from '../../log/event.ts';
import type { ToolConfig } from '../../contract/tools.ts';
import type { Usage } from '../../contract/usage.ts';
import type { Inference } from '../../../inference/model.ts';
import type { SandboxSession } from '../../../sandbox/sandbox.ts';
import { CapstanError } from '../../../platform/errors.ts';
import type { CauseOptions } from '../../../platform/errors.ts';
import type { Permissions } from '../tool-calls/decide.ts';
import type { Delegation } from '../subagents/delegation.ts';
import type { AttachmentPort } from '../history/attachments.ts';
import type { OpenStep } from '../../log/event.ts';
import type { McpPort } from '../tool-calls/mcp.ts';
import type { ToolPorts } from '../../tools/ports.ts';
import type { Tool } from '../../tools/tool.ts';

/** The session's log, as read and as extended under the lease. */
export type Journal = {
  /** everything up to now, foreign events included */
  readonly events: readonly LogEvent[];
  /** Writes, and reads what others wrote meanwhile. Throws `LeaseLostError` when the session belongs to another worker. */
  append(change: Change): Promise<void>;
  /** Reads what others wrote. */
  refresh(): Promise<void>;
};

/** An ask as the worker finds it when it takes a turn up again. */
export type AskState = {
  id: string;
  type: string;
  toolUseId: string;
  state: 'pending' | 'answered' | 'expired' | 'cancelled';
  answer: Record<string, unknown> | null;
  deadline: Date | null;
};

/** What a turn is about; constant while it runs. */
export type TurnSession = {
  id: string;
  organizationId: string;
  agentId: string;
  subjectId: string;
  modelName: string;
  systemPrompt: string;
  /** what memory and skills add to it, the same for the whole session */
  promptNotes: readonly string[];
  /** those of the role, or of the version */
  toolConfigs: readonly ToolConfig[];
};

/** Where a turn stands. Changed by the loop as it goes; the journal holds the same. */
export type Turn = {
  id: string;
  startedAt: Date;
  /** model calls made */
  steps: number;
  step: OpenStep | null;
  usage: Usage;
  /** events of the reply that go with the next write */
  unwritten: NewEvent[];
  /** sequences of inbound events that the model has read and that the next write marks as processed */
  consumed: number[];
  toolState: Record<string, unknown>;
};

/** Everything that the loop reaches outside through. */
export type TurnDeps = {
  session: TurnSession;
  journal: Journal;
  inference: Inference;
  /** looks at images where the session's own model cannot */
  visionModel?: string;
  tools: ReadonlyMap<string, Tool>;
  mcp: McpPort;
  ports: ToolPorts;
  attachments: AttachmentPort;
  /** read anew for every decision, because callers change it while a turn runs */
  readPermissions(): Promise<Permissions>;
  readAsks(turnId: string): Promise<AskState[]>;
  openSandbox(signal: AbortSignal): Promise<SandboxSession>;
  /** for the call of this id; a turn makes it for itself, a subagent has none */
  delegation?: (callId: string) => Delegation;
  /** whether the session may have a goal that has to be looked at after the turn; absent: no */
  mayHaveGoal?(): boolean;
  sendLive(frame: Pick<EventEnvelope, 'id' | 'type' | 'status' | 'payload'>, turnId: string): void;
  /** Aborted with an `InterruptedError`, or with anything else when this worker must stop. */
  signal: AbortSignal;
  limits: { maxSteps: number; customToolTimeoutMs: number };
  /** for details that callers do not see */
  logError(error: unknown, what: string): void;
};

/** The caller asked to stop this turn. */
export class InterruptedError extends CapstanError<'interrupted'> {
  constructor(message: string, options: CauseOptions = {}) {
    super('interrupted', message, options);
  }
}

/** The session belongs to another worker now; nothing more may be written. */
export class LeaseLostError extends CapstanError<'lease_lost'> {
  constructor(message: string, options: CauseOptions = {}) {
    super('lease_lost', message, options);
  }
}
