// Tests: test/flow/delegation.test.ts
import type { Usage } from '../../contract/usage.ts';
import type { ThreadStatus } from '../../log/build-nested-events.ts';

export type DelegatedTask = {
  goal: string;
  /** context for the subagent; may be empty */
  context: string;
  /** toolsets and MCP servers that it may use; null: all that it can */
  toolsets: readonly string[] | null;
};

export type DelegatedEnd = {
  threadId: string;
  status: Exclude<ThreadStatus, 'interrupted'>;
  exitReason: 'completed' | 'max_iterations' | 'error';
  /** the subagent's last words, or why it failed */
  summary: string;
  durationMs: number;
  usage: Usage;
};

/** How a tool gives work to subagents of its session. */
export type Delegation = {
  /** what `toolsets` of a task may name */
  toolsets: readonly string[];
  /** Runs a subagent to its end. Throws the signal's reason. */
  run(task: DelegatedTask): Promise<DelegatedEnd>;
};
