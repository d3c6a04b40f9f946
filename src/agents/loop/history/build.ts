import type { LogEvent, TurnPrompt } from '../../contract/journal.ts';
import type { AssistantPart, InputPart, ModelMessage, ReasoningPart, ToolResult } from '../../../inference/model.ts';
import { joinBlocks } from './blocks.ts';
import { renderGoalNext, renderGoalStart } from '../goal/goal.ts';
import { findMark, findPrompt, isInner } from '../../log/read.ts';
import { nameAttachment, readAttachments } from './attachments.ts';
import type { ShownAttachments } from './attachments.ts';
import { wrapSteer } from '../model-call/prompt.ts';

type Blocks = { text: string }[];
type Turn = { id: string; prompt: TurnPrompt; events: LogEvent[] };
type StepPart = { index: number; part: AssistantPart; useId: string };
type Step = { parts: StepPart[]; results: Map<string, { result: ToolResult; sequence: number }> };

/** A message and what names it, whatever is written to the log after it. */
export type HistoryEntry = { key: string; message: ModelMessage };

/**
 * The conversation as the model reads it: a function of the log. Turns come in the order in which they began, whatever
 * the sequence of the prompt that opened them; a call without a result gets one that says so.
 */
export function buildHistory(
  log: readonly LogEvent[],
  steerMark: string,
  attachments: ShownAttachments = new Map(),
): HistoryEntry[] {
  const entries: HistoryEntry[] = [];
  let carried: Carried = { interruption: undefined, guidance: undefined };
  for (const turn of groupTurns(log)) {
    entries.push({ key: turn.id, message: buildPrompt(turn.prompt, log, carried, attachments) });
    const steers = turn.events.filter((event) => event.type === 'user.steer');
    for (const [number, step] of groupSteps(turn.events)) {
      const key = `${turn.id}/${number}`;
      if (step.parts.length === 0) continue;
      step.parts.sort((left, right) => left.index - right.index);
      entries.push({ key, message: { role: 'assistant', content: step.parts.map(({ part }) => part) } });
      const results = collectResults(step);
      if (results.length === 0) continue;
      const end = Math.max(...[...step.results.values()].map(({ sequence }) => sequence), 0);
      attachSteers(results, takeSteers(steers, end), steerMark);
      entries.push({ key: `${key}/results`, message: { role: 'tool', results } });
    }
    carried = findCarried(turn.events, steers);
  }
  return entries;
}

/** Guidance that no batch of results has taken up: it opens the next turn, unless the user wanted to stop. */
export function findLateSteers(turnEvents: readonly LogEvent[]): { text: string; eventId: string } | undefined {
  if (isInterrupted(turnEvents)) return undefined;
  const last = turnEvents.findLast(isResult)?.sequence ?? 0;
  const late = turnEvents.filter((event) => event.type === 'user.steer' && event.sequence > last);
  const first = late[0];
  if (first === undefined) return undefined;
  return { text: late.map((steer) => readMessage(steer) ?? '').join('\n'), eventId: first.id };
}

/** Guidance that came too late for the last turn, which no other has followed. */
export function findForgottenSteers(log: readonly LogEvent[]): { text: string; eventId: string } | undefined {
  const last = log.findLast((event) => event.type === 'session.status_running' && findPrompt(event) !== undefined);
  return last && findLateSteers(log.filter((event) => event.turnId === last.turnId));
}

function groupTurns(log: readonly LogEvent[]): Turn[] {
  const turns = new Map<string, Turn>();
  for (const event of log) {
    const prompt = event.type === 'session.status_running' ? findPrompt(event) : undefined;
    if (prompt !== undefined && event.turnId !== null)
      turns.set(event.turnId, { id: event.turnId, prompt, events: [] });
  }
  for (const event of log) {
    if (event.turnId !== null) turns.get(event.turnId)?.events.push(event);
  }
  return [...turns.values()];
}

function buildPrompt(
  prompt: TurnPrompt,
  log: readonly LogEvent[],
  carried: Carried,
  attachments: ShownAttachments,
): ModelMessage {
  const texts = [carried.interruption, prompt.kind === 'steer' ? undefined : carried.guidance];
  const notes = texts.flatMap((text): InputPart[] => (text === undefined ? [] : [{ type: 'text', text }]));
  return { role: 'user', content: [...notes, ...readPrompt(prompt, log, attachments)] };
}

function readPrompt(prompt: TurnPrompt, log: readonly LogEvent[], attachments: ShownAttachments): InputPart[] {
  switch (prompt.kind) {
    case 'steer':
    case 'notice':
      return [{ type: 'text', text: prompt.text }];
    case 'goal':
      return [{ type: 'text', text: renderGoalNext(prompt) }];
    case 'tool_final': {
      const verb = prompt.isError ? 'failed' : 'completed';
      const text = `[The earlier call of ${prompt.toolName} has ${verb}. Its final result:]\n${joinBlocks(prompt.content)}`;
      return [{ type: 'text', text }];
    }
    case 'message': {
      const event = log.find((candidate) => candidate.id === prompt.eventId);
      const payload = event?.payload as { content?: Blocks } | undefined;
      if (event?.internal?.['goal'] === true) {
        return [{ type: 'text', text: renderGoalStart(joinBlocks(payload?.content ?? [])) }];
      }
      const parts: InputPart[] = (payload?.content ?? []).map(({ text }) => ({ type: 'text', text }));
      if (event === undefined) return parts;
      return [...parts, ...(attachments.get(event.id) ?? readAttachments(event).map(nameAttachment))];
    }
  }
}

/** The steps of a turn, in order. */
function groupSteps(events: readonly LogEvent[]): [number, Step][] {
  const steps = new Map<number, Step>();
  const stepOfUse = new Map<string, Step>();
  const at = (number: number): Step => {
    const step = steps.get(number) ?? { parts: [], results: new Map() };
    steps.set(number, step);
    return step;
  };
  for (const event of events) {
    const mark = findMark(event);
    const part = mark === undefined ? undefined : buildPart(event, mark.callId);
    if (mark !== undefined && part !== undefined) {
      const step = at(mark.step);
      step.parts.push({ index: mark.index, part, useId: readUseId(event) });
      stepOfUse.set(readUseId(event), step);
    }
    const result = buildResult(event);
    if (result === undefined) continue;
    const step = stepOfUse.get(result.callId);
    if (step !== undefined) step.results.set(result.callId, { result, sequence: event.sequence });
  }
  return [...steps.entries()].sort(([left], [right]) => left - right);
}

const USE_TYPES = ['agent.tool_use', 'agent.mcp_tool_use', 'agent.custom_tool_use', 'agent.clarify_request'];

function readUseId(event: LogEvent): string {
  const payload = event.payload as { request_id?: string; id?: string };
  return payload.request_id ?? payload.id ?? event.id;
}

function buildPart(event: LogEvent, callId: string | undefined): AssistantPart | undefined {
  const payload = event.payload as Record<string, unknown> & { content?: Blocks };
  if (event.type === 'agent.message') return { type: 'text', text: joinBlocks(payload.content ?? []) };
  if (event.type === 'agent.thinking') {
    const proof = event.internal?.['proof'] as Partial<ReasoningPart> | undefined;
    const text = proof?.redacted === undefined ? joinBlocks(payload.content ?? []) : '';
    return { type: 'reasoning', ...proof, text };
  }
  if (!USE_TYPES.includes(event.type)) return undefined;
  const raw = event.internal?.['arguments'];
  const input =
    event.type === 'agent.clarify_request'
      ? { question: payload['question'], choices: payload['choices'] }
      : (payload['input'] ?? {});
  return {
    type: 'tool_call',
    id: callId ?? event.id,
    name: event.internal?.['name'] as string,
    arguments: typeof raw === 'string' ? raw : JSON.stringify(input),
  };
}

function isResult(event: LogEvent): boolean {
  return buildResult(event) !== undefined;
}

function buildResult(event: LogEvent): ToolResult | undefined {
  if (isInner(event)) return undefined;
  const payload = event.payload as Record<string, unknown> & { content?: Blocks };
  const text = (value: string): InputPart[] => [{ type: 'text', text: value }];
  switch (event.type) {
    case 'agent.tool_result':
    case 'agent.mcp_tool_result': {
      const images = (event.internal?.['images'] ?? []) as InputPart[];
      return {
        callId: String(payload['tool_use_id']),
        content: [...text(joinBlocks(payload.content ?? [])), ...images],
        isError: payload['is_error'] === true,
      };
    }
    case 'user.custom_tool_result':
      return {
        callId: String(payload['tool_use_id']),
        content: text(joinBlocks(payload.content ?? [])),
        isError: payload['is_error'] === true || (payload['is_error'] === undefined && payload['status'] === 'failed'),
      };
    case 'user.clarify_result':
      return {
        callId: String(payload['request_id']),
        content: text(JSON.stringify({ user_response: payload['answer'] })),
        isError: false,
      };
    default:
      return undefined;
  }
}

// Results go by the id that callers see; the model's own id is unique within one reply only.
function collectResults(step: Step): ToolResult[] {
  return step.parts.flatMap(({ part, useId }) => {
    if (part.type !== 'tool_call') return [];
    const found = step.results.get(useId)?.result;
    const missing: ToolResult = {
      callId: part.id,
      content: [{ type: 'text', text: JSON.stringify({ error: 'interrupted before there was a result' }) }],
      isError: true,
    };
    return [found === undefined ? missing : { ...found, callId: part.id }];
  });
}

function takeSteers(steers: LogEvent[], before: number): LogEvent[] {
  const count = steers.findIndex((steer) => steer.sequence > before);
  return steers.splice(0, count === -1 ? steers.length : count);
}

function attachSteers(results: ToolResult[], steers: readonly LogEvent[], mark: string): void {
  const last = results.at(-1);
  if (last === undefined || steers.length === 0) return;
  const texts = steers.map((steer) => readMessage(steer) ?? '');
  last.content = [...last.content, { type: 'text', text: wrapSteer(texts, mark) }];
}

/** What the model has to be told before the next prompt: how the turn was broken off, guidance that came too late. */
type Carried = { interruption: string | undefined; guidance: string | undefined };

function findCarried(events: readonly LogEvent[], lateSteers: readonly LogEvent[]): Carried {
  const late = lateSteers.map((steer) => readMessage(steer) ?? '').join('\n');
  const guidance = late === '' ? undefined : `[Guidance that came too late for the previous turn: ${late}]`;
  if (!isInterrupted(events)) return { interruption: undefined, guidance };
  const interrupt = events.findLast((event) => event.type === 'user.interrupt');
  const message = interrupt === undefined ? undefined : readMessage(interrupt);
  const reason = message === undefined ? '' : `, who said: ${message}`;
  return { interruption: `[The previous turn was interrupted by the user${reason}]`, guidance };
}

function isInterrupted(turnEvents: readonly LogEvent[]): boolean {
  const end = turnEvents.findLast((event) => event.type === 'session.status_idle');
  return (end?.payload as { interrupted?: boolean } | undefined)?.interrupted === true;
}

function readMessage(event: LogEvent): string | undefined {
  return (event.payload as { message?: string }).message;
}
