import { DbUnavailableError } from '../../../platform/db/db.ts';
import type { SandboxSession } from '../../../sandbox/sandbox.ts';
import type { StopReason } from '../../contract/events.ts';
import type { ToolConfig } from '../../contract/tools.ts';
import type { Usage } from '../../contract/usage.ts';
import { newId } from '../../../platform/ids.ts';
import { BudgetReachedError } from '../../../platform/errors.ts';
import { omitUndefined } from '../../../platform/records.ts';
import { ModelError } from '../../../inference/model.ts';
import type { DelegatedEnd, DelegatedTask, Delegation } from './delegation.ts';
import { buildNestedDeps, storedAt } from '../tool-calls/nested-call.ts';
import { runLoop } from '../turn/loop.ts';
import { findToolsetPolicy } from '../tool-calls/policy.ts';
import type { Change } from '../../log/entry.ts';
import { textOf, threadIdOf, toLogEvent } from '../../log/read.ts';
import { buildTurnStart } from '../../log/build-events.ts';
import { buildThreadReceived, buildThreadSent, endNestedCalls } from '../../log/build-nested-events.ts';
import type { ThreadSlot, ThreadStatus } from '../../log/build-nested-events.ts';
import type { Tool } from '../../tools/tool.ts';
import { InterruptedError, LeaseLostError } from '../turn/types.ts';
import type { LoopDeps, Turn } from '../turn/types.ts';
import { tagThreadCalls } from '../turn/call-record.ts';
import { addCounts, listNewCounts } from '../turn/usage.ts';

/** Model calls that a subagent may make. */
export const MAX_ITERATIONS = 50;

/** Tools that subagents do not have: they cannot start subagents or scripts, ask the user, or change memory. */
const WITHHELD = ['delegate_task', 'clarify', 'memory', 'execute_code'];

const NOTE =
  'You are a subagent. Another agent has given you the task that follows and sees nothing of your work but your last ' +
  'message. Nobody can be asked. Do the task with your tools, then answer with a short summary: what you did, what you ' +
  'found, which files you made or changed, and what is left open.';

/** The subagents of one call of a turn: new conversations with the turn's model, sandbox, tools and policies. */
export function buildDelegation(turn: Turn, deps: LoopDeps): (callId: string) => Delegation {
  return (callId) => ({
    toolsets: listToolsets(deps),
    run: (task) => new Subagent({ threadId: newId('trd'), turnId: turn.id, callId }, task, turn, deps).run(),
  });
}

function listToolsets(deps: LoopDeps): string[] {
  const { toolConfigs } = deps.session;
  const toolsets = listTools(deps, null)
    .filter(([, { toolset }]) => findToolsetPolicy(toolConfigs, toolset).enabled)
    .map(([, { toolset }]) => toolset);
  const servers = toolConfigs.flatMap((config) => (config.type === 'mcp_toolset' ? [config.mcpServerName] : []));
  return [...new Set([...toolsets, ...servers])];
}

function listTools(deps: LoopDeps, toolsets: readonly string[] | null): [string, Tool][] {
  return [...deps.tools].filter(
    ([name, { toolset }]) => !WITHHELD.includes(name) && (toolsets === null || toolsets.includes(toolset)),
  );
}

type ThreadEnd = Pick<DelegatedEnd, 'exitReason' | 'summary'>;

/** One subagent: a turn whose journal is part of its parent turn's journal. */
class Subagent {
  readonly #slot: ThreadSlot;
  readonly #task: DelegatedTask;
  readonly #parent: Turn;
  readonly #deps: LoopDeps;
  readonly #turn: Turn;
  readonly #started = performance.now();
  /** the usage that has been added to the parent turn */
  #counted: Usage = {};

  constructor(slot: ThreadSlot, task: DelegatedTask, parent: Turn, deps: LoopDeps) {
    this.#slot = slot;
    this.#task = task;
    this.#parent = parent;
    this.#deps = deps;
    this.#turn = openTurn(slot.threadId);
  }

  /** Runs the task to its end. Throws the signal's reason, or what the parent turn must stop for. */
  async run(): Promise<DelegatedEnd> {
    const { goal, context } = this.#task;
    const prompt = context === '' ? goal : `${goal}\n\nContext:\n${context}`;
    await this.#deps.journal.append({ events: [buildThreadSent(this.#slot, prompt)] });
    const end = await this.#work(prompt);
    const status = end.exitReason === 'completed' ? 'completed' : 'failed';
    const usage = await this.#close(status, end.summary);
    const durationMs = performance.now() - this.#started;
    return { ...end, threadId: this.#slot.threadId, status, usage, durationMs };
  }

  async #work(prompt: string): Promise<ThreadEnd> {
    const deps = this.#buildDeps(prompt);
    const { signal } = this.#deps;
    try {
      return readEnd(await runLoop(this.#turn, deps), this.#turn, deps);
    } catch (error) {
      if (signal.reason instanceof InterruptedError) {
        await this.#close('interrupted', 'Interrupted by the user.');
        throw signal.reason;
      }
      if (signal.aborted || error instanceof LeaseLostError || error instanceof DbUnavailableError) throw error;
      const isKnown = error instanceof ModelError || error instanceof BudgetReachedError;
      if (!isKnown) this.#deps.logError(error, 'subagent failed');
      const summary = isKnown ? error.message : 'The subagent failed unexpectedly.';
      return { exitReason: 'error', summary };
    }
  }

  /**
   * The parent turn with the subagent's usage, stored with each write: a crash loses no reply whose calls had started.
   */
  #snapshotTurn(): Change['turn'] {
    this.#parent.usage = addCounts(this.#parent.usage, listNewCounts(this.#turn.usage, this.#counted));
    this.#counted = this.#turn.usage;
    const { id, steps, step, usage } = this.#parent;
    return { id, state: 'running', steps, step, usage };
  }

  async #close(status: ThreadStatus, content: string): Promise<Usage> {
    const { journal } = this.#deps;
    const own = journal.events.filter((event) => threadIdOf(event) === this.#slot.threadId);
    const usage = { ...this.#turn.usage, latency_ms: performance.now() - this.#started };
    await journal.append({
      events: [...endNestedCalls(own, content), buildThreadReceived(this.#slot, { status, content, usage })],
      calls: tagThreadCalls(this.#turn.unwrittenCalls.splice(0), this.#parent.id, this.#slot.threadId),
      ...omitUndefined({ turn: this.#snapshotTurn() }),
    });
    return usage;
  }

  #buildDeps(text: string): LoopDeps {
    const { threadId, callId } = this.#slot;
    const { toolsets } = this.#task;
    const deps = this.#deps;
    const opening = toLogEvent(
      buildTurnStart({ turnId: threadId }, { kind: 'notice', text, eventId: null }),
      storedAt(1),
    );
    const { session, mcp, limits } = deps;
    const isChosen = (server: string) => toolsets === null || toolsets.includes(server);
    const nested = {
      tag: { parent_tool_use_id: callId, thread_id: threadId },
      events: [opening],
      snapshotTurn: () => this.#snapshotTurn(),
    };
    return {
      ...buildNestedDeps(this.#parent, deps, nested),
      reportWaiting: (waiting) => deps.reportWaiting(waiting, this.#parent.id),
      session: {
        ...session,
        promptNotes: [...session.promptNotes, NOTE],
        toolConfigs: session.toolConfigs.filter((config: ToolConfig) => config.type !== 'custom_tool'),
      },
      tools: new Map(listTools(deps, toolsets)),
      mcp: {
        listTools: async () => (await mcp.listTools()).filter(({ target }) => isChosen(target.server)),
        listUnavailable: async () => (await mcp.listUnavailable()).filter(({ serverName }) => isChosen(serverName)),
        listInstructions: async () => (await mcp.listInstructions()).filter(({ serverName }) => isChosen(serverName)),
        call: (target, input, signal) => mcp.call(target, input, signal),
      },
      openSandbox: async (signal) => openOwnShell(await deps.openSandbox(signal), threadId),
      limits: { ...limits, maxSteps: Math.min(MAX_ITERATIONS, limits.maxSteps) },
    };
  }
}

function openTurn(id: string): Turn {
  const empty = { steps: 0, step: null, usage: {}, unwritten: [], unwrittenCalls: [], consumed: [], toolState: {} };
  return { id, startedAt: new Date(), ...empty };
}

/** Parallel subagents share files and processes, but each has its own working directory. */
function openOwnShell(sandbox: SandboxSession, shell: string): SandboxSession {
  return {
    ...sandbox,
    run: (request, signal) => sandbox.run({ ...request, shell }, signal),
    startProcess: (request) => sandbox.startProcess({ ...request, shell }),
  };
}

function readEnd(stop: StopReason | 'waiting', child: Turn, { journal, limits }: LoopDeps): ThreadEnd {
  if (stop === 'waiting' || stop.type === 'requires_action') throw new Error('a subagent cannot wait for the caller');
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
