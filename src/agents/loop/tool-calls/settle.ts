import type { NewPendingAction, TurnPatch } from '../../log/entry.ts';
import type { LogEvent, NewEvent } from '../../log/event.ts';
import { isToolUse, resultOf } from '../../log/read.ts';
import {
  buildApprovalRequest,
  buildClarifyRequest,
  buildCustomUse,
  buildIdle,
  buildResult,
  buildUse,
} from '../../log/write.ts';
import { drainUnwritten } from '../turn/unwritten.ts';
import { buildBatches, decideCall } from './decide.ts';
import type { CallFacts, CallPlan } from './decide.ts';
import type { OpenStep, StepCall } from '../../log/event.ts';
import { buildMcpTool } from './mcp.ts';
import type { McpTool } from './mcp.ts';
import { runTool } from './run-tool.ts';
import { findTool } from './toolbox.ts';
import type { FoundTool } from './toolbox.ts';
import { readArguments } from '../../tools/arguments.ts';
import { readClarifyInput } from '../../tools/clarify.ts';
import { buildResultBudget } from '../../tools/tool-result.ts';
import { InterruptedError } from '../turn/types.ts';
import type { AskState, Turn, TurnDeps } from '../turn/types.ts';

type Planned = { call: StepCall; plan: CallPlan };

/**
 * Brings every call of the open step to its result, or as far as it goes without the caller. `waiting`: the asks are
 * in the log and the lease is given back.
 */
export async function settleCalls(step: OpenStep, turn: Turn, deps: TurnDeps): Promise<'settled' | 'waiting'> {
  const planned = await planCalls(step, turn, deps);
  await refuseCalls(planned, step, turn, deps);
  const runnable = planned.flatMap(({ call, plan }) => (plan.kind === 'run' ? [{ call, plan }] : []));
  for (const batch of buildBatches(runnable)) {
    if (deps.signal.aborted) throw deps.signal.reason;
    await runBatch(batch, step, turn, deps);
  }
  return await askCaller(planned, step, turn, deps);
}

async function planCalls(step: OpenStep, turn: Turn, deps: TurnDeps): Promise<Planned[]> {
  const fresh = turn.unwritten.length > 0;
  const asks = fresh ? [] : await deps.readAsks(turn.id);
  const permissions = await deps.readPermissions();
  const log = deps.journal.events.filter((event) => event.turnId === turn.id);
  return step.calls.map((call) => {
    const found = findTool(deps.session.toolConfigs, deps.tools, call.name, findMcpTool(call, deps));
    const plan = decideCall(call, found, gatherFacts(call, log, asks), permissions, (tool) => readInput(tool, call));
    return { call, plan };
  });
}

function findMcpTool({ mcp }: StepCall, deps: TurnDeps): McpTool | undefined {
  return mcp === undefined ? undefined : buildMcpTool(mcp, deps.mcp);
}

/** A schema of the caller or of a server is theirs to check. One object, since the compiled form is kept by identity. */
const ANY_OBJECT = { type: 'object' };

function readInput(found: FoundTool, call: StepCall): { input: Record<string, unknown> } | { error: string } {
  if (found.kind === 'builtin') return readArguments(found.tool.parameters, call.arguments);
  return readArguments(ANY_OBJECT, call.arguments);
}

function gatherFacts(call: StepCall, log: readonly LogEvent[], asks: readonly AskState[]): CallFacts {
  const own = asks.filter((ask) => ask.toolUseId === call.useId);
  const approval = own.find((ask) => ask.type === 'agent.approval_request' && ask.state === 'answered');
  return {
    hasResult: log.some((event) => resultOf(event)?.useId === call.useId),
    announced: log.some((event) => isToolUse(event) && event.id === call.useId),
    waiting: own.some((ask) => ask.state === 'pending'),
    approval: approval?.answer?.['result'] as 'allow' | 'deny' | undefined,
  };
}

/** The step as it stands, for any write while it is open. */
function keepStep(turn: Turn, step: OpenStep, state: TurnPatch['state'] = 'running'): TurnPatch {
  return { id: turn.id, state, steps: turn.steps, step, usage: turn.usage };
}

async function refuseCalls(planned: readonly Planned[], step: OpenStep, turn: Turn, deps: TurnDeps): Promise<void> {
  const events = planned.flatMap(({ call, plan }) => {
    if (plan.kind !== 'fail') return [];
    const place = { turnId: turn.id, step: step.number, call };
    const content = JSON.stringify({ error: plan.message });
    const result = buildResult(place, { content, isError: true, durationMs: 0 });
    return plan.announced ? [result] : [buildUse(place, plan), result];
  });
  if (events.length === 0) return;
  await deps.journal.append({ ...drainUnwritten(turn, events), turn: keepStep(turn, step) });
}

// Journal before effect: the uses are in the log before the first tool of the batch starts.
async function runBatch(
  batch: { call: StepCall; plan: Extract<CallPlan, { kind: 'run' }> }[],
  step: OpenStep,
  turn: Turn,
  deps: TurnDeps,
): Promise<void> {
  const uses = batch.flatMap(({ call, plan }) =>
    plan.announced
      ? []
      : [
          buildUse(
            { turnId: turn.id, step: step.number, call },
            { toolset: plan.toolset, input: plan.input, permission: plan.permission },
          ),
        ],
  );
  if (uses.length > 0) {
    await deps.journal.append({ ...drainUnwritten(turn, uses), turn: keepStep(turn, step) });
  }
  const fit = buildResultBudget(countResults(step, turn, deps));
  const outcomes = await Promise.allSettled(
    batch.map(async ({ call, plan }) => {
      const result = await runTool(call, plan.tool, plan.input, fit, turn, deps);
      await deps.journal.append({
        events: [buildResult({ turnId: turn.id, step: step.number, call }, result)],
        ...(result.stateChanged ? { session: { toolState: turn.toolState } } : {}),
      });
    }),
  );
  for (const outcome of outcomes) {
    if (outcome.status === 'rejected') throw outcome.reason;
  }
}

/** Characters of the step's results that are in the log. */
function countResults(step: OpenStep, turn: Turn, deps: TurnDeps): number {
  const uses = new Set(step.calls.map(({ useId }) => useId));
  return deps.journal.events
    .filter(({ turnId }) => turnId === turn.id)
    .flatMap((event) => resultOf(event) ?? [])
    .filter(({ useId }) => uses.has(useId))
    .reduce((sum, { text }) => sum + text.length, 0);
}

async function askCaller(
  planned: readonly Planned[],
  step: OpenStep,
  turn: Turn,
  deps: TurnDeps,
): Promise<'settled' | 'waiting'> {
  const events: NewEvent[] = [];
  const asks: NewPendingAction[] = [];
  for (const { call, plan } of planned) {
    const ask = buildAsk(call, plan, step, turn, deps);
    if (ask === undefined) continue;
    events.push(ask.event);
    asks.push(ask.ask);
  }
  const open = (await readOpenAsks(planned, turn, deps)).concat(asks);
  if (open.length === 0) return 'settled';
  if (deps.signal.reason instanceof InterruptedError) throw deps.signal.reason;
  const deadlines = open.flatMap((ask) => (ask.deadline === null ? [] : [ask.deadline.getTime()]));
  const stop = { type: 'requires_action' as const, event_ids: open.map((ask) => ask.id) };
  await deps.journal.append({
    ...drainUnwritten(turn, [...events, buildIdle({ turnId: turn.id }, { stop_reason: stop })]),
    asks,
    session: {
      status: 'waiting_on_human',
      wakeAt: deadlines.length === 0 ? null : new Date(Math.min(...deadlines)),
      toolState: turn.toolState,
      release: true,
    },
    turn: keepStep(turn, step, 'waiting'),
  });
  return 'waiting';
}

async function readOpenAsks(
  planned: readonly Planned[],
  turn: Turn,
  deps: TurnDeps,
): Promise<{ id: string; deadline: Date | null }[]> {
  if (!planned.some(({ plan }) => plan.kind === 'wait')) return [];
  return (await deps.readAsks(turn.id)).filter((ask) => ask.state === 'pending');
}

function buildAsk(
  call: StepCall,
  plan: CallPlan,
  step: OpenStep,
  turn: Turn,
  deps: TurnDeps,
): { event: NewEvent; ask: NewPendingAction } | undefined {
  const place = { turnId: turn.id, step: step.number, call };
  const ask = { turnId: turn.id, toolUseId: call.useId, toolName: call.name, deadline: null };
  switch (plan.kind) {
    case 'approve': {
      const event = buildApprovalRequest(place, plan);
      return { event, ask: { ...ask, id: event.id, type: 'agent.approval_request', toolName: plan.approvalKey } };
    }
    case 'custom': {
      const deadline = new Date(Date.now() + deps.limits.customToolTimeoutMs);
      const event = buildCustomUse(place, plan.input);
      return { event, ask: { ...ask, id: event.id, type: 'agent.custom_tool_use', deadline } };
    }
    case 'clarify': {
      const { question, choices } = readClarifyInput(plan.input);
      const event = buildClarifyRequest(place, question, choices);
      return { event, ask: { ...ask, id: event.id, type: 'agent.clarify_request' } };
    }
    default:
      return undefined;
  }
}
