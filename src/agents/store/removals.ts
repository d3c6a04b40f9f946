// Tests: test/agents/api/subjects/subjects.test.ts
import type { Queryable } from '../../platform/db/db.ts';
import { newId } from '../../platform/ids.ts';
import { readRow } from '../../platform/store/rows.ts';
import type { RowOf } from '../../platform/store/rows.ts';
import type { Subject } from './approvals.ts';

/** What a deletion still has to remove outside the database. */
export type Removal = Subject & {
  id: string;
  sessionIds: string[];
  /** the subject's files go too */
  volume: boolean;
};

/** A removal belongs to one process for so long. Its steps are repeatable. */
const LEASE_MS = 5 * 60_000;
const COLUMNS = 'id, organization_id, agent_id, subject_id, session_ids, volume';
const WHERE = 'WHERE organization_id = $1 AND agent_id = $2 AND subject_id = $3';

function params({ organizationId, agentId, subjectId }: Subject): string[] {
  return [organizationId, agentId, subjectId];
}

/**
 * Keeps a deletion of the subject (`exclusive`) apart from whatever gives it something new (`shared`), until the
 * transaction ends.
 */
export async function lockSubject(tx: Queryable, subject: Subject, mode: 'shared' | 'exclusive'): Promise<void> {
  const lock = mode === 'shared' ? 'pg_advisory_xact_lock_shared' : 'pg_advisory_xact_lock';
  await tx.query(`SELECT ${lock}(hashtextextended($1, 53))`, [JSON.stringify(params(subject))]);
}

/** Whether a deletion of the subject has not removed its files yet. */
export async function isBeingDeleted(db: Queryable, subject: Subject): Promise<boolean> {
  const { rows } = await db.query(`SELECT 1 FROM pending_removals ${WHERE} AND volume LIMIT 1`, params(subject));
  return rows.length > 0;
}

/** The removal belongs to `owner` until its lease ends. */
export async function insertRemoval(tx: Queryable, removal: Omit<Removal, 'id'>, owner: string): Promise<Removal> {
  const id = newId('job');
  await tx.query(
    `INSERT INTO pending_removals (${COLUMNS}, lease_owner, lease_expires)
     VALUES ($1, $2, $3, $4, $5, $6, $7, now() + $8 * interval '1 millisecond')`,
    [id, ...params(removal), removal.sessionIds, removal.volume, owner, LEASE_MS],
  );
  return { ...removal, id };
}

/**
 * Takes removals that no living process works on, the oldest first. A lease that ends later than any can was taken before
 * the clock was set back.
 */
export async function claimRemovals(db: Queryable, owner: string, limit: number): Promise<Removal[]> {
  const { rows } = await db.query<RowOf<Removal>>(
    `UPDATE pending_removals SET lease_owner = $1, lease_expires = now() + $2 * interval '1 millisecond'
     WHERE id IN (SELECT id FROM pending_removals WHERE lease_expires IS NULL OR lease_expires < now()
         OR lease_expires > now() + 2 * $2 * interval '1 millisecond'
       ORDER BY created_at LIMIT $3 FOR UPDATE SKIP LOCKED)
     RETURNING ${COLUMNS}`,
    [owner, LEASE_MS, limit],
  );
  return rows.map((row) => readRow<Removal>(row));
}

export async function deleteRemoval(db: Queryable, id: string, owner: string): Promise<void> {
  await db.query('DELETE FROM pending_removals WHERE id = $1 AND lease_owner = $2', [id, owner]);
}

/** Lets any process try the removal again at once. */
export async function releaseRemoval(db: Queryable, id: string, owner: string): Promise<void> {
  await db.query(
    'UPDATE pending_removals SET lease_owner = NULL, lease_expires = NULL WHERE id = $1 AND lease_owner = $2',
    [id, owner],
  );
}

async function deleteSessionRows(tx: Queryable, organizationId: string, ids: readonly string[]): Promise<void> {
  await tx.query('DELETE FROM events WHERE session_id = ANY($1::text[])', [ids]);
  const scopes = ids.map((id) => `events:${id}`);
  await tx.query('DELETE FROM idempotency_keys WHERE organization_id = $1 AND scope = ANY($2::text[])', [
    organizationId,
    scopes,
  ]);
  await tx.query('DELETE FROM sessions WHERE id = ANY($1::text[])', [ids]);
}

export type SubjectDeletion = { outcome: 'deleted'; sessionIds: string[] } | { outcome: 'running' };

/**
 * Deletes all rows of a subject: sessions with their logs, memory, learned skills, approvals, automations and webhook
 * deliveries. The usage ledger stays. The caller holds a transaction, and rolls back unless the outcome is `deleted`.
 */
export async function deleteSubjectRows(tx: Queryable, subject: Subject): Promise<SubjectDeletion> {
  await lockSubject(tx, subject, 'exclusive');
  // First, so that no run begins behind the look at the sessions.
  await tx.query(`DELETE FROM automations ${WHERE}`, params(subject));
  const { rows } = await tx.query<{ id: string; status: string }>(
    `SELECT id, status FROM sessions ${WHERE} ORDER BY id FOR UPDATE`,
    params(subject),
  );
  if (rows.some(({ status }) => status === 'running')) return { outcome: 'running' };
  const sessionIds = rows.map(({ id }) => id);
  await deleteSessionRows(tx, subject.organizationId, sessionIds);
  for (const table of ['memories', 'learned_skills', 'standing_approvals', 'webhook_deliveries', 'subject_activity']) {
    await tx.query(`DELETE FROM ${table} ${WHERE}`, params(subject));
  }
  return { outcome: 'deleted', sessionIds };
}

/** Notes that the subject is in use, so that `retention.subjectDays` counts from now. */
export async function touchSubject(db: Queryable, subject: Subject): Promise<void> {
  await db.query(
    `INSERT INTO subject_activity (organization_id, agent_id, subject_id)
     SELECT $1, a.id, $3 FROM agents a WHERE a.id = $2 AND a.organization_id = $1 FOR KEY SHARE
     ON CONFLICT (agent_id, subject_id) DO UPDATE SET last_used_at = now()`,
    params(subject),
  );
}

/** Keeps the last activity of sessions that are about to be deleted: the volume of their subject stays. */
export async function keepActivity(tx: Queryable, sessionIds: readonly string[]): Promise<void> {
  await tx.query(
    `INSERT INTO subject_activity (organization_id, agent_id, subject_id, last_used_at)
     SELECT organization_id, agent_id, subject_id, max(last_activity_at) FROM sessions
     WHERE id = ANY($1::text[]) GROUP BY organization_id, agent_id, subject_id
     ON CONFLICT (agent_id, subject_id)
       DO UPDATE SET last_used_at = greatest(subject_activity.last_used_at, excluded.last_used_at)`,
    [sessionIds],
  );
}

/** Deletes up to `limit` sessions without activity for `days`, running ones apart. Returns what is left to remove. */
export async function deleteIdleSessions(
  tx: Queryable,
  days: number,
  limit: number,
  owner: string,
): Promise<Removal[]> {
  const { rows } = await tx.query<RowOf<Subject & { id: string }>>(
    `SELECT id, organization_id, agent_id, subject_id FROM sessions
     WHERE last_activity_at < now() - $1 * interval '1 day' AND status <> 'running'
     ORDER BY id LIMIT $2 FOR UPDATE SKIP LOCKED`,
    [days, limit],
  );
  const sessions = rows.map((row) => readRow<Subject & { id: string }>(row));
  await keepActivity(
    tx,
    sessions.map(({ id }) => id),
  );
  const removals: Removal[] = [];
  for (const { id, ...subject } of sessions) {
    await deleteSessionRows(tx, subject.organizationId, [id]);
    removals.push(await insertRemoval(tx, { ...subject, sessionIds: [id], volume: false }, owner));
  }
  return removals;
}

/** Subjects of whom nothing was seen for `days`: no session, no use of files, and no automation that is enabled. */
export async function findIdleSubjects(
  db: Queryable,
  days: number,
  which: { limit: number } | { subject: Subject },
): Promise<Subject[]> {
  const { rows } = await db.query<RowOf<Subject>>(
    `SELECT u.organization_id, u.agent_id, u.subject_id FROM (
       SELECT organization_id, agent_id, subject_id, last_activity_at AS at FROM sessions
       WHERE $3::text IS NULL OR (organization_id = $3 AND agent_id = $4 AND subject_id = $5)
       UNION ALL
       SELECT organization_id, agent_id, subject_id, last_used_at FROM subject_activity
       WHERE $3::text IS NULL OR (organization_id = $3 AND agent_id = $4 AND subject_id = $5)) u
     WHERE NOT EXISTS (SELECT FROM automations m WHERE m.agent_id = u.agent_id AND m.subject_id = u.subject_id AND m.enabled)
     GROUP BY u.organization_id, u.agent_id, u.subject_id
     HAVING max(u.at) < now() - $1 * interval '1 day' LIMIT $2`,
    'subject' in which ? [days, 1, ...params(which.subject)] : [days, which.limit, null, null, null],
  );
  return rows.map((row) => readRow<Subject>(row));
}
