import { setTimeout as sleep } from 'node:timers/promises';
import { buildBlocks } from '../log/blocks.ts';
import { readLastTurn } from '../log/history.ts';
import type { LastTurn } from '../log/history.ts';
import { buildIdle, buildMessage, buildTurnStart } from '../log/write.ts';
import { askJudge, decideGoal } from '../loop/goal/goal.ts';
import type { GoalStep, Verdict } from '../loop/goal/goal.ts';
import { InterruptedError, LeaseLostError } from '../loop/turn/types.ts';
import { addCall } from '../loop/turn/usage.ts';
import { splitUsage } from '../contract/usage.ts';
import type { Db } from '../../platform/db/db.ts';
import type { EventEnvelope } from '../contract/events.ts';
import { readGoalPhrase } from '../contract/goals.ts';
import type { GoalState } from '../contract/goals.ts';
import type { JournalEntry } from '../log/entry.ts';
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

type GoalDeps = { db: Db; inference: Inference; log: Logger; publish: (envelopes: EventEnvelope[]) => void };

/**
 * Decides over the goal after a turn, with nothing else to do in the session: asks the judge, and in one write ends the
 * goal, pauses it or opens the next turn, and gives the lease back. A crash before that write leaves the session to be
 * looked at again; a prompt that came meanwhile goes first, and its turn is judged in its stead. Answers whether the
 * session has more to do at once.
 */
export async function pursueGoal(
  claim: Claim,
  goal: GoalState,
  events: readonly LogEvent[],
  deps: GoalDeps,
  signal: AbortSignal,
): Promise<boolean> {
  const turn = readLastTurn(events);
  const asked = turn && (await judgeUntilWanted(claim, goal, turn, deps, signal));
  if (asked === undefined) return releaseIfIdle(deps.db, claim.sessionId, claim.epoch);
  const { verdict, usageAdd } = asked;
  const step = decideGoal(goal, verdict);
  const written = await deps.db.transaction(async (tx) => {
    const now = await lockGoal(tx, claim.sessionId, claim.epoch);
    if (now === undefined) throw new LeaseLostError('Claimed elsewhere.');
    const isOwn = now.goal?.status === 'active' && now.goal.revision === goal.revision;
    // The call was made and counts, whether its verdict still matters or not.
    const { session, ...change } = isOwn ? buildChange(step, now.isFree) : { events: [] };
    const wake = session?.wakeAt === undefined && now.isFree ? { wakeAt: null } : {};
    const entry = { sessionId: claim.sessionId, epoch: claim.epoch, ...change };
    const [appended] = await writeJournal(tx, [
      { ...entry, session: { ...wake, ...session, usageAdd, release: true } },
    ]);
    return appended;
  });
  if (written === undefined) throw new LeaseLostError('Claimed elsewhere.');
  deps.publish(written.events);
  return written.awake;
}

type Judged = { verdict: Verdict; usageAdd: Usage };

const LOOK_MS = 250;

/** A prompt that comes in does not wait for the judge: then there is no verdict, and a later turn gets one. */
async function judgeUntilWanted(
  claim: Claim,
  goal: GoalState,
  turn: LastTurn,
  deps: GoalDeps,
  signal: AbortSignal,
): Promise<Judged | undefined> {
  const wanted = new AbortController();
  const over = new AbortController();
  const look = async () => {
    while (!over.signal.aborted) {
      await sleep(LOOK_MS, undefined, { signal: over.signal });
      if (await hasOtherWork(deps.db, claim.sessionId))
        return wanted.abort(new PreemptedError('An inbound event takes precedence.'));
    }
  };
  // Without the look the prompt waits for the judge's timeout at most.
  const looking = look().catch(() => undefined);
  try {
    return await judge(claim, goal, turn, deps, AbortSignal.any([signal, wanted.signal]));
  } catch (error) {
    // A turn that somebody has begun and stopped already comes first as well.
    if (error instanceof PreemptedError || error instanceof InterruptedError) return undefined;
    throw error;
  } finally {
    over.abort();
    await looking;
  }
}

class PreemptedError extends CapstanError<'preempted'> {
  constructor(message: string, options: CauseOptions = {}) {
    super('preempted', message, { ...options, retryable: true });
  }
}

async function judge(
  claim: Claim,
  goal: GoalState,
  turn: LastTurn,
  deps: GoalDeps,
  signal: AbortSignal,
): Promise<Judged> {
  if (turn.failure !== undefined) return { verdict: { kind: 'broken', reason: turn.failure }, usageAdd: {} };
  // Who said nothing has not said that the goal is reached.
  if (turn.reply.trim() === '') return { verdict: { kind: 'continue', reason: '' }, usageAdd: {} };
  const { modelName } = claim.version;
  const question = { objective: goal.objective, reply: turn.reply, model: modelName };
  const { verdict, used, error } = await askJudge(question, deps.inference, signal);
  if (error !== undefined) deps.log.warn({ error: errorText(error) }, 'the judge of a goal could not be asked');
  const model = deps.inference.findModel(used?.model ?? modelName) ?? deps.inference.findModel(modelName);
  const usageAdd = used === undefined || model === undefined ? {} : splitUsage(addCall({}, used.usage, model)).usageAdd;
  return { verdict, usageAdd };
}

/** Without a place for the next turn only the count changes: whoever is in front will be judged. */
function buildChange(step: GoalStep, isFree: boolean): Pick<JournalEntry, 'events' | 'session' | 'turn'> {
  if (!isFree) return { events: [], session: { goal: { ...step.goal, status: 'active' } } };
  if (!step.continues) return { events: buildStatement(step.say ?? ''), session: { goal: step.goal } };
  const turnId = newId('trn');
  const { objective, reason } = step.goal;
  return {
    events: [buildTurnStart({ turnId }, { kind: 'goal', objective, reason, eventId: null })],
    session: { goal: step.goal, status: 'running', liveTurn: turnId, wakeAt: 'now', clearInterrupt: true },
    turn: { id: turnId, state: 'running' },
  };
}

/** Said by the service, not by the model: it belongs to no turn, and the model does not read it. */
function buildStatement(text: string): NewEvent[] {
  const message = buildMessage({ id: newId('evt'), turnId: null }, buildBlocks(text));
  return [message, buildIdle({ turnId: null }, { stop_reason: { type: 'end_turn' } })];
}

/** Whether the goal may be active when this turn ends: it is, or a caller has spoken of it meanwhile. */
export function mayHaveGoal(claim: Claim, events: readonly LogEvent[]): boolean {
  if (claim.goal?.status === 'active') return true;
  return events.some(
    (event) =>
      event.type === 'user.message' &&
      event.sequence > claim.lastSequence &&
      readGoalPhrase(event.payload) !== undefined,
  );
}
