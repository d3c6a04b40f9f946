import type { StopReason } from '../../contract/events.ts';
import type { LogEvent, NewEvent } from '../../log/event.ts';
import { settleCalls } from '../tool-calls/settle.ts';
import { buildDiscarded } from '../../log/build-events.ts';
import { textOf } from '../../log/read.ts';
import { findRepeatedFailure } from '../tool-calls/repeats.ts';
import { callUntilComplete } from '../model-call/continue.ts';
import type { StepReply } from '../model-call/reply-events.ts';
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
    const repeated = findRepeatedFailure(deps.journal.events, turn.id);
    if (repeated !== undefined) return repeated;
  }
}

/** One model call, unless the step of the last one is still open. Answers why the turn is over, if it is. */
async function takeStep(turn: Turn, deps: LoopDeps): Promise<StopReason | undefined> {
  if (turn.step !== null) return undefined;
  if (turn.steps >= deps.limits.maxSteps) {
    const message = `The turn reached its limit of ${deps.limits.maxSteps} model calls.`;
    return { type: 'error', code: 'step_limit', message, retryable: false };
  }
  let reply = await callUntilComplete(turn, deps);
  if (isEmpty(reply)) {
    discardReply(reply, turn, deps);
    reply = await callUntilComplete(turn, deps);
  }
  markConsumed(turn, deps.journal.events);
  turn.unwritten.push(...reply.events);
  if (reply.finish === 'content_filter' || reply.finish === 'refusal') {
    const message = 'The model or its provider refused to answer.';
    return { type: 'error', code: 'content_filtered', message, retryable: false };
  }
  if (reply.calls.length > 0) {
    turn.step = { number: turn.steps, calls: reply.calls };
    return undefined;
  }
  if (reply.finish === 'length') {
    const message = 'The reply was cut off: the model reached its limit of output tokens.';
    return { type: 'error', code: 'output_limit', message, retryable: false };
  }
  if (isEmpty(reply)) {
    const message = 'The model replied twice without text and without a tool call.';
    return { type: 'error', code: 'empty_reply', message, retryable: true };
  }
  return { type: 'end_turn' };
}

/** A complete reply without text and without calls. */
function isEmpty({ calls, events, finish }: StepReply): boolean {
  const isText = ({ payload }: NewEvent) => payload.type === 'agent.message' && textOf(payload).trim() !== '';
  return calls.length === 0 && (finish === 'stop' || finish === 'tool_calls') && !events.some(isText);
}

/** Tells watchers that no event follows the frames of a reply. */
function discardReply({ events }: StepReply, turn: Turn, deps: LoopDeps): void {
  for (const { id } of events) {
    const payload = buildDiscarded(id);
    deps.sendLive({ id, type: payload.type, status: null, payload }, turn.id);
  }
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
