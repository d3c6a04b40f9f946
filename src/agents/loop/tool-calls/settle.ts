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
} from '../../log/build-events.ts';
import type { CallSlot } from '../../log/build-events.ts';
import { drainUnwritten } from '../turn/unwritten.ts';
import { buildBatches, decideCall } from './decide.ts';
import type { Arguments, CallFacts } from './decide.ts';
import { buildGroups, listRequestable, splitAtFirstRequest } from './order.ts';
import type { PlannedCall, RefusedCall, RunnableCall } from './order.ts';
import type { OpenStep, StepCall } from '../../log/event.ts';
import { buildMcpTool } from './mcp.ts';
import type { McpTool } from './runnable-tool.ts';
import { warnOfRepeats } from './repeats.ts';
import { findResultLimits, runTool } from './run-tool.ts';
import { startBatchSandbox } from './unsent.ts';
import { buildModelTools, buildOffered, findTool } from './toolbox.ts';
import type { FoundTool } from './toolbox.ts';
import { readArguments, readCallerArguments } from '../../tools/arguments.ts';
import { readClarifyInput } from '../../tools/clarify.ts';
import { buildResultBudget } from '../../tools/tool-result.ts';
import { InterruptedError } from '../turn/types.ts';
import type { PendingActionState, SettleDeps, Turn } from '../turn/types.ts';

/**
 * Brings the calls of the open step to their results in the order of the reply, up to the first one that needs the
 * caller. `waiting`: the pending actions are in the log and the lease is released.
 */
export async function settleCalls(step: OpenStep, turn: Turn, deps: SettleDeps): Promise<'settled' | 'waiting'> {
  const planned = await planCalls(step, turn, deps);
  const { leading, held } = splitAtFirstRequest(planned);
  for (const group of buildGroups(leading)) {
    if (group.kind === 'fail') {
      await refuseCalls(group.calls, step, turn, deps);
      continue;
    }
    for (const batch of buildBatches(group.calls)) {
      if (deps.signal.aborted) throw deps.signal.reason;
      if (deps.drain?.aborted === true) await handOver(step, turn, deps);
      await runBatch(batch, step, turn, deps);
    }
  }
  return await openPendingActions(held, step, turn, deps);
}

/** Stores the open step, so that another worker starts the calls that have not started here. Throws the reason. */
async function handOver(step: OpenStep, turn: Turn, deps: SettleDeps): Promise<never> {
  await deps.journal.append({ ...drainUnwritten(turn, []), turn: stepPatch(turn, step) });
  throw deps.drain?.reason;
}

async function planCalls(step: OpenStep, turn: Turn, deps: SettleDeps): Promise<PlannedCall[]> {
  // Calls of a reply that is not written yet have no pending actions.
  const isNew = turn.unwritten.length > 0;
  const actions = isNew ? [] : await deps.readPendingActions(turn.id);
  const permissions = await deps.readPermissions();
  const log = deps.journal.events.filter((event) => event.turnId === turn.id);
  const { toolConfigs } = deps.session;
  const offered = await listOfferedNames(step, deps);
  return step.calls.map((call) => {
    const found = findTool(toolConfigs, deps.tools, call.name, { mcp: findMcpTool(call, deps), offered });
    const facts = { ...gatherFacts(call, log, actions), unsent: step.unsent?.includes(call.useId) === true };
    return { call, plan: decideCall(call, { found, facts, permissions, readInput: (tool) => readInput(tool, call) }) };
  });
}

/** The names that the model was offered, where a call of the step names no tool. */
async function listOfferedNames(step: OpenStep, deps: SettleDeps): Promise<string[]> {
  const { toolConfigs } = deps.session;
  const isUnknown = ({ name, mcp }: StepCall) =>
    mcp === undefined && findTool(toolConfigs, deps.tools, name).kind === 'unknown';
  if (!step.calls.some(isUnknown)) return [];
  const offered = buildOffered(toolConfigs, await deps.mcp.listTools());
  return buildModelTools(toolConfigs, deps.tools, offered).map(({ name }) => name);
}

function findMcpTool({ mcp }: StepCall, deps: SettleDeps): McpTool | undefined {
  return mcp === undefined ? undefined : buildMcpTool(mcp, deps.mcp);
}

/** MCP servers check their own schemas. One object, because compiled schemas are cached by identity. */
const ANY_OBJECT = { type: 'object' };

function readInput(found: FoundTool, call: StepCall): Arguments {
  if (found.kind === 'builtin') return readArguments(found.tool.parameters, call.arguments);
  if (found.kind === 'custom') return readCallerArguments(found.schema, call.arguments);
  return readArguments(ANY_OBJECT, call.arguments);
}

function gatherFacts(call: StepCall, log: readonly LogEvent[], actions: readonly PendingActionState[]): CallFacts {
  const own = actions.filter(({ toolUseId }) => toolUseId === call.useId);
  const approval = own.find(
    ({ type, state }) => type === 'agent.approval_request' && (state === 'answered' || state === 'expired'),
  );
  const message = approval?.answer?.['message'];
  return {
    hasResult: log.some((event) => resultOf(event)?.useId === call.useId),
    announced: log.some((event) => isToolUse(event) && event.id === call.useId),
    waiting: own.some(({ state }) => state === 'pending'),
    approval:
      approval?.state === 'expired' ? 'expired' : (approval?.answer?.['result'] as 'allow' | 'deny' | undefined),
    denial: typeof message === 'string' ? message : undefined,
  };
}

/** Stores the open step with a write. */
function stepPatch(turn: Turn, step: OpenStep, state: TurnPatch['state'] = 'running'): TurnPatch {
  return { id: turn.id, state, steps: turn.steps, step, usage: turn.usage };
}

async function refuseCalls(
  refused: readonly RefusedCall[],
  step: OpenStep,
  turn: Turn,
  deps: SettleDeps,
): Promise<void> {
  const events = refused.flatMap(({ call, plan }) => {
    const place = { turnId: turn.id, step: step.number, call };
    const error = JSON.stringify({ error: plan.message });
    const content = warnOfRepeats(error, { call, input: plan.input }, deps.journal.events, turn.id);
    const result = buildResult(place, { content, isError: true, durationMs: 0 });
    return plan.announced ? [result] : [buildUse(place, plan), result];
  });
  await deps.journal.append({ ...drainUnwritten(turn, events), turn: stepPatch(turn, step) });
}

// Journal before effect: the uses are in the log before the first tool of the batch starts.
async function runBatch(batch: readonly RunnableCall[], step: OpenStep, turn: Turn, deps: SettleDeps): Promise<void> {
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
  const sandbox = await startBatchSandbox(batch, step, deps);
  if (uses.length > 0) {
    await deps.journal.append({ ...drainUnwritten(turn, uses), turn: stepPatch(turn, sandbox.announced) });
  }
  const store = (sent: OpenStep) => deps.journal.append({ events: [], turn: stepPatch(turn, sent) });
  const runDeps = { ...deps, openSandbox: sandbox.build(store) };
  const limits = findResultLimits(deps);
  const capResult = buildResultBudget(countResults(step, turn, deps), limits.step);
  const outcomes = await Promise.allSettled(
    batch.map(async ({ call, plan }) => {
      const result = await runTool({ call, ...plan }, capResult, turn, runDeps);
      const { events } = deps.journal;
      const content = result.isError
        ? warnOfRepeats(result.content, { call, input: plan.input }, events, turn.id)
        : result.content;
      await deps.journal.append({
        events: [buildResult({ turnId: turn.id, step: step.number, call }, { ...result, content })],
        ...(result.stateChanged ? { session: { toolState: turn.toolState } } : {}),
      });
    }),
  );
  for (const outcome of outcomes) {
    if (outcome.status === 'rejected') throw outcome.reason;
  }
}

/** Bytes of the step's results in the log. */
function countResults(step: OpenStep, turn: Turn, deps: SettleDeps): number {
  const uses = new Set(step.calls.map(({ useId }) => useId));
  return deps.journal.events
    .filter(({ turnId }) => turnId === turn.id)
    .flatMap((event) => resultOf(event) ?? [])
    .filter(({ useId }) => uses.has(useId))
    .reduce((sum, { text }) => sum + Buffer.byteLength(text), 0);
}

/** Asks for every call of `held` that needs a person, and has the caller run the custom tools that are next in order. */
async function openPendingActions(
  held: readonly PlannedCall[],
  step: OpenStep,
  turn: Turn,
  deps: SettleDeps,
): Promise<'settled' | 'waiting'> {
  if (held.length === 0) return 'settled';
  const requested = listRequestable(held).flatMap(({ call, plan }) => {
    const slot = { turnId: turn.id, step: step.number, call };
    return requestAction(slot, plan, deps.limits) ?? [];
  });
  const asks = requested.map(({ action }) => action);
  const open = [...(await readOpenActions(held, turn, deps)), ...asks];
  if (deps.signal.reason instanceof InterruptedError) throw deps.signal.reason;
  const deadlines = open.flatMap(({ deadline }) => (deadline === null ? [] : [deadline.getTime()]));
  const stop = { type: 'requires_action' as const, event_ids: open.map(({ id }) => id) };
  await deps.journal.append({
    ...drainUnwritten(turn, [
      ...requested.map(({ event }) => event),
      buildIdle({ turnId: turn.id }, { stop_reason: stop }),
    ]),
    asks,
    session: {
      status: 'waiting_on_human',
      wakeAt: deadlines.length === 0 ? null : new Date(Math.min(...deadlines)),
      toolState: turn.toolState,
      release: true,
    },
    turn: stepPatch(turn, step, 'waiting'),
  });
  return 'waiting';
}

async function readOpenActions(
  held: readonly PlannedCall[],
  turn: Turn,
  deps: SettleDeps,
): Promise<{ id: string; deadline: Date | null }[]> {
  if (!held.some(({ plan }) => plan.kind === 'wait')) return [];
  return (await deps.readPendingActions(turn.id)).filter(({ state }) => state === 'pending');
}

/** The event that asks the caller, and the pending action to store; undefined for a plan that needs no caller. */
function requestAction(
  slot: CallSlot,
  plan: PlannedCall['plan'],
  { customToolTimeoutMs, approvalMs }: SettleDeps['limits'],
): { event: NewEvent; action: NewPendingAction } | undefined {
  const { turnId, call } = slot;
  const common = { turnId, toolUseId: call.useId, toolName: call.name, deadline: null };
  switch (plan.kind) {
    case 'approve': {
      const event = buildApprovalRequest(slot, plan);
      const { approvalKey: toolName } = plan;
      const deadline = approvalMs === undefined ? null : new Date(Date.now() + approvalMs);
      return { event, action: { ...common, id: event.id, type: 'agent.approval_request', toolName, deadline } };
    }
    case 'custom': {
      const deadline = new Date(Date.now() + customToolTimeoutMs);
      const event = buildCustomUse(slot, plan.input);
      return { event, action: { ...common, id: event.id, type: 'agent.custom_tool_use', deadline } };
    }
    case 'clarify': {
      const { question, choices } = readClarifyInput(plan.input);
      const event = buildClarifyRequest(slot, question, choices);
      return { event, action: { ...common, id: event.id, type: 'agent.clarify_request' } };
    }
    default:
      return undefined;
  }
}
