import { DbUnavailableError } from '../../../platform/db/db.ts';
import type { SandboxSession } from '../../../sandbox/sandbox.ts';
import type { StopReason } from '../../contract/events.ts';
import type { ToolConfig } from '../../contract/tools.ts';
import type { Usage } from '../../contract/usage.ts';
import { newId } from '../../../platform/ids.ts';
import { ModelError } from '../../../inference/model.ts';
import type { DelegatedEnd, DelegatedTask, Delegation } from './delegation.ts';
import { buildNestedDeps, storedAt } from '../tool-calls/nested-call.ts';
import { runLoop } from '../turn/loop.ts';
import { findToolsetPolicy } from '../tool-calls/policy.ts';
import type { Change } from '../../log/entry.ts';
import { textOf, threadIdOf, toLogEvent } from '../../log/read.ts';
import { buildTurnStart } from '../../log/write.ts';
import { buildThreadReceived, buildThreadSent, endNestedCalls } from '../../log/write-nested.ts';
import type { ThreadSlot, ThreadStatus } from '../../log/write-nested.ts';
import type { Tool } from '../../tools/tool.ts';
import { InterruptedError, LeaseLostError } from '../turn/types.ts';
import type { Turn, TurnDeps } from '../turn/types.ts';
import { addCounts, listNewCounts } from '../turn/usage.ts';

/** Model calls that a subagent may make. */
export const MAX_ITERATIONS = 50;

/** Never a subagent's: it has no subagents, nobody to ask, and no say in what is remembered. */
const WITHHELD = ['delegate_task', 'clarify', 'memory', 'execute_code'];

const NOTE =
  'You are a subagent. Another agent has given you the task that follows and sees nothing of your work but your last ' +
  'message. Nobody can be asked. Do the task with your tools, then answer with a short summary: what you did, what you ' +
  'found, which files you made or changed, and what is left open.';

/** Subagents of one turn, for the call of this id: fresh conversations over the turn's model, sandbox, tools and policies. */
export function buildDelegation(turn: Turn, deps: TurnDeps): (callId: string) => Delegation {
  return (callId) => ({
    toolsets: listToolsets(deps),
    run: (task) => runThread(task, { threadId: newId('trd'), turnId: turn.id, callId }, turn, deps),
  });
}

function listToolsets(deps: TurnDeps): string[] {
  const { toolConfigs } = deps.session;
  const toolsets = listTools(deps, null)
    .filter(([, { toolset }]) => findToolsetPolicy(toolConfigs, toolset).enabled)
    .map(([, { toolset }]) => toolset);
  const servers = toolConfigs.flatMap((config) => (config.type === 'mcp_toolset' ? [config.mcpServerName] : []));
  return [...new Set([...toolsets, ...servers])];
}

function listTools(deps: TurnDeps, toolsets: readonly string[] | null): [string, Tool][] {
  return [...deps.tools].filter(
    ([name, { toolset }]) => !WITHHELD.includes(name) && (toolsets === null || toolsets.includes(toolset)),
  );
}

async function runThread(task: DelegatedTask, place: ThreadSlot, turn: Turn, deps: TurnDeps): Promise<DelegatedEnd> {
  const prompt = task.context === '' ? task.goal : `${task.goal}\n\nContext:\n${task.context}`;
  await deps.journal.append({ events: [buildThreadSent(place, prompt)] });
  const started = performance.now();
  const child = openThread(place.threadId);
  let counted: Usage = {};
  const childDeps = buildThreadDeps(task, prompt, place, turn, deps, keepTurn);
  let end: Pick<DelegatedEnd, 'exitReason' | 'summary'>;
  try {
    end = readEnd(await runLoop(child, childDeps), child, childDeps);
  } catch (error) {
    if (deps.signal.reason instanceof InterruptedError) {
      await closeThread({ status: 'interrupted', content: 'Interrupted by the user.' });
      throw deps.signal.reason;
    }
    if (deps.signal.aborted || error instanceof LeaseLostError || error instanceof DbUnavailableError) throw error;
    if (!(error instanceof ModelError)) deps.logError(error, 'a subagent failed');
    const message = error instanceof ModelError ? error.message : 'The subagent failed unexpectedly.';
    end = { exitReason: 'error', summary: message };
  }
  const status = end.exitReason === 'completed' ? 'completed' : 'failed';
  const usage = await closeThread({ status, content: end.summary });
  return { ...end, threadId: place.threadId, status, usage, durationMs: performance.now() - started };

  // Counted into the turn with each write of the subagent's: a crash loses no reply that had come to its calls.
  function keepTurn(): Change['turn'] {
    turn.usage = addCounts(turn.usage, listNewCounts(child.usage, counted));
    counted = child.usage;
    const { id, steps, step, usage } = turn;
    return { id, state: 'running', steps, step, usage };
  }

  async function closeThread({ status: how, content }: { status: ThreadStatus; content: string }) {
    const own = deps.journal.events.filter((event) => threadIdOf(event) === place.threadId);
    const used = { ...child.usage, latency_ms: performance.now() - started };
    await deps.journal.append({
      events: [...endNestedCalls(own, content), buildThreadReceived(place, { status: how, content, usage: used })],
      turn: keepTurn(),
    });
    return used;
  }
}

function openThread(id: string): Turn {
  return { id, startedAt: new Date(), steps: 0, step: null, usage: {}, unwritten: [], consumed: [], toolState: {} };
}

function buildThreadDeps(
  { toolsets }: DelegatedTask,
  text: string,
  { threadId, callId }: ThreadSlot,
  turn: Turn,
  deps: TurnDeps,
  keepTurn: () => Change['turn'],
): TurnDeps {
  const prompt = { kind: 'notice', text, eventId: null } as const;
  const opening = toLogEvent(buildTurnStart({ turnId: threadId }, prompt), storedAt(1));
  const { session, mcp, limits } = deps;
  const isChosen = (server: string) => toolsets === null || toolsets.includes(server);
  return {
    ...buildNestedDeps(
      turn,
      deps,
      { parent_tool_use_id: callId, thread_id: threadId },
      { events: [opening], keepTurn },
    ),
    session: {
      ...session,
      promptNotes: [...session.promptNotes, NOTE],
      toolConfigs: session.toolConfigs.filter((config: ToolConfig) => config.type !== 'custom_tool'),
    },
    tools: new Map(listTools(deps, toolsets)),
    mcp: {
      listTools: async () => (await mcp.listTools()).filter(({ target }) => isChosen(target.server)),
      call: (target, input, signal) => mcp.call(target, input, signal),
    },
    openSandbox: async (signal) => openOwnShell(await deps.openSandbox(signal), threadId),
    limits: { ...limits, maxSteps: Math.min(MAX_ITERATIONS, limits.maxSteps) },
  };
}

/** Subagents side by side share files and processes; where one goes by `cd`, the others stay. */
function openOwnShell(sandbox: SandboxSession, shell: string): SandboxSession {
  return {
    ...sandbox,
    run: (request, signal) => sandbox.run({ ...request, shell }, signal),
    startProcess: (request) => sandbox.startProcess({ ...request, shell }),
  };
}

function readEnd(
  stop: StopReason | 'waiting',
  child: Turn,
  { journal, limits }: TurnDeps,
): Pick<DelegatedEnd, 'exitReason' | 'summary'> {
  if (stop === 'waiting' || stop.type === 'requires_action') throw new Error('a subagent waits for its caller');
  const said = [...journal.events, ...child.unwritten].findLast(({ payload }) => payload.type === 'agent.message');
  const text = said === undefined ? '' : textOf(said.payload);
  if (stop.type === 'error') {
    const exitReason = child.steps >= limits.maxSteps ? 'max_iterations' : 'error';
    return { exitReason, summary: text === '' ? stop.message : `${stop.message} It said last:\n${text}` };
  }
  if (child.unwritten.every(({ payload }) => payload.type !== 'agent.message')) {
    return { exitReason: 'error', summary: 'The subagent ended without an answer.' };
  }
  return { exitReason: 'completed', summary: text };
}
