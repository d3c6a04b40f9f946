import type { Db, Queryable } from '../../platform/db/db.ts';
import type { TurnPrompt } from '../log/event.ts';
import { findQueuedNotice, insertInbox, notifySession, replaceQueuedNotice } from '../store/inbox.ts';

type State = { status: string; queued: number; liveTurn: string | null };

/** Puts an opener of a turn in line, at any time, without a lease. A session that is gone or archived takes none. */
export function enqueuePrompt(db: Db, sessionId: string, prompt: TurnPrompt): Promise<boolean> {
  return enqueueIf(db, sessionId, prompt, ({ status }) => status !== 'archived');
}

/** Late guidance opens a turn only if no other turn follows, because the next turn includes it. */
export function enqueueSteer(db: Db, sessionId: string, steer: { text: string; eventId: string }): Promise<boolean> {
  const isFree = ({ status, queued }: State) => status === 'idle' && queued === 0;
  return enqueueIf(db, sessionId, { kind: 'steer', ...steer }, isFree);
}

/**
 * Queues a notice, or adds it to the one that waits while a turn runs. `full`: both have more than `maxBytes` together,
 * so the new one is dropped. `gone`: the session is archived or deleted.
 */
export async function enqueueNotice(
  db: Db,
  sessionId: string,
  text: string,
  maxBytes: number,
): Promise<'queued' | 'merged' | 'full' | 'gone'> {
  return await db.transaction(async (tx) => {
    const state = await lockState(tx, sessionId);
    if (state === undefined || state.status === 'archived') return 'gone';
    // Without a turn a worker may be taking the waiting notice at this moment, and would miss what is added.
    const waiting = state.liveTurn === null ? undefined : await findQueuedNotice(tx, sessionId);
    if (waiting !== undefined) {
      const merged = `${waiting.text}\n\n${text}`;
      if (Buffer.byteLength(merged) > maxBytes) return 'full';
      await replaceQueuedNotice(tx, sessionId, waiting.position, merged);
      return 'merged';
    }
    await insertInbox(tx, sessionId, [{ kind: 'notice', text, eventId: null }]);
    await notifySession(tx, sessionId, { queued: 1, interrupt: null, approvals: [], wake: state.status === 'idle' });
    return 'queued';
  });
}

async function enqueueIf(
  db: Db,
  sessionId: string,
  prompt: TurnPrompt,
  isWanted: (state: State) => boolean,
): Promise<boolean> {
  return await db.transaction(async (tx) => {
    const state = await lockState(tx, sessionId);
    if (state === undefined || !isWanted(state)) return false;
    await insertInbox(tx, sessionId, [prompt]);
    await notifySession(tx, sessionId, { queued: 1, interrupt: null, approvals: [], wake: state.status === 'idle' });
    return true;
  });
}

async function lockState(tx: Queryable, sessionId: string): Promise<State | undefined> {
  const { rows } = await tx.query<State>(
    'SELECT status, queued_count AS queued, live_turn AS "liveTurn" FROM sessions WHERE id = $1 FOR UPDATE',
    [sessionId],
  );
  return rows[0];
}
