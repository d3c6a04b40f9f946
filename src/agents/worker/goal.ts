import { setTimeout as sleep } from 'node:timers/promises';
import { buildBlocks } from '../log/blocks.ts';
import { readLastTurn } from '../log/turns.ts';
import type { LastTurn } from '../log/turns.ts';
import { buildIdle, buildMessage, buildTurnStart } from '../log/build-events.ts';
import { askJudge, decideGoal } from '../loop/goal/goal.ts';
import type { GoalStep, Verdict } from '../loop/goal/goal.ts';
import { InterruptedError, LeaseLostError } from '../loop/turn/types.ts';
import { buildCallRecord } from '../loop/turn/call-record.ts';
import { addCall } from '../loop/turn/usage.ts';
import { splitUsage } from '../contract/usage.ts';
import type { Db } from '../../platform/db/db.ts';
import type { EventEnvelope } from '../contract/events.ts';
import { readGoalPhrase } from '../contract/goals.ts';
import type { GoalState } from '../contract/goals.ts';
import type { JournalEntry, ModelCallRecord } from '../log/entry.ts';
import type { LogEvent, NewEvent } from '../log/event.ts';
import type { Usage } from '../contract/usage.ts';
import { CapstanError, errorText } from '../../platform/errors.ts';
import { newId } from '../../platform/ids.ts';
import type { Inference } from '../../inference/model.ts';
import type { Logger } from '../../platform/log.ts';
import type { CauseOptions } from '../../platform/errors.ts';
import { hasOtherWork, lockGoal } from '../store/goals.ts';
import { writeJournal } from '../store/journal.ts';
import { releaseIfIdle } from '../store/leases.ts';
import type { Claim } from '../store/leases.ts';

type GoalDeps = {
  db: Db;
  inference: Inference;
  log: Logger;
  publish: (envelopes: EventEnvelope[]) => void;
  signal: AbortSignal;
};

/**
 * Decides about the goal after a turn, when the session has nothing else to do: asks the judge, and in one write ends
 * the goal, pauses it or opens the next turn, and releases the lease. After a crash before that write the session is
 * still due. A prompt that arrives in between goes first, and its turn is judged instead. Returns whether the session
 * is due again at once.
 */
export async function pursueGoal(
  claim: Claim,
  goal: GoalState,
  events: readonly LogEvent[],
  deps: GoalDeps,
): Promise<boolean> {
  const turn = readLastTurn(events);
  const judgement = turn && (await judgeUntilPreempted({ claim, goal, turn }, deps));
  if (judgement === undefined) return releaseIfIdle(deps.db, claim.sessionId, claim.epoch);
  const { verdict, usageAdd, calls } = judgement;
  const step = decideGoal(goal, verdict);
  const written = await deps.db.transaction(async (tx) => {
    const now = await lockGoal(tx, claim.sessionId, claim.epoch);
    if (now === undefined) throw new LeaseLostError('Claimed elsewhere.');
    const isOwn = now.goal?.status === 'active' && now.goal.revision === goal.revision;
    // The call is charged even if its verdict no longer applies.
    const { session, ...change } = isOwn ? buildChange(step, now.isFree) : { events: [] };
    const wake = session?.wakeAt === undefined && now.isFree ? { wakeAt: null } : {};
    const entry = { sessionId: claim.sessionId, epoch: claim.epoch, ...change };
    const [appended] = await writeJournal(tx, [
      { ...entry, calls, session: { ...wake, ...session, usageAdd, release: true } },
    ]);
    return appended;
  });
  if (written === undefined) throw new LeaseLostError('Claimed elsewhere.');
  deps.publish(written.events);
  return written.awake;
}

type Judgement = { verdict: Verdict; usageAdd: Usage; calls: ModelCallRecord[] };
type JudgedTurn = { claim: Claim; goal: GoalState; turn: LastTurn };

const POLL_MS = 250;

/** A new prompt preempts the judge: then there is no verdict, and a later turn is judged. */
async function judgeUntilPreempted(judged: JudgedTurn, deps: GoalDeps): Promise<Judgement | undefined> {
  const preempted = new AbortController();
  const done = new AbortController();
  const poll = async () => {
    while (!done.signal.aborted) {
      await sleep(POLL_MS, undefined, { signal: done.signal });
      if (await hasOtherWork(deps.db, judged.claim.sessionId))
        return preempted.abort(new PreemptedError('Other work precedes the goal.'));
    }
  };
  // If polling fails, the prompt waits for the judge's timeout at most.
  const polling = poll().catch(() => undefined);
  try {
    return await judge(judged, deps, AbortSignal.any([deps.signal, preempted.signal]));
  } catch (error) {
    // A turn that was started and interrupted in between goes first as well.
    if (error instanceof PreemptedError || error instanceof InterruptedError) return undefined;
    throw error;
  } finally {
    done.abort();
    await polling;
  }
}

class PreemptedError extends CapstanError<'preempted'> {
  constructor(message: string, options: CauseOptions = {}) {
    super('preempted', message, { ...options, retryable: true });
  }
}

const NO_CALL = { usageAdd: {}, calls: [] };

async function judge({ claim, goal, turn }: JudgedTurn, deps: GoalDeps, signal: AbortSignal): Promise<Judgement> {
  if (turn.failure !== undefined) return { verdict: { kind: 'broken', reason: turn.failure }, ...NO_CALL };
  // An empty reply does not say that the goal is reached.
  if (turn.reply.trim() === '') return { verdict: { kind: 'continue', reason: '' }, ...NO_CALL };
  const { modelName } = claim.version;
  const question = { objective: goal.objective, reply: turn.reply, calls: turn.calls, model: modelName };
  const startedAt = new Date();
  const { verdict, used, error } = await askJudge(question, deps.inference, signal);
  if (error !== undefined) deps.log.warn({ error: errorText(error) }, 'could not call the judge of a goal');
  const model = deps.inference.findModel(used?.model ?? modelName) ?? deps.inference.findModel(modelName);
  if (used === undefined || model === undefined) return { verdict, ...NO_CALL };
  const { usageAdd } = splitUsage(addCall({}, used.usage, model));
  return { verdict, usageAdd, calls: [buildCallRecord({ id: null }, { model, startedAt, usage: used.usage })] };
}

/** If other work goes first, only the counts change: its turn will be judged. */
function buildChange(step: GoalStep, isFree: boolean): Pick<JournalEntry, 'events' | 'session' | 'turn'> {
  if (!isFree) return { events: [], session: { goal: { ...step.goal, status: 'active' } } };
  if (!step.continues) return { events: buildStatement(step.message ?? ''), session: { goal: step.goal } };
  const turnId = newId('trn');
  const { objective, reason } = step.goal;
  return {
    events: [buildTurnStart({ turnId }, { kind: 'goal', objective, reason, eventId: null })],
    session: { goal: step.goal, status: 'running', liveTurn: turnId, wakeAt: 'now', clearInterrupt: true },
    turn: { id: turnId, state: 'running' },
  };
}

/** A message of the service itself: it belongs to no turn, and the model does not read it. */
function buildStatement(text: string): NewEvent[] {
  const message = buildMessage({ id: newId('evt'), turnId: null }, buildBlocks(text));
  return [message, buildIdle({ turnId: null }, { stop_reason: { type: 'end_turn' } })];
}

/** Whether the goal may be active when this turn ends: it was, or a caller has changed it during the turn. */
export function mayHaveGoal(claim: Claim, events: readonly LogEvent[]): boolean {
  if (claim.goal?.status === 'active') return true;
  return events.some(
    (event) =>
      event.type === 'user.message' &&
      event.sequence > claim.lastSequence &&
      readGoalPhrase(event.payload) !== undefined,
  );
}
