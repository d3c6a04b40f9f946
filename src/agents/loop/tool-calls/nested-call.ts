import { omitUndefined } from '../../../platform/records.ts';
import type { LogEvent, NestedCallTag } from '../../log/event.ts';
import type { Change } from '../../log/entry.ts';
import { toLogEvent } from '../../log/read.ts';
import type { StoredAt } from '../../log/read.ts';
import { tagNestedEvent } from '../../log/write-nested.ts';
import type { Journal, Turn, TurnDeps } from '../turn/types.ts';

/**
 * For calls that a tool makes in the course of its own: the same policies, sandbox and journal-before-effect as for the
 * model's, but with nobody to ask, so what would have to be asked for is refused. Their uses and results go into the
 * session's log under `tag`; everything else stays in a journal that is not kept and that begins with `events`. What
 * `keepTurn` says of the turn goes along with each of these writes.
 */
export function buildNestedDeps(
  turn: Turn,
  deps: TurnDeps,
  tag: NestedCallTag,
  inner: { events?: LogEvent[]; keepTurn?: () => Change['turn'] } = {},
): TurnDeps {
  return {
    ...deps,
    journal: openNestedJournal(deps.journal, turn.id, tag, inner.events ?? [], inner.keepTurn),
    readPermissions: async () => ({ ...(await deps.readPermissions()), unattended: true }),
    readAsks: () => Promise.resolve([]),
    sendLive: () => undefined,
  };
}

// The write to the session's log comes before the effect, and holds back a worker whose lease is gone.
function openNestedJournal(
  outer: Journal,
  turnId: string,
  tag: NestedCallTag,
  events: LogEvent[],
  keepTurn?: () => Change['turn'],
): Journal {
  return {
    events,
    async append(change) {
      const tagged = change.events.flatMap((event) => tagNestedEvent(event, turnId, tag) ?? []);
      if (tagged.length > 0) {
        const turn = keepTurn?.();
        await outer.append({ events: tagged, ...omitUndefined({ turn }) });
      }
      for (const event of change.events) events.push(toLogEvent(event, storedAt(events.length + 1)));
    },
    refresh: () => Promise.resolve(),
  };
}

/** Where an event stands in a journal that is not stored. */
export function storedAt(sequence: number): StoredAt {
  return { sessionId: '', sequence, processedAt: null, createdAt: new Date().toISOString() };
}
