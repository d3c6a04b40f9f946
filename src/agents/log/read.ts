import type { LogEvent, TurnPrompt } from '../contract/journal.ts';
import type { McpTarget } from '../contract/mcp.ts';

/** Where an event stands in the model's reply. In `internal` of everything that a reply leads to. */
export type StepMark = { step: number; index: number; callId?: string };

/** A call that the model asked for. `useId` is what callers see, `callId` what the model knows. */
export type StepCall = {
  useId: string;
  index: number;
  callId: string;
  name: string;
  arguments: string;
  /** of a tool of an MCP server */
  mcp?: McpTarget;
};

/** A model reply whose calls are not all done: the journal of the turn. */
export type OpenStep = { number: number; calls: StepCall[] };

export function findPrompt(event: LogEvent): TurnPrompt | undefined {
  return event.internal?.['prompt'] as TurnPrompt | undefined;
}

export function findMark(event: LogEvent): StepMark | undefined {
  const mark = event.internal;
  return typeof mark?.['step'] === 'number' ? (mark as unknown as StepMark) : undefined;
}

/** Where a call stands that was made inside another one, in the payload of its use and its result. */
export type InnerMark = {
  /** the use of the tool that made it */
  parent_tool_use_id: string;
  /** the subagent that made it */
  thread_id?: string;
};

/** Of a call made inside another one: the model has not asked for it, and does not read it. */
export function isInner(event: Pick<LogEvent, 'payload'>): boolean {
  return 'parent_tool_use_id' in event.payload;
}
