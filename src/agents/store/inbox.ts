import type { Queryable } from '../../platform/db/db.ts';
import type { GoalState } from '../contract/goals.ts';
import type { TurnPrompt } from '../log/event.ts';
import type { SessionStatus } from '../contract/sessions.ts';
import { encodeJson } from '../../platform/store/json.ts';
import { readRow } from '../../platform/store/rows.ts';
import type { RowOf } from '../../platform/store/rows.ts';

/** One waiting opener of a turn; rows of a session are taken by `position`. */
export type InboxItem = { position: number; prompt: TurnPrompt };

/** What sending needs to know of a session. */
export type SendSession = {
  id: string;
  organizationId: string;
  agentId: string;
  subjectId: string;
  status: SessionStatus;
  liveTurn: string | null;
  queuedCount: number;
  messagesPerMinute: number;
  goal: GoalState | null;
};

/** Locks the session row until the transaction ends, so that sends to one session happen one after the other. */
export async function lockSession(tx: Queryable, organizationId: string, id: string): Promise<SendSession | undefined> {
  const { rows } = await tx.query<RowOf<SendSession>>(
    `SELECT s.id, s.organization_id, s.agent_id, s.subject_id, s.status, s.live_turn, s.queued_count, s.goal,
       a.messages_per_minute
     FROM sessions s JOIN agents a ON a.id = s.agent_id
     WHERE s.id = $1 AND s.organization_id = $2 FOR UPDATE OF s`,
    [id, organizationId],
  );
  return rows[0] && readRow<SendSession>(rows[0]);
}

/** Adds inbox entries that start turns. The caller holds the row lock and counts them with `notifySession`. */
export async function insertInbox(tx: Queryable, sessionId: string, prompts: readonly TurnPrompt[]): Promise<void> {
  for (const prompt of prompts) {
    await tx.query('INSERT INTO inbox (session_id, kind, event_id, content) VALUES ($1, $2, $3, $4::jsonb)', [
      sessionId,
      prompt.kind,
      prompt.eventId,
      prompt.kind === 'message' ? null : encodeJson(prompt),
    ]);
  }
}

/** The waiting inbox entries, oldest first. */
export async function listInbox(db: Queryable, sessionId: string, limit: number): Promise<InboxItem[]> {
  const { rows } = await db.query<{ position: number; kind: string; event_id: string; content: TurnPrompt | null }>(
    'SELECT position, kind, event_id, content FROM inbox WHERE session_id = $1 ORDER BY position LIMIT $2',
    [sessionId, limit],
  );
  return rows.map((row) => ({
    position: row.position,
    prompt: row.content ?? { kind: 'message', eventId: row.event_id },
  }));
}

/** The newest notice that waits. */
export async function findQueuedNotice(
  tx: Queryable,
  sessionId: string,
): Promise<{ position: number; text: string } | undefined> {
  const { rows } = await tx.query<{ position: number; content: { text: string } }>(
    `SELECT position, content FROM inbox WHERE session_id = $1 AND kind = 'notice' ORDER BY position DESC LIMIT 1`,
    [sessionId],
  );
  const row = rows[0];
  return row && { position: row.position, text: row.content.text };
}

/** The caller holds the row lock of the session, and no worker is taking the notice. */
export async function replaceQueuedNotice(
  tx: Queryable,
  sessionId: string,
  position: number,
  text: string,
): Promise<void> {
  const prompt: TurnPrompt = { kind: 'notice', text, eventId: null };
  await tx.query('UPDATE inbox SET content = $3::jsonb WHERE session_id = $1 AND position = $2', [
    sessionId,
    position,
    encodeJson(prompt),
  ]);
}

export type SessionNotice = {
  queued: number;
  interrupt: { eventId: string; message: string | null } | null;
  /** tools allowed for the rest of the session */
  approvals: string[];
  wake: boolean;
};

/** Leaves on the session row what a worker has to see. The caller holds the row lock. */
export async function notifySession(tx: Queryable, sessionId: string, notice: SessionNotice): Promise<void> {
  await tx.query(
    `UPDATE sessions SET
       queued_count = queued_count + $2::int,
       interrupt = coalesce($3::jsonb, interrupt),
       session_approvals = ARRAY(SELECT DISTINCT tool FROM unnest(session_approvals || $4::text[]) AS tool ORDER BY tool),
       wake_at = CASE WHEN $5::boolean THEN now() ELSE wake_at END
     WHERE id = $1`,
    [
      sessionId,
      notice.queued,
      notice.interrupt === null ? null : encodeJson(notice.interrupt),
      notice.approvals,
      notice.wake,
    ],
  );
}

/** A paused turn goes on. Its open step stays as it is. */
export async function resumeTurn(tx: Queryable, turnId: string): Promise<void> {
  await tx.query(`UPDATE turns SET state = 'running' WHERE id = $1`, [turnId]);
}
