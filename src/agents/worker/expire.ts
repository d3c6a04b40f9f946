import type { Db, Queryable } from '../../platform/db/db.ts';
import { buildIdle, buildResult, buildTurnResume } from '../log/build-events.ts';
import type { EventEnvelope } from '../contract/events.ts';
import type { JournalEntry } from '../log/entry.ts';
import type { NewEvent } from '../log/event.ts';
import { listTurnActions } from '../store/pending-actions.ts';
import type { StoredAction } from '../store/pending-actions.ts';
import { writeJournal } from '../store/journal.ts';
import type { Claim, TurnRow } from '../store/leases.ts';

const TIMED_OUT = JSON.stringify({ error: 'The application did not answer in time. Go on without this result.' });

/**
 * Answers pending actions past their deadline with an error. Under the row lock, because the caller may answer at the
 * same moment. `resumed`: nothing is pending any longer and the turn continues. Otherwise the lease is released, and
 * `awake` says whether the session is due again at once. `lastSequence` is the log's after that.
 */
export async function expireActions(
  claim: Claim,
  db: Db,
  publish: (envelopes: EventEnvelope[]) => void,
): Promise<{ resumed: boolean; awake: boolean; lastSequence: number }> {
  const { turn, lastSequence } = claim;
  if (turn === null) return { resumed: true, awake: false, lastSequence };
  const { appended, resumed } = await db.transaction(async (tx) => {
    await tx.query('SELECT lease_epoch FROM sessions WHERE id = $1 FOR UPDATE', [claim.sessionId]);
    const change = await decideExpiry(tx, claim, turn);
    const [written] = await writeJournal(tx, [{ sessionId: claim.sessionId, epoch: claim.epoch, ...change }]);
    return { appended: written, resumed: change.session?.release === undefined };
  });
  if (appended === undefined) return { resumed: false, awake: false, lastSequence };
  publish(appended.events);
  const last = appended.events.at(-1)?.sequence ?? 0;
  return { resumed, awake: appended.awake, lastSequence: Math.max(last, lastSequence) };
}

async function decideExpiry(
  tx: Queryable,
  claim: Claim,
  turn: TurnRow,
): Promise<Omit<JournalEntry, 'sessionId' | 'epoch'>> {
  const pending = (await listTurnActions(tx, claim.sessionId, turn.id)).filter((ask) => ask.state === 'pending');
  // The caller was faster, and the answer has already resumed the turn.
  if (pending.length === 0) return { events: [] };
  const now = Date.now();
  const expired = pending.filter((ask) => ask.deadline !== null && ask.deadline.getTime() <= now);
  const rest = pending.filter((ask) => !expired.includes(ask));
  const results = buildResults(expired, turn);
  const closeAsks = { ids: expired.map((ask) => ask.id), state: 'expired' as const };
  if (rest.length === 0) {
    return {
      events: [...results, buildTurnResume({ turnId: turn.id })],
      closeAsks,
      session: { status: 'running', wakeAt: 'now' },
    };
  }
  const deadlines = rest.flatMap((ask) => (ask.deadline === null ? [] : [ask.deadline.getTime()]));
  const stop = { type: 'requires_action' as const, event_ids: rest.map((ask) => ask.id) };
  return {
    events: expired.length === 0 ? [] : [...results, buildIdle({ turnId: turn.id }, { stop_reason: stop })],
    closeAsks,
    session: {
      status: 'waiting_on_human',
      wakeAt: deadlines.length === 0 ? null : new Date(Math.min(...deadlines)),
      release: true,
    },
  };
}

function buildResults(expired: readonly StoredAction[], turn: TurnRow): NewEvent[] {
  const step = turn.step;
  return expired.flatMap((ask): NewEvent[] => {
    const call = step?.calls.find((candidate) => candidate.useId === ask.toolUseId);
    // An approval that has expired counts as denied when the turn decides about its call again.
    if (call === undefined || step === null || ask.type === 'agent.approval_request') return [];
    return [
      buildResult({ turnId: turn.id, step: step.number, call }, { content: TIMED_OUT, isError: true, durationMs: 0 }),
    ];
  });
}
