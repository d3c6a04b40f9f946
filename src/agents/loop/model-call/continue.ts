import type { NewEvent } from '../../log/event.ts';
import { textOf } from '../../log/read.ts';
import { buildDiscarded } from '../../log/build-events.ts';
import { DrainError } from '../turn/types.ts';
import type { ModelCallDeps, Turn } from '../turn/types.ts';
import { callModel } from './call-model.ts';
import type { CutText } from './cut-text.ts';
import type { StepReply } from './reply-events.ts';

/** How often a text that was cut off is continued. */
const MAX_CONTINUATIONS = 3;

/**
 * One reply of the model. A text that the output limit cut off is continued by further calls, as one message under one
 * id. Throws what `callModel` throws; the text so far is then in `turn.unwritten`, unless another worker continues.
 */
export async function callUntilComplete(turn: Turn, deps: ModelCallDeps & { limits: { maxSteps: number } }) {
  let reply = await callModel(turn, deps);
  for (let count = 0; count < MAX_CONTINUATIONS && turn.steps < deps.limits.maxSteps; count += 1) {
    const cut = findCutText(reply);
    if (cut === undefined) break;
    try {
      reply = joinReplies(reply, await callModel(turn, deps, cut), turn.steps);
    } catch (error) {
      keepCutText(reply, cut, error, { turn, deps });
      throw error;
    }
  }
  return reply;
}

function findCutText({ events, calls, finish, parts }: StepReply): CutText | undefined {
  const last = events.at(-1);
  if (finish !== 'length' || calls.length > 0 || last?.payload.type !== 'agent.message') return undefined;
  const text = textOf(last.payload);
  return text.trim() === '' ? undefined : { id: last.id, text, parts };
}

/** The events of both replies as those of one. Only the thinking of the later one can be returned to the provider. */
function joinReplies(first: StepReply, second: StepReply, step: number): StepReply {
  const ids = new Set(second.events.map(({ id }) => id));
  const earlier = first.events.filter(({ id }) => !ids.has(id)).map((event) => moveToStep(event, step));
  return { ...second, events: [...earlier, ...second.events] };
}

function moveToStep(event: NewEvent, step: number): NewEvent {
  const { payload, internal } = event;
  if (payload.type === 'agent.thinking' && internal !== undefined && 'index' in internal) {
    return { ...event, payload, internal: { step, index: internal.index } };
  }
  if (payload.type === 'agent.message' && internal !== undefined && 'index' in internal) {
    return { ...event, payload, internal: { ...internal, step } };
  }
  return event;
}

/** What the user has read stays in the log. A worker that takes the turn over asks for the whole reply again. */
function keepCutText(
  reply: StepReply,
  cut: CutText,
  error: unknown,
  { turn, deps }: { turn: Turn; deps: ModelCallDeps },
): void {
  if (turn.unwritten.some(({ id }) => id === cut.id)) return;
  if (error instanceof DrainError) {
    const payload = buildDiscarded(cut.id);
    deps.sendLive({ id: cut.id, type: payload.type, status: null, payload }, turn.id);
    return;
  }
  turn.unwritten.push(...reply.events);
}
