import type { OpenStep } from '../log/event.ts';
import type { LogExtent } from '../log/extent.ts';
import type { Queryable } from '../../platform/db/db.ts';
import type { McpServer, Role, Skill } from '../contract/agents.ts';
import type { GoalState } from '../contract/goals.ts';
import type { SessionMcpServer, SessionStatus } from '../contract/sessions.ts';
import type { Reasoning } from '../contract/reasoning.ts';
import type { ToolConfig } from '../contract/tools.ts';
import type { Usage } from '../contract/usage.ts';

/** What a caller's interrupt left for the worker. */
export type Interrupt = { eventId: string; message: string | null };

export type TurnRow = {
  id: string;
  steps: number;
  step: OpenStep | null;
  usage: Usage | null;
  startedAt: Date;
};

/** A session under lease, with all that a turn starts from. */
export type Claim = {
  sessionId: string;
  organizationId: string;
  agentId: string;
  agentName: string;
  subjectId: string;
  epoch: number;
  /** whether the worker before this one lost the lease, instead of releasing it */
  isTakenOver: boolean;
  status: SessionStatus;
  lastSequence: number;
  role: string | null;
  title: string | null;
  titleFixed: boolean;
  toolState: Record<string, unknown>;
  interrupt: Interrupt | null;
  goal: GoalState | null;
  /** as the session record shows them */
  mcpServers: SessionMcpServer[];
  /** the part of the log that prompts are made from; null: the whole log */
  extent: LogExtent | null;
  /** what memory and skills have put into the prompt; null before the first turn */
  promptSnapshot: { notes: string[] } | null;
  /** configured skills that the automation of this session asked for */
  runSkills: string[];
  /** the automation that this session is a run of */
  automationId: string | null;
  createdAt: Date;
  turn: TurnRow | null;
  versionId: string;
  version: {
    modelName: string;
    systemPrompt: string;
    skills: Skill[];
    tools: ToolConfig[];
    roles: Role[];
    mcpServers: McpServer[];
  };
  /** the session's own, else the version's; null: the provider's default */
  reasoning: Reasoning | null;
};

type ClaimRow = {
  id: string;
  organization_id: string;
  agent_id: string;
  agent_name: string;
  subject_id: string;
  lease_epoch: number;
  lost_by: string | null;
  status: SessionStatus;
  last_sequence: number;
  role: string | null;
  title: string | null;
  title_fixed: boolean;
  tool_state: Record<string, unknown>;
  interrupt: Interrupt | null;
  goal: GoalState | null;
  mcp_servers_now: SessionMcpServer[];
  compaction: LogExtent | null;
  prompt_snapshot: { notes: string[] } | null;
  run_skills: string[];
  automation_id: string | null;
  created_at: Date;
  live_turn: string | null;
  turn_steps: number | null;
  turn_step: OpenStep | null;
  turn_usage: Usage | null;
  turn_started_at: Date | null;
  version_id: string;
  model_name: string;
  system_prompt: string;
  skills: Skill[];
  tools: ToolConfig[];
  roles: Role[];
  mcp_servers: McpServer[];
  reasoning: Reasoning | null;
};

/** A statement that claims due sessions that also meet `condition`. */
function buildClaim(condition: string): string {
  return `
WITH due AS (
  SELECT id, lease_owner FROM sessions
  WHERE wake_at <= now() AND (lease_expires IS NULL OR lease_expires < now()) AND ${condition}
  ORDER BY wake_at LIMIT $3 FOR UPDATE SKIP LOCKED
), claimed AS (
  UPDATE sessions s
  SET lease_owner = $1, lease_epoch = s.lease_epoch + 1, waiting = NULL, lease_expires = now() + $2 * interval '1 millisecond'
  FROM due WHERE s.id = due.id
  RETURNING s.*, due.lease_owner AS lost_by
)
SELECT c.id, c.organization_id, c.agent_id, a.name AS agent_name, c.subject_id, c.lease_epoch, c.lost_by, c.status, c.last_sequence,
       c.role, c.title, c.title_fixed, c.tool_state, c.interrupt, c.goal, c.mcp_servers AS mcp_servers_now, c.compaction, c.live_turn,
       c.prompt_snapshot, c.run_skills, c.automation_id, c.created_at,
       t.steps AS turn_steps, t.step AS turn_step, t.usage AS turn_usage, t.started_at AS turn_started_at,
       v.id AS version_id, v.model_name, v.system_prompt, v.skills, v.tools, v.roles, v.mcp_servers,
       coalesce(c.reasoning, v.reasoning) AS reasoning
FROM claimed c
JOIN agents a ON a.id = c.agent_id
JOIN agent_versions v ON v.id = c.agent_version_id
LEFT JOIN turns t ON t.id = c.live_turn`;
}
const CLAIM_ANY = buildClaim('true');
const CLAIM_LISTED = buildClaim('id = ANY($4::text[])');

/** Takes the lease of sessions that have work and no living owner: of these ids, or of any. */
export async function claimSessions(
  db: Queryable,
  owner: string,
  leaseMs: number,
  which: { ids?: readonly string[]; limit: number },
): Promise<Claim[]> {
  const params = [owner, leaseMs, which.limit];
  const { rows } =
    which.ids === undefined
      ? await db.query<ClaimRow>(CLAIM_ANY, params)
      : await db.query<ClaimRow>(CLAIM_LISTED, [...params, which.ids]);
  return Promise.all(rows.map((row) => readClaim(db, row)));
}

/** Ms until a session is due or a lease of one expires, 0 or less when one is overdue; null: no session has a time. */
export async function readDueMs(db: Queryable): Promise<number | null> {
  const { rows } = await db.query<{ due: number | null }>(
    `SELECT (extract(epoch FROM least(
       (SELECT min(wake_at) FROM sessions WHERE wake_at > now()),
       (SELECT min(coalesce(lease_expires, wake_at)) FROM sessions WHERE wake_at <= now())
     ) - now()) * 1000)::float8 AS due`,
  );
  return rows[0]?.due ?? null;
}

/**
 * Of all organizations: sessions that any worker could claim now, and for how long the first of them could have been.
 */
export async function measureBacklog(db: Queryable): Promise<{ sessions: number; oldestSeconds: number }> {
  const { rows } = await db.query<{ sessions: number; oldest: number }>(
    `SELECT count(*)::int AS sessions, coalesce(extract(epoch FROM now() - min(wake_at)), 0)::float8 AS oldest
     FROM sessions WHERE wake_at <= now() AND (lease_expires IS NULL OR lease_expires < now())`,
  );
  return { sessions: rows[0]?.sessions ?? 0, oldestSeconds: rows[0]?.oldest ?? 0 };
}

async function readClaim(db: Queryable, row: ClaimRow): Promise<Claim> {
  return {
    sessionId: row.id,
    organizationId: row.organization_id,
    agentId: row.agent_id,
    agentName: row.agent_name,
    subjectId: row.subject_id,
    epoch: row.lease_epoch,
    isTakenOver: row.lost_by !== null,
    status: row.status,
    lastSequence: row.last_sequence,
    role: row.role,
    title: row.title,
    titleFixed: row.title_fixed,
    toolState: row.tool_state,
    interrupt: row.interrupt,
    goal: row.goal,
    mcpServers: row.mcp_servers_now,
    extent: row.compaction,
    promptSnapshot: row.prompt_snapshot,
    runSkills: row.run_skills,
    automationId: row.automation_id,
    createdAt: row.created_at,
    turn: row.live_turn === null ? null : await readTurn(db, row, row.live_turn),
    versionId: row.version_id,
    version: {
      modelName: row.model_name,
      systemPrompt: row.system_prompt,
      skills: row.skills,
      tools: row.tools,
      roles: row.roles,
      mcpServers: row.mcp_servers,
    },
    reasoning: row.reasoning,
  };
}

// The claim sees the session as it is after the lock, but other tables as they were when the statement began: a turn
// that was started in between is not in the join.
async function readTurn(db: Queryable, row: ClaimRow, id: string): Promise<TurnRow | null> {
  if (row.turn_steps !== null && row.turn_started_at !== null) {
    return { id, steps: row.turn_steps, step: row.turn_step, usage: row.turn_usage, startedAt: row.turn_started_at };
  }
  const { rows } = await db.query<{ steps: number; step: null; usage: Usage | null; started_at: Date }>(
    'SELECT steps, step, usage, started_at FROM turns WHERE id = $1',
    [id],
  );
  const turn = rows[0];
  return turn === undefined
    ? null
    : { id, steps: turn.steps, step: turn.step, usage: turn.usage, startedAt: turn.started_at };
}

/**
 * Renews leases; a lease missing in the result is lost. `interrupted`: an interrupt is pending, even if the bus lost
 * it.
 */
export async function renewLeases(
  db: Queryable,
  owner: string,
  leaseMs: number,
  sessionIds: readonly string[],
): Promise<{ sessionId: string; epoch: number; interrupted: boolean }[]> {
  const { rows } = await db.query<{ id: string; lease_epoch: number; interrupted: boolean }>(
    `UPDATE sessions SET lease_expires = now() + $2 * interval '1 millisecond'
     WHERE lease_owner = $1 AND id = ANY($3::text[])
     RETURNING id, lease_epoch, interrupt IS NOT NULL AS interrupted`,
    [owner, leaseMs, sessionIds],
  );
  return rows.map((row) => ({ sessionId: row.id, epoch: row.lease_epoch, interrupted: row.interrupted }));
}

/** Releases a lease before the work is done: another worker may continue at once. */
export async function releaseLease(db: Queryable, sessionId: string, epoch: number): Promise<void> {
  await db.query('UPDATE sessions SET lease_owner = NULL, lease_expires = NULL WHERE id = $1 AND lease_epoch = $2', [
    sessionId,
    epoch,
  ]);
}

/**
 * Releases the lease of a session in which a worker found nothing to do. True when a caller has added work in between:
 * then the session stays due.
 */
export async function releaseIfIdle(db: Queryable, sessionId: string, epoch: number): Promise<boolean> {
  const { rows } = await db.query<{ awake: boolean }>(
    `UPDATE sessions SET lease_owner = NULL, lease_expires = NULL,
       interrupt = CASE WHEN live_turn IS NULL THEN NULL ELSE interrupt END,
       wake_at = CASE WHEN live_turn IS NULL AND queued_count = 0 THEN NULL ELSE wake_at END
     WHERE id = $1 AND lease_epoch = $2 RETURNING coalesce(wake_at <= now(), false) AS awake`,
    [sessionId, epoch],
  );
  return rows[0]?.awake === true;
}

/** The embedded database belongs to one process, so a lease that exists at start has no owner. */
export async function clearLeases(db: Queryable): Promise<void> {
  await db.query('UPDATE sessions SET lease_owner = NULL, lease_expires = NULL WHERE lease_expires IS NOT NULL');
}

/**
 * Corrects times that a clock set back has left in the future: of sessions with work to do, which would wait for the
 * clock to catch up, and of leases, which would outlive a dead owner. A living owner renews its lease before it ends.
 * Sessions that wait for a person are left alone: their time is a deadline.
 */
export async function correctFutureTimes(db: Queryable, leaseMs: number): Promise<number> {
  const { rowCount } = await db.query(
    `UPDATE sessions SET wake_at = least(wake_at, now()),
       lease_expires = least(lease_expires, now() + $1 * interval '1 millisecond')
     WHERE wake_at IS NOT NULL AND status <> 'waiting_on_human'
       AND (wake_at > now() + interval '1 second' OR lease_expires > now() + 2 * $1 * interval '1 millisecond')`,
    [leaseMs],
  );
  return rowCount;
}

/** What a permission decision has to know at the moment it is made. */
export async function readPermissions(
  db: Queryable,
  sessionId: string,
): Promise<{ yoloMode: boolean; approved: ReadonlySet<string> }> {
  const { rows } = await db.query<{ yolo_mode: boolean; approved: string[] }>(
    `SELECT s.yolo_mode, s.session_approvals || coalesce((
       SELECT array_agg(p.tool) FROM standing_approvals p
       WHERE p.organization_id = s.organization_id AND p.agent_id = s.agent_id AND p.subject_id = s.subject_id
     ), '{}') AS approved
     FROM sessions s WHERE s.id = $1`,
    [sessionId],
  );
  return { yoloMode: rows[0]?.yolo_mode ?? false, approved: new Set(rows[0]?.approved) };
}
