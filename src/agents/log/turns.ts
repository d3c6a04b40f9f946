import type { StopReason } from '../contract/events.ts';
import type { LogEvent, LogEventOf, StepPosition, TurnPrompt } from './event.ts';
import { findPosition, findPrompt, isModelCall, resultOf, textOf } from './read.ts';
import type { CallResult } from './read.ts';

/** A turn as the log holds it: the prompt that opened it, and its events in order. */
export type LogTurn = { id: string; prompt: TurnPrompt; events: LogEvent[] };

/** A part of a model reply: text, reasoning or a call. */
export type PartEvent = Extract<
  LogEvent,
  {
    type:
      | 'agent.message'
      | 'agent.thinking'
      | 'agent.tool_use'
      | 'agent.mcp_tool_use'
      | 'agent.custom_tool_use'
      | 'agent.clarify_request';
  }
>;

/** A model reply and the results of its calls, by the id of the use. */
export type LogStep = {
  number: number;
  /** in the order of the reply */
  parts: PartEvent[];
  results: Map<string, { result: CallResult; sequence: number }>;
  /** the model read the guidance up to this sequence before it replied; 0: only what results carry */
  guidance: number;
};

/** The turns of a log, in the order in which they started. */
export function groupTurns(log: readonly LogEvent[]): LogTurn[] {
  const turns = new Map<string, LogTurn>();
  for (const event of log) {
    const prompt = findPrompt(event);
    if (prompt !== undefined && event.turnId !== null) {
      turns.set(event.turnId, { id: event.turnId, prompt, events: [] });
    }
  }
  for (const event of log) {
    if (event.turnId !== null) turns.get(event.turnId)?.events.push(event);
  }
  return [...turns.values()];
}

/** The model replies of a turn, in order. */
export function groupSteps(turnEvents: readonly LogEvent[]): LogStep[] {
  const steps = new Map<number, ReturnType<typeof openStep>>();
  const stepOfUse = new Map<string, LogStep>();
  for (const event of turnEvents) {
    const position = findPosition(event);
    if (position !== undefined && isPart(event)) {
      const { step: number } = position;
      const step = steps.get(number) ?? openStep(number);
      steps.set(number, step);
      step.parts.push(event);
      step.guidance = Math.max(step.guidance, readGuidance(event));
      step.positions.set(event, position);
      stepOfUse.set(event.payload.id, step);
    }
    const result = resultOf(event);
    if (result !== undefined) {
      stepOfUse.get(result.useId)?.results.set(result.useId, { result, sequence: event.sequence });
    }
  }
  return [...steps.values()]
    .sort((left, right) => left.number - right.number)
    .map(({ positions, parts, ...step }) => {
      const indexOf = (part: PartEvent) => positions.get(part)?.index ?? 0;
      return { ...step, parts: parts.sort((left, right) => indexOf(left) - indexOf(right)) };
    });
}

function openStep(number: number): LogStep & { positions: Map<PartEvent, StepPosition> } {
  return { number, parts: [], results: new Map(), guidance: 0, positions: new Map() };
}

/** The last sequence of guidance that a reply has followed. */
function readGuidance(event: LogEvent): number {
  return event.type === 'agent.message' ? (event.internal?.guidance ?? 0) : 0;
}

function isPart(event: LogEvent): event is PartEvent {
  return event.type === 'agent.message' || event.type === 'agent.thinking' || isModelCall(event);
}

/** Whether the caller stopped the turn. */
export function isInterrupted(turnEvents: readonly LogEvent[]): boolean {
  return findEnd(turnEvents)?.payload.interrupted === true;
}

function findEnd(turnEvents: readonly LogEvent[]): LogEventOf<'session.status_idle'> | undefined {
  return turnEvents.findLast((event) => event.type === 'session.status_idle');
}

/** Guidance that neither a later result nor a repeated model call carried to the model. It opens the next turn, unless the user interrupted this one. */
export function findLateSteers(turnEvents: readonly LogEvent[]): { text: string; eventId: string } | undefined {
  if (isInterrupted(turnEvents)) return undefined;
  const carried = turnEvents.findLast((event) => resultOf(event) !== undefined)?.sequence ?? 0;
  const last = Math.max(carried, ...turnEvents.map(readGuidance));
  const late = turnEvents.filter((event) => event.type === 'user.steer').filter(({ sequence }) => sequence > last);
  const first = late[0];
  if (first === undefined) return undefined;
  return { text: late.map(({ payload }) => payload.message).join('\n'), eventId: first.id };
}

/** Late guidance of the latest turn, when no other turn has followed it. */
export function findForgottenSteers(log: readonly LogEvent[]): { text: string; eventId: string } | undefined {
  const last = log.findLast((event) => findPrompt(event) !== undefined);
  return last && findLateSteers(log.filter((event) => event.turnId === last.turnId));
}

/** What the latest turn said in its last reply, the calls it made, and the error it ended with. */
export type LastTurn = { reply: string; calls: TurnCall[]; failure: string | undefined };

/** A call of the model and its result. */
export type TurnCall = { name: string; input: unknown; result: string; isError: boolean };

/** The outcome of the latest turn; undefined when there is none or it still runs. */
export function readLastTurn(log: readonly LogEvent[]): LastTurn | undefined {
  const start = log.findLast((event) => findPrompt(event) !== undefined);
  if (start === undefined) return undefined;
  const own = log.filter((event) => event.turnId === start.turnId);
  const end = findEnd(own);
  if (end === undefined) return undefined;
  const messages = own.filter((event) => event.type === 'agent.message').filter((event) => event.internal !== null);
  const last = messages.at(-1)?.internal?.step;
  const reply = messages.filter(({ internal }) => internal?.step === last).map(({ payload }) => textOf(payload));
  const { stop_reason: stop } = end.payload;
  return { reply: reply.join('\n'), calls: listCalls(own), failure: describeFailure(stop) };
}

function describeFailure(stop: StopReason): string | undefined {
  if (stop.type === 'budget_reached') return `The budget of the ${stop.budget.scope} is used up.`;
  return stop.type === 'error' ? stop.message : undefined;
}

function listCalls(events: readonly LogEvent[]): TurnCall[] {
  const uses = new Map(events.filter(isModelCall).map((event) => [event.payload.id, event]));
  return events.flatMap((event): TurnCall[] => {
    const result = resultOf(event);
    const use = result && uses.get(result.useId);
    if (result === undefined || use === undefined) return [];
    const input = 'input' in use.payload ? use.payload.input : null;
    return [{ name: use.internal?.name ?? '', input, result: result.text, isError: result.isError }];
  });
}
