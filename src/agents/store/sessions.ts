import type { Queryable } from '../../platform/db/db.ts';
import { readPage } from '../../platform/store/pages.ts';
import type { Keyset, PageOf, PageRequest } from '../../platform/store/pages.ts';
import { renderGoal } from '../contract/goals.ts';
import type { GoalState } from '../contract/goals.ts';
import type { PendingAction, Session, SessionMcpServer, SessionStatus } from '../contract/sessions.ts';
import type { StopReason, Waiting } from '../contract/events.ts';
import type { Reasoning } from '../contract/reasoning.ts';
import type { Usage } from '../contract/usage.ts';
import { newId } from '../../platform/ids.ts';
import { keepActivity } from './removals.ts';

export type SessionRow = {
  id: string;
  agent_id: string;
  agent_version: number;
  agent_version_id: string;
  subject_id: string;
  role: string | null;
  title: string | null;
  status: SessionStatus;
  yolo_mode: boolean;
  preview: boolean;
  tag: string | null;
  metadata: Record<string, unknown>;
  reasoning: Reasoning | null;
  automation_id: string | null;
  goal: GoalState | null;
  pending: PendingAction[];
  agent_name: string;
  turn_started_at: Date | null;
  last_sequence: number;
  last_stop_reason: StopReason | null;
  queued_count: number;
  waiting: Waiting | null;
  mcp_servers: SessionMcpServer[];
  usage: Usage | null;
  created_at: Date;
  updated_at: Date;
  last_activity_at: Date;
  archived_at: Date | null;
};

const OWN_COLUMNS = `s.id, s.agent_id, s.agent_version, s.agent_version_id, s.subject_id, s.role, s.title, s.status,
  s.yolo_mode, s.preview, s.tag, s.metadata, s.reasoning, s.automation_id, s.goal, s.queued_count, s.waiting, s.mcp_servers, s.usage, s.created_at,
  s.updated_at, s.last_activity_at, s.archived_at, s.last_sequence, s.last_stop_reason,
  (SELECT a.name FROM agents a WHERE a.id = s.agent_id) AS agent_name,
  (SELECT t.started_at FROM turns t WHERE t.id = s.live_turn) AS turn_started_at`;
const PENDING = `coalesce((
  SELECT jsonb_agg(jsonb_build_object('eventId', p.id, 'type', p.type) ORDER BY p.created_at, p.id)
  FROM pending_actions p WHERE p.session_id = s.id AND p.state = 'pending'), '[]') AS pending`;
/** Of `sessions s`. */
export const SESSION_COLUMNS = `${OWN_COLUMNS}, ${PENDING}`;

export function readSession(row: SessionRow): Session {
  return {
    object: 'session',
    id: row.id,
    agentId: row.agent_id,
    agentName: row.agent_name,
    agentVersion: row.agent_version,
    agentVersionId: row.agent_version_id,
    subjectId: row.subject_id,
    role: row.role,
    title: row.title,
    status: row.status,
    yoloMode: row.yolo_mode,
    preview: row.preview,
    tag: row.tag,
    reasoning: row.reasoning,
    metadata: row.metadata,
    automationId: row.automation_id,
    goal: renderGoal(row.goal),
    pendingActions: row.pending,
    openActions: row.pending.length,
    lastSequence: row.last_sequence,
    lastStopReason: row.last_stop_reason,
    turnStartedAt: row.turn_started_at?.toISOString() ?? null,
    queuedCount: row.queued_count,
    waiting: row.waiting,
    mcpServers: row.mcp_servers,
    usage: row.usage,
    createdAt: row.created_at.toISOString(),
    updatedAt: row.updated_at.toISOString(),
    lastActivityAt: row.last_activity_at.toISOString(),
    archivedAt: row.archived_at?.toISOString() ?? null,
  };
}

export type SessionTemplate = {
  agentStatus: 'active' | 'archived';
  conversationsPerMinute: number;
  /** undefined: there is no such tag */
  version: { id: string; version: number; roles: string[] } | undefined;
};

/** What a new session of an agent is made from: the production version, the newest one, or the tag's. */
export async function findSessionTemplate(
  db: Queryable,
  organizationId: string,
  agentId: string,
  choice: { preview: boolean; tag: string | null },
): Promise<SessionTemplate | undefined> {
  const { rows } = await db.query<{
    status: 'active' | 'archived';
    conversations_per_minute: number;
    version_id: string | null;
    version: number;
    roles: string[];
  }>(
    `SELECT a.status, a.conversations_per_minute, v.id AS version_id, v.version,
       jsonb_path_query_array(v.roles::jsonb, '$[*].name') AS roles
     FROM agents a
     LEFT JOIN agent_tags t ON t.agent_id = a.id AND t.name = $3
     LEFT JOIN agent_versions v ON v.agent_id = a.id AND v.version = CASE
       WHEN $3::text IS NOT NULL THEN t.version WHEN $4::boolean THEN a.latest_version ELSE a.production_version END
     WHERE a.id = $1 AND a.organization_id = $2`,
    [agentId, organizationId, choice.tag, choice.preview],
  );
  const row = rows[0];
  if (row === undefined) return undefined;
  return {
    agentStatus: row.status,
    conversationsPerMinute: row.conversations_per_minute,
    version: row.version_id === null ? undefined : { id: row.version_id, version: row.version, roles: row.roles },
  };
}

export type NewSession = {
  organizationId: string;
  agentId: string;
  agentVersionId: string;
  agentVersion: number;
  subjectId: string;
  role: string | null;
  title: string | null;
  yoloMode: boolean;
  preview: boolean;
  tag: string | null;
  metadata: Record<string, unknown>;
  reasoning: Reasoning | null;
  automationId: string | null;
};

/** Undefined when the agent has been deleted meanwhile. */
export async function insertSession(db: Queryable, session: NewSession): Promise<Session | undefined> {
  const { rows } = await db.query<SessionRow>(
    `INSERT INTO sessions AS s (id, organization_id, agent_id, agent_version_id, agent_version, subject_id, role, title,
       title_fixed, yolo_mode, preview, tag, metadata, automation_id, reasoning)
     SELECT $1, $2, a.id, $4, $5, $6, $7, $8, $8::text IS NOT NULL, $9, $10, $11, $12, $13, $14
     FROM agents a WHERE a.id = $3 FOR KEY SHARE
     RETURNING ${OWN_COLUMNS}, '[]'::jsonb AS pending`,
    [
      newId('ses'),
      session.organizationId,
      session.agentId,
      session.agentVersionId,
      session.agentVersion,
      session.subjectId,
      session.role,
      session.title,
      session.yoloMode,
      session.preview,
      session.tag,
      JSON.stringify(session.metadata),
      session.automationId,
      session.reasoning && JSON.stringify(session.reasoning),
    ],
  );
  return rows[0] && readSession(rows[0]);
}

export async function findSession(db: Queryable, organizationId: string, id: string): Promise<Session | undefined> {
  const { rows } = await db.query<SessionRow>(
    `SELECT ${SESSION_COLUMNS} FROM sessions s WHERE s.id = $1 AND s.organization_id = $2`,
    [id, organizationId],
  );
  return rows[0] && readSession(rows[0]);
}

const KEYSET: Keyset = { name: 'created', keys: [{ sql: 's.id', type: 'text' }], direction: 'DESC' };

/** The sessions of an automation's runs, archived ones included, newest first. */
export async function listAutomationSessions(
  db: Queryable,
  automation: { id: string; organizationId: string },
  page: PageRequest,
): Promise<PageOf<Session>> {
  const statement = {
    columns: SESSION_COLUMNS,
    from: 'FROM sessions s WHERE s.automation_id = $1 AND s.organization_id = $2',
    params: [automation.id, automation.organizationId],
    keyset: KEYSET,
  };
  const found = await readPage<SessionRow>(db, statement, page);
  return { ...found, rows: found.rows.map(readSession) };
}

/** All sessions of a subject, archived ones included, newest first. */
export async function listSubjectSessions(
  db: Queryable,
  subject: { organizationId: string; agentId: string; subjectId: string },
  page: PageRequest,
): Promise<PageOf<Session>> {
  const statement = {
    columns: SESSION_COLUMNS,
    from: 'FROM sessions s WHERE s.organization_id = $1 AND s.agent_id = $2 AND s.subject_id = $3',
    params: [subject.organizationId, subject.agentId, subject.subjectId],
    keyset: KEYSET,
    counted: false,
  };
  const found = await readPage<SessionRow>(db, statement, page);
  return { ...found, rows: found.rows.map(readSession) };
}

export type SessionChange = {
  title: string | null;
  yoloMode: boolean | null;
  /** null: the agent version's; undefined leaves it as it is */
  reasoning: Reasoning | null | undefined;
  metadata: Record<string, unknown> | null;
};

/** Null leaves a column as it is; a title given here is never made by the service again. False: archived or gone. */
export async function updateSession(
  db: Queryable,
  organizationId: string,
  id: string,
  change: SessionChange,
): Promise<boolean> {
  const { rowCount } = await db.query(
    `UPDATE sessions SET title = coalesce($3, title), title_fixed = title_fixed OR $3::text IS NOT NULL,
       yolo_mode = coalesce($4, yolo_mode), metadata = coalesce($5::jsonb, metadata),
       reasoning = CASE WHEN $6 THEN $7::jsonb ELSE reasoning END, updated_at = now()
     WHERE id = $1 AND organization_id = $2 AND status <> 'archived'`,
    [
      id,
      organizationId,
      change.title,
      change.yoloMode,
      change.metadata && JSON.stringify(change.metadata),
      change.reasoning !== undefined,
      change.reasoning ? JSON.stringify(change.reasoning) : null,
    ],
  );
  return rowCount > 0;
}

/**
 * Archives the session and empties the inbox. Increments the epoch, so that no worker can continue to write. The caller
 * holds the row lock.
 */
export async function markArchived(tx: Queryable, id: string): Promise<void> {
  await tx.query('DELETE FROM inbox WHERE session_id = $1', [id]);
  await tx.query(
    `UPDATE sessions SET status = 'archived', archived_at = now(), updated_at = now(), queued_count = 0,
       interrupt = NULL, wake_at = NULL, live_turn = NULL, lease_owner = NULL, lease_expires = NULL,
       lease_epoch = lease_epoch + 1,
       goal = CASE WHEN goal->>'status' = 'active'
         THEN goal || '{"status":"paused","reason":"The session was archived."}'::jsonb ELSE goal END
     WHERE id = $1`,
    [id],
  );
}

/** Deletes a session with its log. The caller holds the row lock. */
export async function deleteSession(tx: Queryable, organizationId: string, id: string): Promise<void> {
  await keepActivity(tx, [id]);
  await tx.query('DELETE FROM events WHERE session_id = $1', [id]);
  await tx.query('DELETE FROM idempotency_keys WHERE organization_id = $1 AND scope = $2', [
    organizationId,
    `events:${id}`,
  ]);
  await tx.query('DELETE FROM sessions WHERE id = $1', [id]);
}

/** What a live turn has used so far. */
export async function findTurnUsage(db: Queryable, turnId: string): Promise<Usage | null> {
  const { rows } = await db.query<{ usage: Usage | null }>('SELECT usage FROM turns WHERE id = $1', [turnId]);
  return rows[0]?.usage ?? null;
}
