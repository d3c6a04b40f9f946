import type { ToolResult } from '../../../inference/model.ts';
import type { HistoryEntry } from '../history/build.ts';
import type { TurnContext, Turn } from '../turn/types.ts';
import type { SandboxSession } from '../../../sandbox/sandbox.ts';
import { persistResult } from '../../tools/tool-result.ts';
import { readText } from './prune.ts';

/** Previews of results that were too long for the window, by their position in the history. */
export type Spills = Readonly<Record<string, string>>;

const STATE = 'spilled_results';
/** Moving shorter results to a file would save nothing. */
const MIN_BYTES = 4000;
const MAX_SPILLS = 100;

export function readSpills(turn: Turn): Spills {
  return (turn.toolState[STATE] ?? {}) as Spills;
}

function keyOf(entry: HistoryEntry, { callId }: ToolResult): string {
  return `${entry.key} ${callId}`;
}

/** The history with previews in place of results that were moved to files. Pure. */
export function applySpills(entries: readonly HistoryEntry[], spills: Spills): HistoryEntry[] {
  if (Object.keys(spills).length === 0) return [...entries];
  return entries.map((entry): HistoryEntry => {
    if (entry.message.role !== 'tool') return entry;
    const results = entry.message.results.map((result): ToolResult => {
      const text = spills[keyOf(entry, result)];
      return text === undefined ? result : { ...result, content: [{ type: 'text', text }] };
    });
    return { ...entry, message: { role: 'tool', results } };
  });
}

/**
 * Moves the longest result of the history to a file in the sandbox and keeps its start and the path. False if no result
 * is long enough.
 */
export async function spillLongest(
  entries: readonly HistoryEntry[],
  turn: Turn,
  deps: TurnContext & { openSandbox(signal: AbortSignal): Promise<SandboxSession> },
): Promise<boolean> {
  const results = entries.flatMap((entry) => {
    if (entry.message.role !== 'tool') return [];
    return entry.message.results.map((result) => ({ key: keyOf(entry, result), text: readText(result.content) }));
  });
  const [longest] = results.toSorted((left, right) => Buffer.byteLength(right.text) - Buffer.byteLength(left.text));
  if (longest === undefined || Buffer.byteLength(longest.text) < MIN_BYTES) return false;
  const sandbox = () => deps.openSandbox(deps.signal);
  const preview = await persistResult(longest.text, { callId: longest.key, sandbox });
  const kept = Object.entries(readSpills(turn)).slice(1 - MAX_SPILLS);
  turn.toolState = { ...turn.toolState, [STATE]: { ...Object.fromEntries(kept), [longest.key]: preview } };
  await deps.journal.append({ events: [], session: { toolState: turn.toolState } });
  return true;
}
