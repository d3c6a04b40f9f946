import type { AssistantPart, ModelReply } from '../../../inference/model.ts';
import { buildBlocks } from '../../log/blocks.ts';
import type { NewEvent, StepCall } from '../../log/event.ts';
import { buildMessage, buildThinking } from '../../log/build-events.ts';
import type { Turn } from '../turn/types.ts';
import { findTarget } from './reply-stream.ts';
import type { OfferedMcpTools, ReplyStream } from './reply-stream.ts';

/** The outcome of a model call: events for the log, and calls to settle. */
export type StepReply = {
  events: NewEvent[];
  calls: StepCall[];
  finish: ModelReply['finish'];
  /** parts of the reply, those included that it continues */
  parts: number;
};

/** A complete reply as events and calls, under the ids that its live frames had. */
export function buildStepReply(
  { content, finish, usage }: ModelReply,
  stream: ReplyStream,
  turn: Turn,
  offered: OfferedMcpTools,
): StepReply {
  const events: NewEvent[] = [];
  const calls: StepCall[] = [];
  content.forEach((part, place) => {
    const id = stream.idOf(place);
    const index = stream.firstPart + place;
    if (part.type === 'tool_call') {
      const mcp = findTarget(part.name, offered);
      const isCutOff = finish === 'length' && place === content.length - 1 && !isComplete(part.arguments);
      const cut = isCutOff ? { cutOffAt: usage.output } : {};
      calls.push({ useId: id, index, callId: part.id, name: part.name, arguments: part.arguments, ...mcp, ...cut });
      return;
    }
    const whole = part.type === 'text' ? { ...part, text: stream.textOf(place, part.text) } : part;
    const event = buildPartEvent(whole, { id, index, guidance: stream.guidance }, turn);
    if (event !== undefined) events.push(event);
  });
  return { events, calls, finish, parts: stream.firstPart + content.length };
}

/** Whether the arguments of a call are complete. `{}` may be a placeholder of a reply that ended before them. */
function isComplete(json: string): boolean {
  try {
    return Object.keys(JSON.parse(json) as object).length > 0;
  } catch {
    return false;
  }
}

/** The text of a reply that was interrupted: what the user has already read stays in the log. */
export function buildInterruptedReply(stream: ReplyStream, turn: Turn): NewEvent[] {
  if (stream.texts.size === 0) return [];
  turn.steps += 1;
  return [...stream.texts].flatMap(
    ([index, text]) =>
      buildPartEvent(
        { type: 'text', text: stream.textOf(index, text) },
        { id: stream.idOf(index), index: stream.firstPart + index, guidance: stream.guidance },
        turn,
      ) ?? [],
  );
}

function buildPartEvent(
  part: Exclude<AssistantPart, { type: 'tool_call' }>,
  { id, index, guidance }: { id: string; index: number; guidance: number },
  turn: Turn,
): NewEvent | undefined {
  const slot = { id, turnId: turn.id };
  const position = { step: turn.steps, index };
  if (part.type === 'reasoning') {
    const { type: _type, text, ...signature } = part;
    if (text === '' && Object.keys(signature).length === 0) return undefined;
    return buildThinking(slot, text, position, signature);
  }
  return part.text === ''
    ? undefined
    : buildMessage(slot, buildBlocks(part.text), { ...position, ...(guidance > 0 ? { guidance } : {}) });
}
