import type { NewEvent } from '../contract/journal.ts';
import type { Change, Turn } from '../loop/turn/types.ts';

/** The next write of a turn: what the last reply left, these events, and the inbound events that were taken up. */
export function openWrite(turn: Turn, events: readonly NewEvent[]): Pick<Change, 'events' | 'inbound'> {
  const sequences = turn.taken.splice(0);
  return {
    events: [...turn.unwritten.splice(0), ...events],
    ...(sequences.length === 0 ? {} : { inbound: { sequences, turnId: turn.id, status: 'processed' } }),
  };
}
