import type { AssistantPart, InputPart, ModelMessage, ToolResult } from '../../../inference/model.ts';
import { joinBlocks } from '../../log/blocks.ts';
import type { LogEvent, TurnPrompt } from '../../log/event.ts';
import { groupSteps, groupTurns, isInterrupted } from '../../log/turns.ts';
import type { LogStep, PartEvent } from '../../log/turns.ts';
import { textOf } from '../../log/read.ts';
import { renderGoalNext, renderGoalStart } from '../goal/goal.ts';
import { wrapSteer } from '../model-call/prompt.ts';
import { nameAttachment } from './attachments.ts';
import type { ShownAttachments } from './attachments.ts';
import { renderPlain } from './plain-result.ts';

type Steer = Extract<LogEvent, { type: 'user.steer' }>;

/** A message with a key that no later event of the log changes. */
export type HistoryEntry = { key: string; message: ModelMessage };

/**
 * The conversation as the model reads it: a function of the log. Turns come in the order in which they started,
 * whatever the sequence of the prompt that opened them; a call without a result gets one that says so. Guidance of the
 * latest turn up to the sequence `guidance` follows its last entry.
 */
export function buildHistory(
  log: readonly LogEvent[],
  steerToken: string,
  attachments: ShownAttachments = new Map(),
  guidance = 0,
): HistoryEntry[] {
  const entries: HistoryEntry[] = [];
  let notes: TurnNotes = { interruption: undefined, guidance: undefined };
  const turns = groupTurns(log);
  for (const turn of turns) {
    entries.push({ key: turn.id, message: buildPrompt(turn.prompt, log, notes, attachments) });
    let steers = turn.events.filter((event) => event.type === 'user.steer');
    for (const step of groupSteps(turn.events)) {
      steers = carryGuidance(entries, steers, step.guidance, steerToken);
      const key = `${turn.id}/${step.number}`;
      entries.push({ key, message: { role: 'assistant', content: step.parts.map(buildPart) } });
      const results = collectResults(step);
      if (results.length === 0) continue;
      const end = Math.max(...[...step.results.values()].map(({ sequence }) => sequence), 0);
      const isLater = ({ sequence }: Steer) => sequence > end;
      const carried = steers.filter((steer) => !isLater(steer));
      steers = steers.filter(isLater);
      entries.push({
        key: `${key}/results`,
        message: { role: 'tool', results: attachSteers(results, carried, steerToken) },
      });
    }
    if (turn === turns.at(-1)) steers = carryGuidance(entries, steers, guidance, steerToken);
    notes = buildNotes(turn.events, steers);
  }
  return entries;
}

function buildPrompt(
  prompt: TurnPrompt,
  log: readonly LogEvent[],
  notes: TurnNotes,
  attachments: ShownAttachments,
): ModelMessage {
  const texts = [notes.interruption, prompt.kind === 'steer' ? undefined : notes.guidance];
  const parts = texts.flatMap((text): InputPart[] => (text === undefined ? [] : [{ type: 'text', text }]));
  return { role: 'user', content: [...parts, ...readPrompt(prompt, log, attachments)] };
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
    case 'message':
      return readMessage(prompt.eventId, log, attachments);
  }
}

function readMessage(eventId: string, log: readonly LogEvent[], attachments: ShownAttachments): InputPart[] {
  const event = log.find(({ id }) => id === eventId);
  if (event?.type !== 'user.message') return [];
  const { content, attachments: attached = [] } = event.payload;
  if (event.internal?.goal === true) return [{ type: 'text', text: renderGoalStart(joinBlocks(content)) }];
  const parts: InputPart[] = content.map(({ text }) => ({ type: 'text', text }));
  return [...parts, ...(attachments.get(event.id) ?? attached.map(nameAttachment))];
}

function buildPart(event: PartEvent): AssistantPart {
  if (event.type === 'agent.message') return { type: 'text', text: textOf(event.payload) };
  if (event.type === 'agent.thinking') {
    const signature = event.internal?.proof;
    const text = signature?.redacted === undefined ? textOf(event.payload) : '';
    return { type: 'reasoning', ...signature, text };
  }
  const { callId = event.id, name = '', arguments: raw } = event.internal ?? {};
  return { type: 'tool_call', id: callId, name, arguments: raw ?? JSON.stringify(readInput(event)) };
}

function readInput({ payload }: Exclude<PartEvent, { type: 'agent.message' | 'agent.thinking' }>): unknown {
  if (payload.type !== 'agent.clarify_request') return payload.input ?? {};
  return { question: payload.question, choices: payload.choices };
}

// The key is the id that callers see; the model's own id is unique within one reply only.
function collectResults({ parts, results }: LogStep): ToolResult[] {
  return parts.flatMap((event): ToolResult[] => {
    const part = buildPart(event);
    if (part.type !== 'tool_call') return [];
    const found = results.get(event.payload.id)?.result;
    if (found === undefined) {
      const text = JSON.stringify({ error: 'interrupted before there was a result' });
      return [{ callId: part.id, content: [{ type: 'text', text }], isError: true }];
    }
    const text = event.type === 'agent.tool_use' ? renderPlain(found.text) : found.text;
    const content: InputPart[] = [{ type: 'text', text }, ...found.images];
    return [{ callId: part.id, content, isError: found.isError }];
  });
}

/** Guidance reaches the model at the end of the last result of a batch. */
function attachSteers(results: ToolResult[], steers: readonly Steer[], steerToken: string): ToolResult[] {
  const last = results.at(-1);
  if (last === undefined || steers.length === 0) return results;
  const text = wrapSteer(
    steers.map(({ payload }) => payload.message),
    steerToken,
  );
  return [...results.slice(0, -1), { ...last, content: [...last.content, { type: 'text', text }] }];
}

/** Adds the guidance up to a sequence to the last entry. Returns the rest. */
function carryGuidance(entries: HistoryEntry[], steers: Steer[], upTo: number, steerToken: string): Steer[] {
  const carried = steers.filter(({ sequence }) => sequence <= upTo);
  const last = entries.at(-1);
  if (last === undefined || carried.length === 0) return steers;
  const { message } = last;
  if (message.role === 'tool') {
    entries[entries.length - 1] = {
      ...last,
      message: { ...message, results: attachSteers(message.results, carried, steerToken) },
    };
  } else if (message.role === 'user') {
    const said = carried.map(({ payload }) => payload.message);
    const content = [...message.content, { type: 'text' as const, text: wrapSteer(said, steerToken) }];
    entries[entries.length - 1] = { ...last, message: { ...message, content } };
  } else {
    return steers;
  }
  return steers.filter((steer) => !carried.includes(steer));
}

/** What precedes the next prompt: how the turn was interrupted, and guidance that arrived too late for it. */
type TurnNotes = { interruption: string | undefined; guidance: string | undefined };

function buildNotes(events: readonly LogEvent[], lateSteers: readonly Steer[]): TurnNotes {
  const late = lateSteers.map(({ payload }) => payload.message).join('\n');
  const guidance = late === '' ? undefined : `[Guidance that came too late for the previous turn: ${late}]`;
  if (!isInterrupted(events)) return { interruption: undefined, guidance };
  const message = events.findLast((event) => event.type === 'user.interrupt')?.payload.message;
  const reason = message === undefined ? '' : `, who said: ${message}`;
  return { interruption: `[The previous turn was interrupted by the user${reason}]`, guidance };
}
