// Tests: test/console/transcript.test.ts
import { durationOf, isToolResult, isToolUse, permissionOf } from '../data/events.ts';
import type { EventEnvelope, ToolResult } from '../data/events.ts';
import { isAbsorbed } from './rows/kinds.ts';

/** Consecutive successful read calls, shown as one row. */
export type Fold = { id: string; first: number; calls: number; ms: number };

const READS = new Set(['read_file', 'search_files', 'web_search', 'web_extract']);
const MIN_CALLS = 3;
/** Maximum number of events to search in each direction. */
const MAX_STEPS = 200;

/** The parts of a transcript store that folding needs. */
type Log = {
  find(sequence: number): EventEnvelope | undefined;
  findResult(useId: string): EventEnvelope | undefined;
  isTurnStart(event: EventEnvelope): boolean;
};

function findRead(log: Log, event: EventEnvelope): ToolResult | undefined {
  if (!isToolUse(event)) return undefined;
  const use = event.payload;
  const permission = permissionOf(use);
  if (!READS.has(use.name) || permission === 'ask' || permission === 'deny') return undefined;
  const result = log.findResult(use.id);
  if (result === undefined || !isToolResult(result)) return undefined;
  return result.payload.is_error === true ? undefined : result.payload;
}

/** The read calls after `sequence` in this direction, without the one at `sequence` itself. */
function listReads(log: Log, sequence: number, step: 1 | -1): number[] {
  const found: number[] = [];
  for (let count = 1; count <= MAX_STEPS; count += 1) {
    const event = log.find(sequence + step * count);
    if (event === undefined || log.isTurnStart(event)) return found;
    if (findRead(log, event) !== undefined) found.push(event.sequence);
    else if (!isAbsorbed(event)) return found;
  }
  return found;
}

/** The fold that contains the event at `sequence`; undefined if the event has its own row. */
export function findFold(log: Log, sequence: number): Fold | undefined {
  const event = log.find(sequence);
  if (event === undefined || findRead(log, event) === undefined) return undefined;
  const before = log.isTurnStart(event) ? [] : listReads(log, sequence, -1);
  const sequences = [...before, sequence, ...listReads(log, sequence, 1)];
  if (sequences.length < MIN_CALLS) return undefined;
  const first = before.at(-1) ?? sequence;
  let ms = 0;
  for (const each of sequences) {
    const read = log.find(each);
    const result = read === undefined ? undefined : findRead(log, read);
    ms += result === undefined ? 0 : (durationOf(result) ?? 0);
  }
  return { id: `fold ${first}`, first, calls: sequences.length, ms };
}
