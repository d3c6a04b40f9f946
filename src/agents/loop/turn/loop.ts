import type { StopReason } from '../../contract/events.ts';
import type { LogEvent } from '../../log/event.ts';
import { settleCalls } from '../tool-calls/settle.ts';
import { callModel } from '../model-call/call-model.ts';
import type { LoopDeps, Turn } from './types.ts';

/**
 * Model calls and the tool calls they ask for, one after the other, until the model is done or the caller is needed.
 * Throws the reason of its signals, a `ModelError`, or what the journal throws.
 */
export async function runLoop(turn: Turn, deps: LoopDeps): Promise<StopReason | 'waiting'> {
  for (;;) {
    if (deps.signal.aborted) throw deps.signal.reason;
    if (turn.step === null) deps.drain?.throwIfAborted();
    const end = await takeStep(turn, deps);
    if (end !== undefined) return end;
    if (turn.step !== null && (await settleCalls(turn.step, turn, deps)) === 'waiting') return 'waiting';
    turn.step = null;
  }
}

/** One model call, unless the step of the last one is still open. Answers why the turn is over, if it is. */
async function takeStep(turn: Turn, deps: LoopDeps): Promise<StopReason | undefined> {
  if (turn.step !== null) return undefined;
  if (turn.steps >= deps.limits.maxSteps) {
    const message = `The turn reached its limit of ${deps.limits.maxSteps} model calls.`;
    return { type: 'error', code: 'step_limit', message, retryable: false };
  }
  const reply = await callModel(turn, deps);
  markConsumed(turn, deps.journal.events);
  turn.unwritten.push(...reply.events);
  if (reply.calls.length > 0) {
    turn.step = { number: turn.steps, calls: reply.calls };
    return undefined;
  }
  if (reply.finish === 'length') {
    const message = 'The reply was cut off: the model reached its limit of output tokens.';
    return { type: 'error', code: 'output_limit', message, retryable: false };
  }
  return { type: 'end_turn' };
}

/** The model has read the prompt, guidance and interrupt, and guidance that arrived too late for an earlier turn. */
export function markConsumed(turn: Turn, log: readonly LogEvent[]): void {
  for (const event of log) {
    if (event.status === 'received') turn.consumed.push(event.sequence);
  }
}

/** A turn that fails before its first reply still consumes its own prompt; guidance is left for the next turn. */
export function markPromptConsumed(turn: Turn, log: readonly LogEvent[]): void {
  for (const event of log) {
    const isOwn = event.turnId === turn.id && event.type === 'user.message';
    if (isOwn && event.status === 'received') turn.consumed.push(event.sequence);
  }
}
