import type { ToolsetName } from '../contract/toolsets.ts';
import type { SandboxSession } from '../../sandbox/sandbox.ts';
import type { ImagePart } from '../../inference/model.ts';
import type { Delegation } from '../loop/subagents/delegation.ts';
import type { ToolPorts } from './ports.ts';

/** What a session keeps between calls for its tools, by tool name: JSON, saved together with the call's result. */
export type ToolState = {
  get<T>(key: string): T | undefined;
  set(key: string, value: unknown): void;
};

/** Calls of the session's tools out of a script. */
export type ScriptCalls = {
  /** the tools that it may call at all */
  names: readonly string[];
  /** The result, or an error in its place, and whether the tool ran. Throws the signal's reason. */
  run(
    name: string,
    args: Record<string, unknown>,
    callId: string,
    signal: AbortSignal,
  ): Promise<{ content: string; ran: boolean }>;
};

export type ToolContext = ToolPorts & {
  /** The id of the tool use: the executor runs a call of this id once, however often it is sent. */
  callId: string;
  sessionId: string;
  organizationId: string;
  agentId: string;
  subjectId: string;
  /** Starts or finds the session's sandbox; the first caller pays for the start. */
  sandbox(): Promise<SandboxSession>;
  state: ToolState;
  /** Absent where a subagent calls. */
  delegation?: Delegation;
  /** The whole text of an attachment of this turn. Throws the signal's reason. */
  readAttachment(name: string): Promise<{ text: string } | { fault: string }>;
  /** Shows output to watchers before the result is there; the log does not keep it. Absent where nobody watches. */
  showOutput?: (text: string) => void;
  /** bytes that the result may have */
  resultLimit: number;
  /** Aborted by an interrupt: the tool stops within a second and its result is dropped. */
  signal: AbortSignal;
  /** Shows an image to a model that can read images and counts the call to the turn. Throws the signal's reason. */
  describeImage(image: ImagePart, question: string): Promise<{ analysis: string } | { fault: string }>;
  /** for the one tool that runs scripts */
  scriptCalls: ScriptCalls;
};

/** What the model reads. `content` is one string, JSON unless the tool says otherwise. */
export type ToolOutcome = { content: string; isError: boolean; images?: ImagePart[] };

/**
 * Whether calls of one reply may run at once: `shared` with any other shared call, `exclusive` with none, `paths` with
 * calls that touch other files.
 */
export type Parallelism = 'shared' | 'exclusive' | { paths: string[] };

export type Tool = {
  name: string;
  toolset: ToolsetName;
  /** what the model reads about it */
  description: string;
  /** Replaces `description`, for a tool whose description lists the tools of its scripts. */
  describe?(scriptTools: readonly string[]): string;
  /** JSON Schema of type object; what the model sees and what arguments are checked against after coercion */
  parameters: Record<string, unknown>;
  /** changes nothing: a call that a crash cut off is simply run again */
  readOnly: boolean;
  /**
   * Whatever it does, it does by calls of the sandbox under the id of its own call: repeated in the same sandbox it gives
   * the first one's outcome
   */
  resumable?: true;
  parallelism(input: Record<string, unknown>): Parallelism;
  /** Never throws for what the model did wrong: that is an outcome with `isError`. */
  run(input: Record<string, unknown>, context: ToolContext): Promise<ToolOutcome>;
};

/** The common failure: `{"error": "…"}`. */
export function failTool(message: string, extra: Record<string, unknown> = {}): ToolOutcome {
  return { content: JSON.stringify({ error: message, ...extra }), isError: true };
}

export function answerTool(value: unknown): ToolOutcome {
  return { content: JSON.stringify(value), isError: false };
}
