import type { EvaluatedPermission } from '../../contract/events.ts';
import type { StepCall } from '../../log/event.ts';
import { decidePermission } from './policy.ts';
import type { FoundTool, RunnableTool } from './toolbox.ts';

/** What is to be done about one call of the open step. */
export type CallPlan =
  /** has its result */
  | { kind: 'done' }
  /** its ask is open */
  | { kind: 'wait' }
  | {
      kind: 'run';
      tool: RunnableTool;
      toolset: string | null;
      input: Record<string, unknown>;
      permission: EvaluatedPermission;
      announced: boolean;
    }
  /** refused or impossible: a use and an error result */
  | {
      kind: 'fail';
      message: string;
      toolset: string | null;
      input: unknown;
      permission: EvaluatedPermission;
      announced: boolean;
    }
  | { kind: 'approve'; toolset: string | null; of: 'builtin' | 'mcp' | 'custom'; approvalKey: string; input: unknown }
  | { kind: 'custom'; input: unknown }
  | { kind: 'clarify'; input: Record<string, unknown> };

/** What the log and the asks say about a call. */
export type CallFacts = {
  hasResult: boolean;
  /** `agent.tool_use` is in the log: the tool may have run */
  announced: boolean;
  /** the ask that is open for the call: approval, custom tool or clarification */
  waiting: boolean;
  /** the answer to its approval */
  approval: 'allow' | 'deny' | undefined;
};

/** What callers have allowed by now. */
export type Permissions = {
  yoloMode: boolean;
  /** approval keys of tools that are allowed for the session or for good */
  approved: ReadonlySet<string>;
  /** the call is made inside another one, where nobody can be asked */
  unattended?: true;
};

type Arguments = { input: Record<string, unknown> } | { error: string };

const NOT_APPROVED =
  'This tool needs an approval, which cannot be asked for here, so it was not run. It runs once it is approved for the session.';

/** Pure: the same log and policy lead to the same plan, whichever worker asks. */
export function decideCall(
  call: StepCall,
  found: FoundTool,
  facts: CallFacts,
  session: Permissions,
  readInput: (found: FoundTool) => Arguments,
): CallPlan {
  if (facts.hasResult) return { kind: 'done' };
  if (facts.waiting) return { kind: 'wait' };
  const { announced } = facts;
  const fail = (
    message: string,
    input: unknown,
    permission: EvaluatedPermission,
    toolset: string | null,
  ): CallPlan => ({
    kind: 'fail',
    message,
    toolset,
    input,
    permission,
    announced,
  });
  if (found.kind === 'unknown') return fail(`There is no tool named ${call.name}.`, readRaw(call), 'deny', null);
  const toolset = found.kind === 'builtin' ? found.tool.toolset : null;
  const args = readInput(found);
  const input = 'input' in args ? args.input : readRaw(call);
  // Before any permission: whatever is allowed by now, the tool may have run.
  if (announced && found.kind !== 'custom' && !found.tool.readOnly) {
    return fail('Interrupted: the outcome is unknown. Check before you repeat it.', input, 'ask', toolset);
  }
  const exempt = toolset === 'clarify' || toolset === 'todo';
  const approved = session.approved.has(found.approvalKey) || facts.approval === 'allow';
  const verdict = decidePermission(found.policy, { yoloMode: session.yoloMode, approved, exempt });
  if (verdict.action === 'deny') return fail('This tool is not permitted here.', input, 'deny', toolset);
  if (facts.approval === 'deny') return fail('The user denied this call.', input, 'deny', toolset);
  if ('error' in args) return fail(args.error, input, verdict.permission, toolset);
  if (verdict.action === 'ask') {
    if (session.unattended) return fail(NOT_APPROVED, input, 'ask', toolset);
    return { kind: 'approve', toolset, of: found.kind, approvalKey: found.approvalKey, input };
  }
  if (found.kind === 'custom') return { kind: 'custom', input };
  if (toolset === 'clarify') return { kind: 'clarify', input: args.input };
  return { kind: 'run', tool: found.tool, toolset, input: args.input, permission: verdict.permission, announced };
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
