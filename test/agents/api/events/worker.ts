import { publishEvents } from '../../../../src/agents/channels.ts';
import { pino } from 'pino';
import type { JournalEntry, NewPendingAction } from '../../../../src/agents/log/entry.ts';
import type { NewEvent } from '../../../../src/agents/log/event.ts';
import type { PendingAction } from '../../../../src/agents/contract/sessions.ts';
import { newId } from '../../../../src/platform/ids.ts';
import { writeJournal } from '../../../../src/agents/store/journal.ts';
import { buildRawEvent } from '../../../support/events.ts';
import type { World } from './harness.ts';

const log = pino({ level: 'silent' });

export function buildEvent(
  payload: { type: string } & Record<string, unknown>,
  turnId: string | null = null,
): NewEvent {
  return buildRawEvent(payload, { turnId });
}

/** Writes as a worker does: to the log, then to the bus. */
export async function append(world: Pick<World, 'db' | 'bus'>, sessionId: string, entry: Partial<JournalEntry>) {
  const [appended] = await writeJournal(world.db, [{ sessionId, epoch: null, events: [], ...entry }]);
  if (appended === undefined) throw new Error('no such session');
  publishEvents(world.bus, log, appended.organizationId, appended.events);
  return appended.events;
}

/** Ends the live turn. */
export async function endTurn(world: World, sessionId: string, turnId: string): Promise<void> {
  const payload = { type: 'session.status_idle', stop_reason: { type: 'end_turn' } };
  await append(world, sessionId, {
    events: [buildEvent(payload, turnId)],
    session: { status: 'idle', liveTurn: null, wakeAt: null, release: true },
    turn: { id: turnId, state: 'ended' },
  });
}

/** Makes the live turn wait for answers of these types; the ids are those of the pending actions. */
export async function ask(
  world: World,
  sessionId: string,
  turnId: string,
  types: readonly PendingAction['type'][],
): Promise<string[]> {
  const asks = types.map((type): NewPendingAction => {
    const id = newId('evt');
    return { id, turnId, type, toolUseId: id, toolName: `tool_${type.split('.')[1]}`, deadline: null };
  });
  const events = asks.map(({ id, type }) => buildRawEvent({ type, id }, { id, turnId }));
  await append(world, sessionId, {
    events,
    asks,
    session: { status: 'waiting_on_human', wakeAt: null, release: true },
    turn: { id: turnId, state: 'waiting', step: { number: 1, calls: [] } },
  });
  return asks.map(({ id }) => id);
}
