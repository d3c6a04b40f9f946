import type { NewEvent } from '../../log/event.ts';
import { splitUsage } from '../../contract/usage.ts';
import type { StopReason } from '../../contract/events.ts';
import { DbUnavailableError } from '../../../platform/db/db.ts';
import { BudgetReachedError } from '../../../platform/errors.ts';
import { ModelError } from '../../../inference/model.ts';
import { findLateSteers } from '../../log/turns.ts';
import { isToolResult, isToolUse } from '../../log/read.ts';
import { buildIdle, buildResult } from '../../log/build-events.ts';
import { endNestedCalls, endThreads } from '../../log/build-nested-events.ts';
import { markConsumed, markPromptConsumed, runLoop } from './loop.ts';
import { drainUnwritten } from './unwritten.ts';
import { buildModelStop } from '../model-call/retries.ts';
import { buildDelegation } from '../subagents/thread.ts';
import { DrainError, InterruptedError, LeaseLostError } from './types.ts';
import type { Turn, TurnDeps } from './types.ts';

const UNEXPECTED = {
  type: 'error',
  code: 'internal',
  message: 'The turn failed unexpectedly.',
  retryable: false,
} as const;

/**
 * One turn, from wherever its journal stands to its end or to the next ask of the caller:
 *
 *     model call ──► no calls ──────────────────────────────► end
 *         ▲             │ calls
 *         │             ▼
 *         └── settled ── run · refuse · ask ── waiting ──► (answers wake a worker, which starts here again)
 *
 * Whatever way it ends, the last write releases the lease. Throws only what this worker must stop for: a lost lease,
 * a shutdown, a database that is away.
 */
export async function runTurn(turn: Turn, turnDeps: TurnDeps): Promise<'ended' | 'waiting'> {
  const deps = { ...turnDeps, delegation: buildDelegation(turn, turnDeps) };
  try {
    await endLostWork(turn, deps);
    const end = await runLoop(turn, deps);
    if (end === 'waiting') return end;
    if (end.type === 'error') deps.logError(new Error(end.message), 'turn failed', { code: end.code });
    return await endTurn(turn, deps, { stop_reason: end });
  } catch (error) {
    if (deps.signal.reason instanceof InterruptedError) return await endInterrupted(turn, deps);
    if (deps.signal.aborted || isHandedOver(error)) throw error;
    // What would fail again in the same way must not be tried for ever: it ends the turn, and its cause is in the log.
    const stop = decideStop(error);
    if (stop.type === 'error') deps.logError(error, 'turn failed', { code: stop.code });
    markPromptConsumed(turn, deps.journal.events);
    return await endTurn(turn, deps, { stop_reason: stop });
  }
}

/** How a turn ends that an error ends. */
function decideStop(error: unknown): StopReason {
  if (error instanceof BudgetReachedError) return { type: 'budget_reached', budget: error.budget };
  return error instanceof ModelError ? buildModelStop(error) : UNEXPECTED;
}

/** Whether another worker continues the turn. */
function isHandedOver(error: unknown): boolean {
  return error instanceof LeaseLostError || error instanceof DrainError || error instanceof DbUnavailableError;
}

/** What tools had begun on their own when another worker was lost, calls and subagents, goes no further. */
async function endLostWork(turn: Turn, deps: TurnDeps): Promise<void> {
  const events = endNestedWork(turn, deps, 'Interrupted: the outcome is unknown. Check before you repeat it.');
  if (events.length > 0) await deps.journal.append({ events });
}

function endNestedWork(turn: Turn, deps: TurnDeps, message: string): NewEvent[] {
  const own = deps.journal.events.filter((event) => event.turnId === turn.id);
  return [...endNestedCalls(own, message), ...endThreads(own, message)];
}

async function endTurn(
  turn: Turn,
  deps: TurnDeps,
  payload: { stop_reason: StopReason; interrupted?: true },
  more: { events?: NewEvent[]; cancelled?: string[] } = {},
): Promise<'ended'> {
  const latency = Math.max(0, Date.now() - turn.startedAt.getTime());
  const usage = { ...turn.usage, last_turn_latency_ms: latency, latency_ms: latency };
  const { events } = deps.journal;
  // Guidance that this turn has no place for stays in the log, and the wake-up with it, so that a crash loses neither.
  const late = findLateSteers(events.filter((event) => event.turnId === turn.id));
  await deps.journal.append({
    ...drainUnwritten(turn, [
      ...endNestedWork(turn, deps, 'The turn ended before this did.'),
      ...(more.events ?? []),
      buildIdle({ turnId: turn.id }, payload, usage),
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
    ...(more.cancelled === undefined ? {} : { closeAsks: { ids: more.cancelled, state: 'cancelled' } }),
  });
  return 'ended';
}

/** Running calls get a result that says so, pending actions are cancelled, and queued prompts run next. */
async function endInterrupted(turn: Turn, deps: TurnDeps): Promise<'ended'> {
  await deps.journal.refresh();
  const own = deps.journal.events.filter((event) => event.turnId === turn.id);
  const started = new Map(own.filter(isToolUse).map((event) => [event.id, Date.parse(event.createdAt)]));
  for (const { payload } of own.filter(isToolResult)) started.delete(payload.tool_use_id);
  const { step } = turn;
  const events = (step?.calls ?? []).flatMap((call) => {
    const begun = started.get(call.useId);
    if (step === null || begun === undefined) return [];
    const durationMs = Math.max(0, Date.now() - begun);
    const content = JSON.stringify({ error: 'Interrupted by the user.' });
    return [buildResult({ turnId: turn.id, step: step.number, call }, { content, isError: true, durationMs })];
  });
  const actions = await deps.readPendingActions(turn.id);
  markConsumed(turn, deps.journal.events);
  return await endTurn(
    turn,
    deps,
    { stop_reason: { type: 'end_turn' }, interrupted: true },
    {
      events,
      cancelled: actions.filter(({ state }) => state === 'pending').map(({ id }) => id),
    },
  );
}
