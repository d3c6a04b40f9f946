import type { Compaction, LogEvent } from './event.ts';
import { findPrompt } from './read.ts';

/**
 * The part of a compacted log that prompts are still made from, by sequences: the beginning up to `head`, the end from
 * `from`, and single events in between. Stored with the session, so that a worker need not read the rest.
 */
export type LogExtent = { head: number; from: number; also: number[] };

/** Whether an event of this sequence is in the part. No extent: the whole log is. */
export function isInExtent(sequence: number, extent: LogExtent | null): boolean {
  if (extent === null) return true;
  return sequence <= extent.head || sequence >= extent.from || extent.also.includes(sequence);
}

/**
 * What prompts need of a log after a compaction that is about to be appended: the turns of its beginning and of its end,
 * the turn before the end, whose outcome the next prompt tells, and inbound events that no turn has consumed.
 * Undefined where the log does not hold the compaction's ends. Pure.
 */
export function findExtent(log: readonly LogEvent[], compaction: Pick<Compaction, 'head' | 'tail' | 'prompt'>) {
  const order = log.flatMap((event) => (findPrompt(event) === undefined ? [] : [event.turnId]));
  const indexOf = (key: string) => order.indexOf(readTurnId(key));
  const tail = indexOf(compaction.tail);
  const head = compaction.head === null ? -1 : indexOf(compaction.head);
  if (tail < 0 || (compaction.head !== null && head < 0)) return undefined;
  const first = Math.min(tail - 1, compaction.prompt === null ? tail : indexOf(compaction.prompt));
  const beginning = new Set(order.slice(0, head + 1));
  const end = new Set(order.slice(Math.max(0, first)));
  const extent: LogExtent = { head: 0, from: Number.MAX_SAFE_INTEGER, also: [] };
  for (const { sequence, turnId, status, type } of log) {
    const isOpen = status === 'queued' || status === 'received';
    if (turnId !== null && beginning.has(turnId)) extent.head = Math.max(extent.head, sequence);
    if (isOpen || (turnId !== null && end.has(turnId))) extent.from = Math.min(extent.from, sequence);
    // Whether compactions still pay is judged by the last two.
    if (type === 'session.compacted') extent.also = [sequence];
  }
  return extent;
}

/** Keys of history entries begin with the id of their turn. */
function readTurnId(key: string): string {
  return key.split('/', 1)[0] ?? key;
}
