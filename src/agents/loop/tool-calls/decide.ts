import type { EvaluatedPermission } from '../../contract/events.ts';
import { omitUndefined } from '../../../platform/records.ts';
import type { StepCall } from '../../log/event.ts';
import { decidePermission } from './policy.ts';
import type { ApprovalRule, Verdict } from './policy.ts';
import type { RunnableTool } from './runnable-tool.ts';
import { describeCutOff } from './repeats.ts';
import type { FoundTool } from './toolbox.ts';

/** What to do about one call of the open step. */
export type CallPlan =
  /** the call has its result */
  | { kind: 'done' }
  /** its pending action is open */
  | { kind: 'wait' }
  | {
      kind: 'run';
      tool: RunnableTool;
      toolset: string | null;
      input: Record<string, unknown>;
      permission: EvaluatedPermission;
      announced: boolean;
      /** another worker has started it: only its outcome is wanted, if the sandbox has it */
      resume?: true;
    }
  /** refused or impossible: write a use and an error result */
  | {
      kind: 'fail';
      message: string;
      toolset: string | null;
      input: unknown;
      permission: EvaluatedPermission;
      announced: boolean;
    }
  | {
      kind: 'approve';
      toolset: string | null;
      of: 'builtin' | 'mcp' | 'custom';
      approvalKey: string;
      input: unknown;
      approvalRule?: ApprovalRule;
    }
  | { kind: 'custom'; input: unknown }
  | { kind: 'clarify'; input: Record<string, unknown> };

/** What the log and the pending actions say about a call. */
export type CallFacts = {
  hasResult: boolean;
  /** `agent.tool_use` is in the log: the tool may have run */
  announced: boolean;
  /** announced, but no sandbox has received it */
  unsent?: boolean;
  /** a pending action is open for the call: an approval, a custom tool or a clarification */
  waiting: boolean;
  /** the answer to its approval; `expired`: there was none in time */
  approval: 'allow' | 'deny' | 'expired' | undefined;
  /** the message of the denial */
  denial?: string | undefined;
};

/** The permissions that callers have granted so far. */
export type Permissions = {
  yoloMode: boolean;
  /** approval keys of tools that are allowed for the session or for good */
  approved: ReadonlySet<string>;
  /** a nested call, for which no approval can be requested */
  unattended?: true;
};

export type Arguments = { input: Record<string, unknown> } | { error: string };

/** For a call whose worker was lost. */
export const OUTCOME_UNKNOWN = 'Interrupted: the outcome is unknown. Check before you repeat it.';

const NOT_APPROVED =
  'This tool needs an approval, which cannot be asked for here, so it was not run. It runs once it is approved for the session.';

/** The input of a decision about a call. */
export type CallContext = {
  found: FoundTool;
  facts: CallFacts;
  permissions: Permissions;
  /** parses the arguments of the call for the tool it names */
  readInput: (found: Exclude<FoundTool, { kind: 'unknown' }>) => Arguments;
};

/** Pure: the same log and policy lead to the same plan, whichever worker asks. */
export function decideCall(call: StepCall, { found, facts, permissions, readInput }: CallContext): CallPlan {
  if (facts.hasResult) return { kind: 'done' };
  if (facts.waiting) return { kind: 'wait' };
  const { announced } = facts;
  if (found.kind === 'unknown') {
    const message = describeUnknown(call.name, found.similar);
    return { kind: 'fail', message, input: readRaw(call), permission: 'deny', toolset: null, announced };
  }
  const toolset = found.kind === 'builtin' ? found.tool.toolset : null;
  const args = readInput(found);
  const input = 'input' in args ? args.input : readRaw(call);
  const fail = (message: string, permission: EvaluatedPermission): CallPlan => {
    return { kind: 'fail', message, input, permission, toolset, announced };
  };
  // Checked before any permission, because the tool may already have run.
  if (announced && found.kind !== 'custom' && !found.tool.readOnly) {
    return planResume(found, args, facts) ?? fail(OUTCOME_UNKNOWN, 'ask');
  }
  const verdict = evaluatePolicy(found, toolset, facts, permissions);
  if (verdict.action === 'deny') return fail('This tool is not permitted here.', 'deny');
  if (facts.approval === 'deny') return fail(describeDenial(facts.denial), 'deny');
  if (facts.approval === 'expired') return fail('Nobody approved this call in time, so it was denied.', 'deny');
  if (call.cutOffAt !== undefined) return fail(describeCutOff(call.cutOffAt), verdict.permission);
  if ('error' in args) return fail(args.error, verdict.permission);
  if (verdict.action === 'ask') {
    if (permissions.unattended) return fail(NOT_APPROVED, 'ask');
    const { approvalRule } = found.policy;
    const request = { toolset, of: found.kind, approvalKey: found.approvalKey, input };
    return { kind: 'approve', ...request, ...omitUndefined({ approvalRule }) };
  }
  if (found.kind === 'custom') return { kind: 'custom', input };
  if (toolset === 'clarify') return { kind: 'clarify', input: args.input };
  return { kind: 'run', tool: found.tool, toolset, input: args.input, permission: verdict.permission, announced };
}

/** For a call that another worker has started. Undefined if nothing can tell its outcome. */
function planResume(found: FoundTool, args: Arguments, { unsent = false }: CallFacts): CallPlan | undefined {
  if (found.kind !== 'builtin' || 'error' in args) return undefined;
  const { tool } = found;
  if (!unsent && tool.resumable !== true) return undefined;
  return {
    kind: 'run',
    tool,
    toolset: tool.toolset,
    input: args.input,
    permission: 'ask',
    announced: true,
    ...(unsent ? {} : { resume: true }),
  };
}

function describeDenial(message: string | undefined): string {
  return message === undefined ? 'The user denied this call.' : `The user denied this call: ${message}`;
}

function describeUnknown(name: string, similar: readonly string[]): string {
  const hint = similar.length === 0 ? 'Use only the tools you were given.' : `Did you mean ${similar.join(', ')}?`;
  return `There is no tool named ${name}. ${hint}`;
}

function evaluatePolicy(
  found: Exclude<FoundTool, { kind: 'unknown' }>,
  toolset: string | null,
  facts: CallFacts,
  { approved, yoloMode }: Permissions,
): Verdict {
  const isApproved = approved.has(found.approvalKey) || facts.approval === 'allow';
  const exempt = toolset === 'clarify' || toolset === 'todo';
  return decidePermission(found.policy, { yoloMode, approved: isApproved, exempt });
}

function readRaw(call: StepCall): unknown {
  try {
    return JSON.parse(call.arguments) as unknown;
  } catch {
    return { raw: call.arguments };
  }
}

type Runnable = { call: StepCall; plan: Extract<CallPlan, { kind: 'run' }> };

/**
 * Calls in order, those that may run at once together: calls that only share, or calls that change different files;
 * never both, since a search may read any file.
 */
export function buildBatches(runnable: readonly Runnable[]): Runnable[][] {
  const batches: Runnable[][] = [];
  let kind: 'shared' | 'paths' | 'exclusive' | undefined;
  let paths = new Set<string>();
  for (const item of runnable) {
    const mode = item.plan.tool.parallelism(item.plan.input);
    const own = typeof mode === 'object' ? mode.paths : [];
    const ownKind = typeof mode === 'object' ? 'paths' : mode;
    const fits = ownKind === kind && kind !== 'exclusive' && !own.some((path) => paths.has(path));
    if (fits) batches.at(-1)?.push(item);
    else batches.push([item]);
    if (!fits) paths = new Set();
    kind = ownKind;
    own.forEach((path) => paths.add(path));
  }
  return batches;
}
