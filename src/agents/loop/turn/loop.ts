import type { StopReason } from '../../contract/events.ts';
import { settleCalls } from '../tool-calls/settle.ts';
import { callModel } from '../model-call/call-model.ts';
import type { Turn, TurnDeps } from './types.ts';

/**
 * Model calls and the tool calls they ask for, one after the other, until the model is done or the caller is needed.
 * Throws the signal's reason, a `ModelError`, or what the journal throws.
 */
export async function runLoop(turn: Turn, deps: TurnDeps): Promise<StopReason | 'waiting'> {
  for (;;) {
    if (deps.signal.aborted) throw deps.signal.reason;
    const end = await takeStep(turn, deps);
    if (end !== undefined) return end;
    if (turn.step !== null && (await settleCalls(turn.step, turn, deps)) === 'waiting') return 'waiting';
    turn.step = null;
  }
}

/** One model call, unless the step of the last one is still open. Answers why the turn is over, if it is. */
async function takeStep(turn: Turn, deps: TurnDeps): Promise<StopReason | undefined> {
  if (turn.step !== null) return undefined;
  if (turn.steps >= deps.limits.maxSteps) {
    return { type: 'error', message: `The turn reached its limit of ${deps.limits.maxSteps} model calls.` };
  }
  const reply = await callModel(turn, deps);
  takeUp(turn, deps);
  turn.unwritten.push(...reply.events);
  if (reply.calls.length > 0) {
    turn.step = { number: turn.steps, calls: reply.calls };
    return undefined;
  }
  if (reply.finish === 'length') {
    return { type: 'error', message: 'The reply was cut off: the model reached its limit of output tokens.' };
  }
  return { type: 'end_turn' };
}

/** Prompt, guidance and interrupt are done with once the model has read them, also what came too late for its turn. */
export function takeUp(turn: Turn, deps: TurnDeps): void {
  for (const event of deps.journal.events) {
    if (event.status === 'received') turn.taken.push(event.sequence);
  }
}

/** A turn that fails before a reply is done with what it began with all the same; guidance waits for the next one. */
export function takeUpPrompt(turn: Turn, deps: TurnDeps): void {
  for (const event of deps.journal.events) {
    const isOwn = event.turnId === turn.id && event.type === 'user.message';
    if (isOwn && event.status === 'received') turn.taken.push(event.sequence);
  }
}
