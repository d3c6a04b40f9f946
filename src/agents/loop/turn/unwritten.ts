import type { Change } from '../../log/entry.ts';
import type { NewEvent } from '../../log/event.ts';
import type { Turn } from './types.ts';

/** The next write of a turn: unwritten events and calls of the last reply, these events, and the consumed inbound events. */
export function drainUnwritten(turn: Turn, events: readonly NewEvent[]): Pick<Change, 'events' | 'inbound' | 'calls'> {
  const sequences = turn.consumed.splice(0);
  const calls = turn.unwrittenCalls.splice(0);
  return {
    events: [...turn.unwritten.splice(0), ...events],
    ...(calls.length === 0 ? {} : { calls }),
    ...(sequences.length === 0 ? {} : { inbound: { sequences, turnId: turn.id, status: 'processed' } }),
  };
}
