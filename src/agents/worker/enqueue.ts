import type { Db, Queryable } from '../../platform/db/db.ts';
import type { TurnPrompt } from '../log/event.ts';
import { insertInbox, notifySession } from '../store/inbox.ts';

type State = { status: string; queued: number };

/** Puts an opener of a turn in line, at any time, without a lease. A session that is gone or archived takes none. */
export function enqueuePrompt(db: Db, sessionId: string, prompt: TurnPrompt): Promise<boolean> {
  return enqueueIf(db, sessionId, prompt, ({ status }) => status !== 'archived');
}

/** Guidance that came too late opens a turn only where none follows anyway: any other tells the model of it. */
export function enqueueSteer(db: Db, sessionId: string, steer: { text: string; eventId: string }): Promise<boolean> {
  const isFree = ({ status, queued }: State) => status === 'idle' && queued === 0;
  return enqueueIf(db, sessionId, { kind: 'steer', ...steer }, isFree);
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
    'SELECT status, queued_count AS queued FROM sessions WHERE id = $1 FOR UPDATE',
    [sessionId],
  );
  return rows[0];
}
