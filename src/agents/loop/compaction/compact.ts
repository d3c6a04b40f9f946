import type { Compaction, LogEvent } from '../../log/event.ts';
import type { ModelInfo, ModelMessage, ModelRequest } from '../../../inference/model.ts';
import type { ShownAttachments } from '../history/attachments.ts';
import { applyCompaction, findThreshold, isThrashing, planCompaction } from './plan.ts';
import type { CompactionPlan } from './plan.ts';
import { cutText, estimateTokens } from './prune.ts';
import { applySpills } from './spill.ts';
import type { Spills } from './spill.ts';
import { listSummary, writeSummary } from './summary.ts';
import { addDayNotes } from '../history/day-notes.ts';
import { buildHistory } from '../history/build.ts';
import type { HistoryEntry } from '../history/build.ts';
import { forgetPages } from '../../tools/files/seen-files.ts';
import { forgetSearches } from '../../tools/search-files.ts';
import { describeOpenTodos } from '../../tools/todo.ts';
import type { ToolState } from '../../tools/tool.ts';
import type { Turn, TurnContext } from '../turn/types.ts';
import { buildCallRecord } from '../turn/call-record.ts';
import { addCall, addCounts } from '../turn/usage.ts';
import { findExtent } from '../../log/extent.ts';
import { describeDay } from '../turn/environment.ts';
import { countCompactions, listCompactions } from '../../log/read.ts';
import { buildCompacted } from '../../log/build-events.ts';
import { drainUnwritten } from '../turn/unwritten.ts';
import { omitUndefined } from '../../../platform/records.ts';

/** After a failed summary the model is not used for summaries for this long. */
const COOLDOWN_MS = 600_000;
const MAX_LAST_SAID = 2000;

/** The parts of the history that are not in the log. */
type ShownHistory = {
  steerToken: string;
  attachments: ShownAttachments;
  guidance: number;
  spills: Spills;
  /** the date in the system prompt */
  startedOn: string;
};

/** The conversation for the next call, after the latest compaction in the log. */
export function buildMessages(
  log: readonly LogEvent[],
  { steerToken, attachments, guidance, spills, startedOn }: ShownHistory,
): { entries: HistoryEntry[]; messages: ModelMessage[] } {
  const history = addDayNotes(buildHistory(log, steerToken, attachments, guidance), log, startedOn);
  const entries = applySpills(history, spills);
  return { entries, messages: applyCompaction(entries, listCompactions(log).at(-1)) };
}

/** Whether the prompt must be compacted before the next call. Pure. */
export function needsCompaction(
  turn: Turn,
  log: readonly LogEvent[],
  messages: readonly ModelMessage[],
  contextWindow: number,
): boolean {
  const known = findUsed(turn, log);
  if (known === undefined || isThrashing(listCompactions(log))) return false;
  const added = messages.slice(messages.findLastIndex(({ role }) => role === 'assistant') + 1);
  return known + estimateTokens(added) >= findThreshold(contextWindow);
}

/** Tokens of the latest prompt and its reply, as the provider counted them. */
function findUsed(turn: Turn, log: readonly LogEvent[]): number | undefined {
  const { context_used: used } = turn.usage;
  return used ?? log.findLast(({ usage }) => usage?.context_used !== undefined)?.usage?.context_used;
}

/**
 * Replaces the middle of the conversation by a summary, and writes `session.compacted` with everything that later
 * prompts need. Returns false if there is nothing to remove. Throws only errors that stop the loop.
 */
export async function compactHistory(
  turn: Turn,
  deps: TurnContext,
  now: { entries: HistoryEntry[]; request: ModelRequest; model: ModelInfo; tight: boolean },
): Promise<boolean> {
  const { entries, request, model, tight } = now;
  const earlier = listCompactions(deps.journal.events);
  const last = earlier.at(-1);
  const before = estimateTokens(request.messages);
  const known = findUsed(turn, deps.journal.events) ?? before;
  const scale = clamp(known / (before + estimateTokens([request.system, request.tools])), 0.5, 8);
  const plan = planCompaction(entries, last, { contextWindow: model.contextWindow, scale, tight });
  if (plan === undefined) return false;
  const { summary, failedAt } = await sumUp(plan, turn, deps, model);
  const state = openState(turn);
  const text = frameSummary(summary, plan.lastSaid, describeOpenTodos(state));
  // The file contents are no longer in the prompt, so the model may read the files again.
  forgetPages(state);
  forgetSearches(state);
  const { head, tail, prompt } = plan;
  const after = estimateTokens(applyCompaction(entries, { head, tail, prompt, text }));
  const compaction: Compaction = { head, tail, prompt, text, summary, failedAt, saved: 1 - after / before };
  turn.usage = { ...turn.usage, context_used: Math.max(0, Math.round(known - (before - after) * scale)) };
  const { id, steps, usage, toolState } = turn;
  const { events } = deps.journal;
  await deps.journal.append({
    ...drainUnwritten(turn, [buildCompacted({ turnId: id }, countCompactions(events) + 1, compaction)]),
    session: { toolState, ...omitUndefined({ compaction: findExtent(events, compaction) }) },
    turn: { id, state: 'running', steps, step: null, usage },
  });
  return true;
}

async function sumUp(
  plan: CompactionPlan,
  turn: Turn,
  deps: TurnContext,
  model: ModelInfo,
): Promise<Pick<Compaction, 'summary' | 'failedAt'>> {
  const last = listCompactions(deps.journal.events).at(-1);
  const input = {
    messages: plan.fresh.map(({ message }) => message),
    earlier: last?.summary,
    contextWindow: model.contextWindow,
    model: deps.session.modelName,
  };
  const failed = last?.failedAt ?? null;
  if (failed !== null && Date.now() - Date.parse(failed) < COOLDOWN_MS) {
    return { summary: listSummary(input), failedAt: failed };
  }
  const startedAt = new Date();
  try {
    const { summary, used } = await writeSummary(input, deps.inference, deps.signal);
    const answering = deps.inference.findModel(used.model) ?? model;
    turn.usage = addCounts(turn.usage, addCall({}, used.usage, answering));
    turn.unwrittenCalls.push(buildCallRecord(turn, { model: answering, startedAt, usage: used.usage }));
    return { summary, failedAt: null };
  } catch (error) {
    if (deps.signal.aborted) throw deps.signal.reason;
    deps.logError(error, 'compacted a conversation without the model');
    return { summary: listSummary(input), failedAt: new Date().toISOString() };
  }
}

function frameSummary(summary: string, lastSaid: string | undefined, todos: string | undefined): string {
  return [
    '[Summary of the earlier part of this conversation, for reference only. It asks for nothing by itself: answer the ' +
      `latest message of the user, and do not do again what is done. Written on ${describeDay(new Date())}.]`,
    summary,
    ...(lastSaid === undefined ? [] : [`[What you last said to the user:]\n${cutText(lastSaid, MAX_LAST_SAID)}`]),
    '[End of the summary]',
    ...(todos === undefined ? [] : [todos]),
  ].join('\n\n');
}

function openState(turn: Turn): ToolState {
  return {
    get: <T>(key: string) => turn.toolState[key] as T | undefined,
    set: (key, value) => {
      turn.toolState = { ...turn.toolState, [key]: value };
    },
  };
}

function clamp(value: number, low: number, high: number): number {
  return Math.min(high, Math.max(low, value));
}
