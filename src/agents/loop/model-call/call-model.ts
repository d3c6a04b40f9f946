// Tests: test/flow/turn.test.ts, test/flow/model-errors.test.ts
import { collectReply } from '../../../inference/collect.ts';
import { ModelError } from '../../../inference/model.ts';
import type { ModelInfo, ModelReply, ModelRequest } from '../../../inference/model.ts';
import { buildMessages, compactHistory, needsCompaction } from '../compaction/compact.ts';
import { readSpills, spillLongest } from '../compaction/spill.ts';
import { showAttachments } from '../history/attachments.ts';
import type { HistoryEntry } from '../history/build.ts';
import { buildModelTools, buildOffered } from '../tool-calls/toolbox.ts';
import type { LogEvent, NewEvent } from '../../log/event.ts';
import { buildDiscarded, buildServerUnavailable } from '../../log/build-events.ts';
import { BudgetReachedError } from '../../../platform/errors.ts';
import { newId } from '../../../platform/ids.ts';
import { runSpan } from '../../../platform/work-context.ts';
import { chatSpanId } from '../../log/trace-ids.ts';
import { openLiveFrames } from '../turn/live.ts';
import type { LiveFrames } from '../turn/live.ts';
import type { ModelCallDeps, Turn } from '../turn/types.ts';
import { buildCallRecord } from '../turn/call-record.ts';
import { addBrokenCall, addCall } from '../turn/usage.ts';
import { askToContinue } from './cut-text.ts';
import type { CutText } from './cut-text.ts';
import { ModelRetries, isTransient } from './retries.ts';
import { buildSteerToken, buildSystemPrompt } from './prompt.ts';
import { buildInterruptedReply, buildStepReply } from './reply-events.ts';
import type { StepReply } from './reply-events.ts';
import { ReplyStream } from './reply-stream.ts';
import type { OfferedMcpTools } from './reply-stream.ts';

/** Results that one call moves to files when the provider refuses its prompt. */
const MAX_SPILLS = 8;

type RecordedCall = {
  model: ModelInfo;
  stream: ReplyStream;
  startedAt: Date;
  retries: number;
  reply?: ModelReply;
  error?: string;
};

type Prompt = { entries: HistoryEntry[]; request: ModelRequest };

/**
 * One model call, with compaction where the prompt has grown too long, and repeated while the provider fails. Throws a
 * `ModelError`, or the signal's reason after adding the text received so far to `turn.unwritten`.
 */
export async function callModel(turn: Turn, deps: ModelCallDeps, cut?: CutText): Promise<StepReply> {
  const model = deps.inference.findModel(deps.session.modelName);
  if (model === undefined) {
    throw new ModelError('unknown_model', `No provider is configured for the model ${deps.session.modelName}.`);
  }
  const offered = buildOffered(deps.session.toolConfigs, await deps.mcp.listTools());
  if (turn.steps === 0) await reportUnavailable(turn, deps);
  let guidance = 0;
  let prompt = await buildPrompt(turn, deps, model, { offered, guidance });
  let mayCompact = true;
  let spilled = 0;
  /** whether watchers were told to drop the text that this call continues */
  let isResent = false;
  const compact = async (tight: boolean) => {
    if (!(await compactHistory(turn, deps, { ...prompt, model, tight }))) return false;
    prompt = await buildPrompt(turn, deps, model, { offered, guidance });
    return true;
  };
  /** For a prompt that the provider has refused for its length: compacts once, then moves results to files. */
  const makeRoom = async () => {
    const isFirst = mayCompact;
    mayCompact = false;
    if (isFirst && (await compact(true))) return true;
    spilled += 1;
    if (spilled > MAX_SPILLS || !(await spillLongest(prompt.entries, turn, deps))) return false;
    prompt = await buildPrompt(turn, deps, model, { offered, guidance });
    return true;
  };
  if (needsCompaction(turn, deps.journal.events, prompt.request.messages, model.contextWindow)) await compact(false);
  const modelRetries = new ModelRetries(turn, deps);
  for (;;) {
    const frames = openReplyFrames(turn, deps, { cut, isResent });
    const stream = new ReplyStream(frames, offered, { guidance, cut });
    const startedAt = new Date();
    try {
      const receive = () => receiveReply(prompt.request, stream, deps).finally(() => frames.flush());
      const reply = await runSpan(deps.trace, chatSpanId(turn.id, turn.steps + 1), receive);
      // A fallback model may have answered: its own price applies.
      turn.usage = addCall(turn.usage, reply.usage, deps.inference.findModel(reply.model) ?? model);
      turn.steps += 1;
      recordCall(turn, deps, { model, stream, startedAt, retries: modelRetries.attempts, reply });
      return buildStepReply(reply, stream, turn, offered);
    } catch (error) {
      countBrokenCall(stream, turn, deps, model);
      recordFailure(error, turn, deps, { model, stream, startedAt, retries: modelRetries.attempts });
      if (deps.signal.aborted) {
        const stored = buildInterruptedReply(stream, turn);
        turn.unwritten.push(...stored);
        discardFrames(stream, stored, turn, deps);
        throw deps.signal.reason;
      }
      discardFrames(stream, [], turn, deps);
      isResent ||= stream.hasContinued;
      if (error instanceof ModelError && error.code === 'context_overflow' && (await makeRoom())) continue;
      await modelRetries.wait(error);
      await deps.journal.refresh();
      // What the user said during the wait need not wait for the next tool result.
      guidance = findLastSteer(turn, deps);
      if (guidance > 0) prompt = await buildPrompt(turn, deps, model, { offered, guidance });
    }
  }
}

/** Tells watchers, once a turn, which MCP servers have no tools in it. */
async function reportUnavailable(turn: Turn, deps: ModelCallDeps): Promise<void> {
  for (const server of await deps.mcp.listUnavailable()) {
    const payload = buildServerUnavailable(server);
    deps.sendLive({ id: newId('evt'), type: payload.type, status: null, payload }, turn.id);
  }
}

/** Tells watchers the ids of a broken reply under which no event will follow. */
function discardFrames(stream: ReplyStream, stored: readonly NewEvent[], turn: Turn, deps: ModelCallDeps): void {
  for (const id of stream.ids()) {
    if (stored.some((event) => event.id === id)) continue;
    const payload = buildDiscarded(id);
    deps.sendLive({ id, type: payload.type, status: null, payload }, turn.id);
  }
}

/** Frames of one try. Watchers who dropped the text that it continues get that again. */
function openReplyFrames(
  turn: Turn,
  deps: ModelCallDeps,
  { cut, isResent }: { cut: CutText | undefined; isResent: boolean },
): LiveFrames {
  const frames = openLiveFrames((frame) => deps.sendLive(frame, turn.id), isResent ? undefined : cut);
  if (isResent && cut !== undefined) frames.sendText('agent.message', cut.id, cut.text);
  return frames;
}

function receiveReply(
  { messages, ...request }: ModelRequest,
  stream: ReplyStream,
  deps: ModelCallDeps,
): Promise<ModelReply> {
  // The turn itself retries, so that it can be interrupted and watchers see the wait.
  const options = { attempts: 1, silenceMs: deps.limits.silenceMs };
  const whole = { ...request, messages: askToContinue(messages, stream.cut) };
  return collectReply(deps.inference.stream(whole, deps.signal, options), (delta) => stream.receive(delta));
}

/** Counts the usage of a reply that broke off, as far as its stream reported it. */
function countBrokenCall({ start }: ReplyStream, turn: Turn, deps: ModelCallDeps, model: ModelInfo): void {
  if (start?.usage === undefined) return;
  turn.usage = addBrokenCall(turn.usage, start.usage, deps.inference.findModel(start.model) ?? model);
}

/** Records a failed call if it used tokens or is the last attempt. A call that no budget admitted was not made. */
function recordFailure(error: unknown, turn: Turn, deps: ModelCallDeps, call: RecordedCall): void {
  const { aborted } = deps.signal;
  if (error instanceof BudgetReachedError) return;
  if (call.stream.start?.usage === undefined && !aborted && isTransient(error)) return;
  const code = error instanceof ModelError ? error.code : 'internal';
  recordCall(turn, deps, { ...call, error: aborted ? 'interrupted' : code });
}

/** Records a call for the ledger, with its usage if known. */
function recordCall(turn: Turn, { inference }: ModelCallDeps, { model, stream, reply, ...call }: RecordedCall): void {
  const answering = reply?.model ?? stream.start?.model;
  turn.unwrittenCalls.push(
    buildCallRecord(turn, {
      ...call,
      model: (answering === undefined ? undefined : inference.findModel(answering)) ?? model,
      firstTokenAt: stream.firstTokenAt,
      usage: reply?.usage ?? stream.start?.usage,
      step: reply === undefined ? turn.steps + 1 : turn.steps,
    }),
  );
}

/** The sequence of the latest guidance for this turn; 0: there is none. */
function findLastSteer(turn: Turn, { journal }: ModelCallDeps): number {
  const isOwn = (event: LogEvent) => event.type === 'user.steer' && event.turnId === turn.id;
  return journal.events.findLast(isOwn)?.sequence ?? 0;
}

async function buildPrompt(
  turn: Turn,
  deps: ModelCallDeps,
  model: ModelInfo,
  { offered, guidance }: { offered: OfferedMcpTools; guidance: number },
): Promise<Prompt> {
  const { session, journal } = deps;
  const attachments = await showAttachments(journal.events, turn.id, deps.attachments, deps.signal);
  const steerToken = buildSteerToken(session.id);
  const tools = buildModelTools(session.toolConfigs, deps.tools, offered);
  const shown = { steerToken, attachments, guidance, spills: readSpills(turn), startedOn: session.startedOn };
  const { entries, messages } = buildMessages(journal.events, shown);
  const request = {
    model: session.modelName,
    system: buildSystemPrompt({
      systemPrompt: session.systemPrompt,
      steerToken,
      toolNames: tools.map((tool) => tool.name),
      notes: session.promptNotes,
      instructions: await deps.mcp.listInstructions(),
      unavailable: await deps.mcp.listUnavailable(),
    }),
    messages,
    tools,
    cacheKey: session.id,
    ...limitOutput(model),
    ...(session.effort === null ? {} : { reasoning: { effort: session.effort } }),
  };
  return { entries, request };
}

/** Part of the window that one reply may fill. */
const OUTPUT_PART = 1 / 4;

/** The output limit of a call; unset for a model whose limit is unknown: the provider's own applies. */
export function limitOutput({ maxOutputTokens, contextWindow }: ModelInfo): { maxOutputTokens?: number } {
  if (maxOutputTokens === undefined) return {};
  return { maxOutputTokens: Math.min(maxOutputTokens, Math.floor(contextWindow * OUTPUT_PART)) };
}
