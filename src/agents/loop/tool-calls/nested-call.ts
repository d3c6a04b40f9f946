import { omitUndefined } from '../../../platform/records.ts';
import type { LogEvent, NestedCallTag } from '../../log/event.ts';
import type { Change } from '../../log/entry.ts';
import { toLogEvent } from '../../log/read.ts';
import type { StoredAt } from '../../log/read.ts';
import { tagNestedEvent } from '../../log/build-nested-events.ts';
import { tagThreadCalls } from '../turn/call-record.ts';
import type { Journal, SettleDeps, Turn } from '../turn/types.ts';

/** The journal of the calls that one tool makes. */
type NestedJournal = {
  tag: NestedCallTag;
  /** the events it starts with; new ones are appended here */
  events?: LogEvent[];
  /** the state of the turn to store with each write */
  snapshotTurn?: () => Change['turn'];
};

/**
 * Dependencies for calls that a tool makes while it runs: the same policies, sandbox and journal-before-effect as for
 * the model's calls, except that approvals cannot be requested, so calls that need one are refused. Uses and results
 * are written to the session's log under `tag`; all other events stay in a journal that is not stored.
 */
export function buildNestedDeps<Deps extends SettleDeps>(turn: Turn, deps: Deps, nested: NestedJournal): Deps {
  return {
    ...deps,
    journal: openNestedJournal(deps.journal, turn.id, nested),
    readPermissions: async () => ({ ...(await deps.readPermissions()), unattended: true }),
    readPendingActions: () => Promise.resolve([]),
    sendLive: () => undefined,
    // Another worker could not continue them: their journal is not stored.
    drain: undefined,
  };
}

// The write to the session's log precedes the effect, so a worker that has lost its lease stops here.
function openNestedJournal(outer: Journal, turnId: string, { tag, events = [], snapshotTurn }: NestedJournal): Journal {
  return {
    events,
    async append(change) {
      const tagged = change.events.flatMap((event) => tagNestedEvent(event, turnId, tag) ?? []);
      const calls = tagThreadCalls(change.calls ?? [], turnId, tag.thread_id ?? turnId);
      if (tagged.length > 0 || calls.length > 0) {
        await outer.append({ events: tagged, calls, ...omitUndefined({ turn: snapshotTurn?.() }) });
      }
      for (const event of change.events) events.push(toLogEvent(event, storedAt(events.length + 1)));
    },
    refresh: () => Promise.resolve(),
  };
}

/** The envelope fields of an event in a journal that is not stored. */
export function storedAt(sequence: number): StoredAt {
  return { sessionId: '', sequence, processedAt: null, createdAt: new Date().toISOString() };
}
