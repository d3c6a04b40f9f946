import { Allow, parse as parsePartial } from 'partial-json';
import type { NewEvent } from '../../log/event.ts';
import { BUILTIN_TOOL_NAMES, findToolset } from '../../contract/toolsets.ts';
import { newId } from '../../../platform/ids.ts';
import { collectReply } from '../../../inference/collect.ts';
import type { AssistantPart, ModelDelta, ModelInfo, ModelReply, ModelRequest } from '../../../inference/model.ts';
import { ModelError } from '../../../inference/model.ts';
import { showAttachments } from '../history/attachments.ts';
import { buildMessages, compactHistory, needsCompaction } from '../compaction/compact.ts';
import type { HistoryEntry } from '../history/build.ts';
import { openLiveFrames } from '../turn/live.ts';
import type { LiveFrames } from '../turn/live.ts';
import type { StepCall } from '../../log/event.ts';
import { buildDiscarded, buildMessage, buildThinking, buildUsePayload } from '../../log/write.ts';
import { buildBlocks } from '../../log/blocks.ts';
import type { OfferedMcpTool } from '../tool-calls/mcp.ts';
import { buildSteerToken, buildSystemPrompt } from './prompt.ts';
import { buildModelTools, buildOffered } from '../tool-calls/toolbox.ts';
import type { Turn, TurnDeps } from '../turn/types.ts';
import { addBrokenCall, addCall } from '../turn/usage.ts';

/** What a model call came to: events for the log, calls still to be settled. */
export type StepReply = { events: NewEvent[]; calls: StepCall[]; finish: ModelReply['finish'] };

/** A stream that broke is repeated this often; the retries before the first delta are the inference's own. */
const MAX_REISSUES = 2;

/** Calls the model once more. Throws a `ModelError`, or the reason of the signal with what had been said in `turn.unwritten`. */
export async function callModel(turn: Turn, deps: TurnDeps): Promise<StepReply> {
  const model = deps.inference.findModel(deps.session.modelName);
  if (model === undefined) {
    throw new ModelError('unknown_model', `No provider is configured for the model ${deps.session.modelName}.`);
  }
  const offered = buildOffered(deps.session.toolConfigs, await deps.mcp.listTools());
  let prompt = await buildRequest(turn, deps, offered);
  let mayCompact = true;
  const compact = async (tight: boolean) => {
    if (!(await compactHistory(turn, deps, { ...prompt, model, tight }))) return false;
    prompt = await buildRequest(turn, deps, offered);
    return true;
  };
  if (needsCompaction(turn, deps.journal.events, prompt.request.messages, model.contextWindow)) await compact(false);
  for (let attempt = 0; ; attempt += 1) {
    const ids = new Map<number, string>();
    const partial: Partial = new Map();
    const begun: Begun = {};
    try {
      const reply = await streamReply({ request: prompt.request, offered }, ids, partial, begun, turn, deps);
      // A list of models may have answered with another than its first: its price counts.
      turn.usage = addCall(turn.usage, reply.usage, deps.inference.findModel(reply.model) ?? model);
      turn.steps += 1;
      return buildStep(reply, ids, turn, offered);
    } catch (error) {
      countBroken(begun, turn, deps, model);
      if (deps.signal.aborted) {
        const kept = buildPartial(partial, ids, turn);
        turn.unwritten.push(...kept);
        discardFrames(ids, kept, turn, deps);
        throw deps.signal.reason;
      }
      discardFrames(ids, [], turn, deps);
      if (mayCompact && error instanceof ModelError && error.code === 'context_overflow') {
        mayCompact = false;
        if (await compact(true)) continue;
      }
      const broke = error instanceof ModelError && error.retryable && ids.size > 0;
      if (!broke || attempt >= MAX_REISSUES) throw error;
      deps.logError(error, 'model stream broke; the call is repeated');
    }
  }
}

/** Tells watchers which ids of a broken reply no event will follow under. */
function discardFrames(ids: ReadonlyMap<number, string>, kept: readonly NewEvent[], turn: Turn, deps: TurnDeps): void {
  for (const id of ids.values()) {
    if (kept.some((event) => event.id === id)) continue;
    const payload = buildDiscarded(id);
    deps.sendLive({ id, type: payload.type, status: null, payload }, turn.id);
  }
}

/** What the model has said so far, by the part's index. */
type Partial = Map<number, string>;

/** How the reply began, as soon as it has. */
type Begun = { start?: Extract<ModelDelta, { type: 'start' }> };

/** What a reply without an end cost, as far as its stream had told. */
function countBroken({ start }: Begun, turn: Turn, deps: TurnDeps, model: ModelInfo): void {
  if (start?.usage === undefined) return;
  turn.usage = addBrokenCall(turn.usage, start.usage, deps.inference.findModel(start.model) ?? model);
}

/** Tools of MCP servers in the request, by the model's name for them. */
type Offered = ReadonlyMap<string, OfferedMcpTool>;

async function buildRequest(
  turn: Turn,
  deps: TurnDeps,
  offered: Offered,
): Promise<{ entries: HistoryEntry[]; request: ModelRequest }> {
  const { session, journal } = deps;
  const attachments = await showAttachments(journal.events, turn.id, deps.attachments, deps.signal);
  const steerToken = buildSteerToken(session.id);
  const tools = buildModelTools(session.toolConfigs, deps.tools, offered);
  const { entries, messages } = buildMessages(journal.events, steerToken, attachments);
  const request = {
    model: session.modelName,
    system: buildSystemPrompt({
      systemPrompt: session.systemPrompt,
      steerToken,
      toolNames: tools.map((tool) => tool.name),
      notes: session.promptNotes,
    }),
    messages,
    tools,
    cacheKey: session.id,
  };
  return { entries, request };
}

async function streamReply(
  { request, offered }: { request: ModelRequest; offered: Offered },
  ids: Map<number, string>,
  partial: Partial,
  begun: Begun,
  turn: Turn,
  deps: TurnDeps,
): Promise<ModelReply> {
  const frames = openLiveFrames((frame) => deps.sendLive(frame, turn.id));
  const previews: Previews = new Map();
  const idOf = (index: number): string => {
    const id = ids.get(index) ?? newId('evt');
    ids.set(index, id);
    return id;
  };
  try {
    return await collectReply(deps.inference.stream(request, deps.signal), (delta) => {
      if (delta.type === 'start') begun.start = delta;
      if (delta.type === 'start' || delta.type === 'finish') return;
      sendFrame(delta, idOf(delta.index), frames, previews, offered);
      if (delta.type === 'text') partial.set(delta.index, (partial.get(delta.index) ?? '') + delta.text);
    });
  } finally {
    frames.flush();
  }
}

type Previews = Map<number, { call: Pick<StepCall, 'name' | 'mcp'>; text: string; shown: number }>;

function sendFrame(
  delta: Exclude<ModelDelta, { type: 'start' } | { type: 'finish' }>,
  id: string,
  frames: LiveFrames,
  previews: Previews,
  offered: Offered,
): void {
  switch (delta.type) {
    case 'text':
    case 'refusal':
      return frames.sendText('agent.message', id, delta.text);
    case 'reasoning':
      return frames.sendText('agent.thinking', id, delta.text);
    case 'reasoning_signature':
      return;
    case 'tool_call': {
      const call = { name: delta.name, ...findTarget(delta.name, offered) };
      const isBuiltin = BUILTIN_TOOL_NAMES.includes(delta.name) && delta.name !== 'clarify';
      if (!isBuiltin && call.mcp === undefined) return;
      previews.set(delta.index, { call, text: '', shown: 0 });
      return frames.sendPreview(id, buildPreview(id, call, {}));
    }
    case 'tool_arguments': {
      const preview = previews.get(delta.index);
      if (preview === undefined) return;
      preview.text += delta.text;
      // Each preview repeats the whole input, so they come at growing distances.
      if (preview.text.length < preview.shown * 1.5 + 64) return;
      preview.shown = preview.text.length;
      const input = parseInput(preview.text);
      if (input !== undefined) frames.sendPreview(id, buildPreview(id, preview.call, input));
    }
  }
}

function findTarget(name: string, offered: Offered): Pick<StepCall, 'mcp'> {
  const target = offered.get(name)?.target;
  return target === undefined ? {} : { mcp: target };
}

function buildPreview(id: string, call: Pick<StepCall, 'name' | 'mcp'>, input: unknown) {
  const toolset = call.mcp === undefined ? (findToolset(call.name) ?? null) : null;
  return buildUsePayload({ ...call, useId: id }, { toolset, input, permission: 'ask' });
}

function parseInput(text: string): unknown {
  try {
    return parsePartial(text, Allow.ALL);
  } catch {
    return undefined;
  }
}

function buildStep({ content, finish }: ModelReply, ids: Map<number, string>, turn: Turn, offered: Offered): StepReply {
  const events: NewEvent[] = [];
  const calls: StepCall[] = [];
  content.forEach((part, index) => {
    const id = ids.get(index) ?? newId('evt');
    if (part.type === 'tool_call') {
      const mcp = findTarget(part.name, offered);
      calls.push({ useId: id, index, callId: part.id, name: part.name, arguments: part.arguments, ...mcp });
      return;
    }
    const event = buildPartEvent(part, id, index, turn);
    if (event !== undefined) events.push(event);
  });
  return { events, calls, finish };
}

function buildPartEvent(
  part: Exclude<AssistantPart, { type: 'tool_call' }>,
  id: string,
  index: number,
  turn: Turn,
): NewEvent | undefined {
  const slot = { id, turnId: turn.id };
  const position = { step: turn.steps, index };
  if (part.type === 'reasoning') {
    const { type: _type, text, ...signature } = part;
    if (text === '' && Object.keys(signature).length === 0) return undefined;
    return buildThinking(slot, text, position, signature);
  }
  return part.text === '' ? undefined : buildMessage(slot, buildBlocks(part.text), position);
}

// What a person had read when they interrupted stays said.
function buildPartial(partial: Partial, ids: ReadonlyMap<number, string>, turn: Turn): NewEvent[] {
  if (partial.size === 0) return [];
  turn.steps += 1;
  return [...partial].flatMap(([index, text]) => {
    const event = buildPartEvent({ type: 'text', text }, ids.get(index) ?? newId('evt'), index, turn);
    return event === undefined ? [] : [event];
  });
}
