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
