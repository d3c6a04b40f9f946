import type { NewEvent } from '../../contract/journal.ts';
import { splitUsage } from '../../contract/usage.ts';
import type { StopReason } from '../../contract/events.ts';
import { DbUnavailableError } from '../../../platform/db/db.ts';
import { ModelError } from '../../../inference/model.ts';
import { buildResult } from '../tool-calls/call-events.ts';
import { buildIdle } from '../tool-calls/settle.ts';
import { findLateSteers } from '../history/build.ts';
import { endInnerCalls } from '../tool-calls/nested-call.ts';
import { runLoop, takeUp, takeUpPrompt } from './loop.ts';
import { buildDelegation } from '../subagents/thread.ts';
import { endThreads } from '../subagents/thread-events.ts';
import { InterruptedError, LeaseLostError } from './types.ts';
import type { Turn, TurnDeps } from './types.ts';
import { openWrite } from '../../log/write.ts';

/**
 * One turn, from wherever its journal stands to its end or to the next ask of the caller:
 *
 *     model call ──► no calls ──────────────────────────────► end
 *         ▲             │ calls
 *         │             ▼
 *         └── settled ── refuse · run · ask ── waiting ──► (answers wake a worker, which starts here again)
 *
 * Whatever way it ends, the last write releases the lease. Throws only what this worker must stop for: a lost lease,
 * a shutdown, a database that is away.
 */
export async function runTurn(turn: Turn, given: TurnDeps): Promise<'ended' | 'waiting'> {
  const deps = { ...given, delegation: buildDelegation(turn, given) };
  try {
    await endLostWork(turn, deps);
    const end = await runLoop(turn, deps);
    return end === 'waiting' ? end : await endTurn(turn, deps, { stop_reason: end });
  } catch (error) {
    if (deps.signal.reason instanceof InterruptedError) return await endInterrupted(turn, deps);
    if (deps.signal.aborted || error instanceof LeaseLostError || error instanceof DbUnavailableError) throw error;
    // What would fail again in the same way must not be tried for ever: it ends the turn, and its cause is in the log.
    if (!(error instanceof ModelError)) deps.report(error, 'turn failed');
    const message = error instanceof ModelError ? error.message : 'The turn failed unexpectedly.';
    takeUpPrompt(turn, deps);
    return await endTurn(turn, deps, { stop_reason: { type: 'error', message } });
  }
}

/** What tools had begun on their own when another worker was lost, calls and subagents, goes no further. */
async function endLostWork(turn: Turn, deps: TurnDeps): Promise<void> {
  const events = endInnerWork(turn, deps, 'Interrupted: the outcome is unknown. Check before you repeat it.');
  if (events.length > 0) await deps.journal.append({ events });
}

function endInnerWork(turn: Turn, deps: TurnDeps, message: string): NewEvent[] {
  const own = deps.journal.events.filter((event) => event.turnId === turn.id);
  return [...endInnerCalls(own, message), ...endThreads(own, message)];
}

async function endTurn(
  turn: Turn,
  deps: TurnDeps,
  payload: { stop_reason: StopReason; interrupted?: true },
  more: { events?: NewEvent[]; asks?: string[] } = {},
): Promise<'ended'> {
  const latency = Math.max(0, Date.now() - turn.startedAt.getTime());
  const usage = { ...turn.usage, last_turn_latency_ms: latency, latency_ms: latency };
  const { events } = deps.journal;
  // Guidance that this turn has no place for stays in the log, and the wake-up with it, so that a crash loses neither.
  const late = findLateSteers(events.filter((event) => event.turnId === turn.id));
  await deps.journal.append({
    ...openWrite(turn, [
      ...endInnerWork(turn, deps, 'The turn ended before this did.'),
      ...(more.events ?? []),
      buildIdle(turn.id, payload, usage),
    ]),
    turn: { id: turn.id, state: 'ended', steps: turn.steps, step: null, usage },
    session: {
      status: 'idle',
      liveTurn: null,
      wakeAt: late === undefined && deps.mayHaveGoal?.() !== true ? null : 'now',
      seen: events.at(-1)?.sequence ?? 0,
      toolState: turn.toolState,
      ...splitUsage(usage),
      clearInterrupt: true,
      release: true,
    },
    ...(more.asks === undefined ? {} : { closeAsks: { ids: more.asks, state: 'cancelled' } }),
  });
  return 'ended';
}

/** What was under way gets a result that says so; open asks are cancelled; queued prompts run next. */
async function endInterrupted(turn: Turn, deps: TurnDeps): Promise<'ended'> {
  await deps.journal.refresh();
  const own = deps.journal.events.filter((event) => event.turnId === turn.id);
  const started = new Map(
    own
      .filter((event) => event.type === 'agent.tool_use' || event.type === 'agent.mcp_tool_use')
      .map((event) => [event.id, Date.parse(event.createdAt)]),
  );
  for (const event of own) {
    if (event.type === 'agent.tool_result' || event.type === 'agent.mcp_tool_result')
      started.delete(String((event.payload as { tool_use_id?: string }).tool_use_id));
  }
  const { step } = turn;
  const events = (step?.calls ?? []).flatMap((call) => {
    const begun = started.get(call.useId);
    if (step === null || begun === undefined) return [];
    const durationMs = Math.max(0, Date.now() - begun);
    const content = JSON.stringify({ error: 'Interrupted by the user.' });
    return [buildResult({ turnId: turn.id, step: step.number, call }, { content, isError: true, durationMs })];
  });
  const asks = await deps.readAsks(turn.id);
  takeUp(turn, deps);
  return await endTurn(
    turn,
    deps,
    { stop_reason: { type: 'end_turn' }, interrupted: true },
    {
      events,
      asks: asks.filter((ask) => ask.state === 'pending').map((ask) => ask.id),
    },
  );
}
