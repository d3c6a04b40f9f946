import type { Queryable } from '../../platform/db/db.ts';
import type { PendingAction } from '../contract/sessions.ts';
import { encodeJson } from '../../platform/store/json.ts';
import { readRow } from '../../platform/store/rows.ts';
import type { RowOf } from '../../platform/store/rows.ts';

/** What a caller answered: to an approval, to a clarification, to a custom tool call. */
export type ActionAnswer =
  | { result: 'allow' | 'deny'; scope: 'once' | 'session' | 'always'; message?: string }
  | { answer: string }
  | { content: { type: 'text'; text: string }[]; status: 'running' | 'completed' | 'failed' | null; is_error: boolean };

/** Something a turn waits for, or waited for. `id` equals the id of the event that asked. */
export type StoredAction = {
  id: string;
  turnId: string;
  type: PendingAction['type'];
  toolUseId: string;
  toolName: string;
  state: 'pending' | 'answered' | 'expired' | 'cancelled';
  answer: ActionAnswer | null;
  answerEventId: string | null;
  /** answered by the start of long work, whose final result is still to come */
  kickoff: boolean;
  /** the event that holds the final result of long work */
  finalEventId: string | null;
  deadline: Date | null;
};

type ActionRow = RowOf<StoredAction>;

const COLUMNS = `id, turn_id, type, tool_use_id, tool_name, state, answer, answer_event_id, kickoff, final_event_id,
  deadline`;

/** The pending actions of the session, and those of `ids` whatever their state, oldest first. */
export async function listPendingActions(
  db: Queryable,
  sessionId: string,
  ids: readonly string[],
): Promise<StoredAction[]> {
  const { rows } = await db.query<ActionRow>(
    `SELECT ${COLUMNS} FROM pending_actions WHERE session_id = $1 AND (state = 'pending' OR id = ANY($2::text[]))
     ORDER BY created_at, id`,
    [sessionId, ids],
  );
  return rows.map((row) => readRow<StoredAction>(row));
}

/** Whether anything in the session waits for a person, or ever did. */
export async function hasPendingActions(db: Queryable, sessionId: string): Promise<boolean> {
  const { rowCount } = await db.query('SELECT 1 FROM pending_actions WHERE session_id = $1 LIMIT 1', [sessionId]);
  return rowCount > 0;
}

/** All actions of one turn, oldest first. */
export async function listTurnActions(db: Queryable, sessionId: string, turnId: string): Promise<StoredAction[]> {
  const { rows } = await db.query<ActionRow>(
    `SELECT ${COLUMNS} FROM pending_actions WHERE session_id = $1 AND turn_id = $2 ORDER BY created_at, id`,
    [sessionId, turnId],
  );
  return rows.map((row) => readRow<StoredAction>(row));
}

export type AnsweredAction = { id: string; answer: ActionAnswer; eventId: string; kickoff: boolean };

/** Whose key or sign-in an answer came with. */
export type AnsweredBy = { type: 'key' | 'user'; id: string };

/** Stores answers to pending actions. The caller holds the row lock of the session. */
export async function answerPendingActions(
  tx: Queryable,
  sessionId: string,
  answers: readonly AnsweredAction[],
  by: AnsweredBy,
): Promise<void> {
  if (answers.length === 0) return;
  await tx.query(
    `UPDATE pending_actions p
     SET state = 'answered', answer = a->'answer', answer_event_id = a->>'eventId', kickoff = (a->>'kickoff')::boolean,
       answered_at = now(), answered_by = $3::jsonb
     FROM jsonb_array_elements($2::jsonb) AS a
     WHERE p.session_id = $1 AND p.id = a->>'id'`,
    [sessionId, encodeJson(answers), JSON.stringify(by)],
  );
}

/** Who may answer an approval. `approvers` null: whoever may answer at all. */
export type ApprovalRule = {
  approvers: string[] | null;
  separationOfDuties: boolean;
  /** who sent the prompt of the turn; null: nobody did, or it is not known */
  requestedBy: AnsweredBy | null;
};

/** The rules of those of the pending approvals that have any. */
export async function listApprovalRules(
  db: Queryable,
  sessionId: string,
  ids: readonly string[],
): Promise<ApprovalRule[]> {
  const { rows } = await db.query<RowOf<ApprovalRule>>(
    `SELECT e.payload->'approvers' AS approvers, e.payload ? 'separation_of_duties' AS separation_of_duties,
       CASE WHEN e.payload ? 'separation_of_duties' THEN (
         SELECT m.internal->'by' FROM events m
         WHERE m.session_id = p.session_id AND m.turn_id = p.turn_id AND m.type = 'user.message'
         ORDER BY m.sequence LIMIT 1) END AS requested_by
     FROM pending_actions p JOIN events e ON e.session_id = p.session_id AND e.sequence = p.sequence
     WHERE p.session_id = $1 AND p.id = ANY($2::text[]) AND p.state = 'pending'
       AND (e.payload ? 'approvers' OR e.payload ? 'separation_of_duties')
     ORDER BY p.id`,
    [sessionId, ids],
  );
  return rows.map((row) => readRow<ApprovalRule>(row));
}

/** Notes which event holds the final result of a custom tool call, so that a second one is not taken. */
export async function setFinals(
  tx: Queryable,
  sessionId: string,
  finals: readonly { id: string; eventId: string }[],
): Promise<void> {
  if (finals.length === 0) return;
  await tx.query(
    `UPDATE pending_actions p SET final_event_id = a->>'eventId' FROM jsonb_array_elements($2::jsonb) AS a
     WHERE p.session_id = $1 AND p.id = a->>'id'`,
    [sessionId, JSON.stringify(finals)],
  );
}

/** Allows tools for this agent and subject from now on. */
export async function insertStandingApprovals(
  tx: Queryable,
  owner: { organizationId: string; agentId: string; subjectId: string },
  tools: readonly string[],
): Promise<void> {
  if (tools.length === 0) return;
  await tx.query(
    `INSERT INTO standing_approvals (organization_id, agent_id, subject_id, tool)
     SELECT $1, $2, $3, tool FROM unnest($4::text[]) AS tool ON CONFLICT DO NOTHING`,
    [owner.organizationId, owner.agentId, owner.subjectId, tools],
  );
}
