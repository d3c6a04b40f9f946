import type { Queryable } from '../../platform/db/db.ts';
import type { EventEnvelope } from '../contract/events.ts';
import type { JournalEntry } from '../log/entry.ts';
import { buildInbound, buildTurnStart } from '../log/build-events.ts';
import { newId } from '../../platform/ids.ts';
import { readRow } from '../../platform/store/rows.ts';
import type { RowOf } from '../../platform/store/rows.ts';
import type { AutomationRecord } from './automations.ts';
import { encodeJson } from '../../platform/store/json.ts';
import { writeJournal } from './journal.ts';

/** What a run is made from. */
export type RunPlan = {
  automation: Pick<AutomationRecord, 'id' | 'organizationId' | 'agentId' | 'subjectId' | 'name' | 'prompt' | 'skills'>;
  /** the agent's production version */
  version: { id: string; number: number };
  /** an occurrence of the schedule, not a run by hand */
  scheduled: boolean;
};

export type StartedRun = { automationId: string; sessionId: string; organizationId: string; events: EventEnvelope[] };

/**
 * Makes a fresh session for each run and sends it its first prompt, as a caller would. The caller holds a transaction
 * and the row locks of the automations, and afterwards publishes the events and wakes a worker.
 */
export async function startRuns(tx: Queryable, plans: readonly RunPlan[]): Promise<StartedRun[]> {
  if (plans.length === 0) return [];
  const runs = plans.map((plan) => ({ ...plan, sessionId: newId('ses'), turnId: newId('trn') }));
  const rows = runs.map(({ automation, version, scheduled, sessionId, turnId }) => ({
    session_id: sessionId,
    organization_id: automation.organizationId,
    agent_id: automation.agentId,
    subject_id: automation.subjectId,
    version_id: version.id,
    version: version.number,
    title: automation.name,
    skills: automation.skills,
    automation_id: automation.id,
    turn_id: turnId,
    scheduled,
  }));
  await tx.query(
    `INSERT INTO sessions (id, organization_id, agent_id, agent_version_id, agent_version, subject_id, title, title_fixed,
       automation_id, run_skills)
     SELECT r.session_id, r.organization_id, r.agent_id, r.version_id, r.version, r.subject_id, r.title,
       r.title IS NOT NULL, r.automation_id, ARRAY(SELECT jsonb_array_elements_text(r.skills))
     FROM jsonb_to_recordset($1::jsonb) AS r (session_id text, organization_id text, agent_id text, version_id text,
       version integer, subject_id text, title text, skills jsonb, automation_id text)`,
    [encodeJson(rows)],
  );
  const appended = await writeJournal(
    tx,
    runs.map(({ automation, sessionId, turnId }) => buildFirstEntry(sessionId, turnId, automation.prompt)),
  );
  await tx.query(
    `WITH runs AS (
       INSERT INTO automation_runs (session_id, automation_id, turn_id, scheduled)
       SELECT r.session_id, r.automation_id, r.turn_id, r.scheduled
       FROM jsonb_to_recordset($1::jsonb) AS r (session_id text, automation_id text, turn_id text, scheduled boolean)
       RETURNING automation_id, session_id, scheduled
     )
     UPDATE automations a SET run_count = a.run_count + 1, occurrences = a.occurrences + r.scheduled::int,
       failed_starts = CASE WHEN r.scheduled THEN 0 ELSE a.failed_starts END,
       last_run_at = now(), last_session_id = r.session_id, updated_at = now()
     FROM runs r WHERE a.id = r.automation_id`,
    [encodeJson(rows)],
  );
  return runs.map(({ automation, sessionId }, index) => ({
    automationId: automation.id,
    sessionId,
    organizationId: automation.organizationId,
    events: appended[index]?.events ?? [],
  }));
}

function buildFirstEntry(sessionId: string, turnId: string, prompt: string): JournalEntry {
  const eventId = newId('evt');
  return {
    sessionId,
    epoch: null,
    events: [
      buildInbound({ id: eventId, turnId }, 'received', {
        type: 'user.message',
        content: [{ type: 'text', text: prompt }],
      }),
      buildTurnStart({ turnId }, { kind: 'message', eventId }),
    ],
    session: { status: 'running', liveTurn: turnId, wakeAt: 'now' },
    turn: { id: turnId, state: 'running' },
  };
}

/** An automation whose time has come, with what decides whether it can run. */
export type DueAutomation = AutomationRecord & {
  /** the run of its last occurrence has not ended */
  overlaps: boolean;
  agentStatus: 'active' | 'archived';
  version: { id: string; number: number; skills: string[] };
};

type DueRow = RowOf<AutomationRecord> & {
  now: Date;
  overlaps: boolean;
  agent_status: 'active' | 'archived';
  version_id: string;
  version: number;
  version_skills: string[];
};

/** Whether any automation may be due: cheaper than `lockDue`, and without a transaction. */
export async function hasDue(db: Queryable): Promise<boolean> {
  const { rows } = await db.query('SELECT FROM automations WHERE next_run_at <= now() LIMIT 1');
  return rows.length > 0;
}

/** Ms until an automation is due, 0 or less when one is overdue; null: none ever will be. */
export async function readAutomationDueMs(db: Queryable): Promise<number | null> {
  const { rows } = await db.query<{ due: number | null }>(
    'SELECT (extract(epoch FROM min(next_run_at) - now()) * 1000)::float8 AS due FROM automations',
  );
  return rows[0]?.due ?? null;
}

/** Locks due automations that no other process has locked, the most overdue first. */
export async function lockDue(tx: Queryable, limit: number): Promise<{ now: Date; due: DueAutomation[] }> {
  const { rows } = await tx.query<DueRow>(
    `SELECT now() AS now, a.*, g.status AS agent_status, v.id AS version_id, v.version,
       jsonb_path_query_array(v.skills, '$[*].name') AS version_skills,
       EXISTS (SELECT FROM automation_runs r
         WHERE r.automation_id = a.id AND r.state = 'running' AND r.scheduled) AS overlaps
     FROM automations a
     JOIN agents g ON g.id = a.agent_id
     JOIN agent_versions v ON v.agent_id = g.id AND v.version = g.production_version
     WHERE a.next_run_at <= now()
     ORDER BY a.next_run_at LIMIT $1
     FOR UPDATE OF a SKIP LOCKED FOR KEY SHARE OF g SKIP LOCKED`,
    [limit],
  );
  const due = rows.map(
    ({ now: _now, overlaps, agent_status: agentStatus, version_id: id, version, version_skills: skills, ...row }) => ({
      ...readRow<AutomationRecord>(row),
      overlaps,
      agentStatus,
      version: { id, number: version, skills },
    }),
  );
  return { now: rows[0]?.now ?? new Date(0), due };
}

export type DueOutcome = { id: string; nextRunAt: Date | null; skipped: boolean; failure: string | null };

/** Moves locked automations on to their next occurrence. The caller starts the runs in the same transaction. */
export async function advanceDue(tx: Queryable, outcomes: readonly DueOutcome[]): Promise<void> {
  await tx.query(
    `UPDATE automations a SET next_run_at = o."nextRunAt", skipped_count = a.skipped_count + o.skipped::int,
       failed_starts = a.failed_starts + (o.failure IS NOT NULL)::int,
       failure_count = a.failure_count + (o.failure IS NOT NULL)::int,
       last_status = CASE WHEN o.failure IS NULL THEN a.last_status ELSE 'error' END,
       last_error = coalesce(o.failure, a.last_error),
       last_run_at = CASE WHEN o.failure IS NULL THEN a.last_run_at ELSE now() END,
       updated_at = now()
     FROM jsonb_to_recordset($1::jsonb) AS o (id text, "nextRunAt" timestamptz, skipped boolean, failure text)
     WHERE a.id = o.id`,
    [encodeJson(outcomes)],
  );
}
