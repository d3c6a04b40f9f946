import type { Queryable } from '../../platform/db/db.ts';
import { readPage } from '../../platform/store/pages.ts';
import type { Keyset, PageOf, PageRequest } from '../../platform/store/pages.ts';
import { newId } from '../../platform/ids.ts';
import { readRow } from '../../platform/store/rows.ts';
import type { RowOf } from '../../platform/store/rows.ts';
import type { Subject } from './approvals.ts';

/** What a caller decides about an automation, with its schedule normalized. */
export type AutomationFields = {
  name: string | null;
  prompt: string;
  schedule: string;
  /** what durations count from */
  anchoredAt: Date;
  skills: string[];
  repeat: number | null;
  enabled: boolean;
  nextRunAt: Date | null;
  /** IANA name: the time zone of a cron expression */
  timezone: string;
};

/** The columns of an automation. */
export type AutomationRecord = AutomationFields &
  Subject & {
    id: string;
    lastRunAt: Date | null;
    lastStatus: 'ok' | 'error' | null;
    lastError: string | null;
    lastSessionId: string | null;
    runCount: number;
    successCount: number;
    failureCount: number;
    skippedCount: number;
    /** scheduled runs since the schedule was set */
    occurrences: number;
    /** scheduled runs that ended well */
    completed: number;
    failedStarts: number;
    /** failed attempts of the occurrence that is tried again */
    retries: number;
    createdAt: Date;
    updatedAt: Date;
  };

/** `running`: one of its runs is under way. */
export type StoredAutomation = AutomationRecord & { running: boolean };

type Row = RowOf<StoredAutomation>;

const RUNNING = `EXISTS (
  SELECT FROM automation_runs r WHERE r.automation_id = a.id AND r.state = 'running') AS running`;

/** Undefined when the agent has been deleted meanwhile. */
export async function insertAutomation(
  db: Queryable,
  subject: Subject,
  fields: AutomationFields,
): Promise<StoredAutomation | undefined> {
  const { rows } = await db.query<Row>(
    `INSERT INTO automations AS a (id, organization_id, agent_id, subject_id, name, prompt, schedule, anchored_at, skills,
       repeat, enabled, next_run_at, timezone)
     SELECT $1, $2, g.id, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13 FROM agents g WHERE g.id = $3 FOR KEY SHARE
     RETURNING a.*, false AS running`,
    [
      newId('aut'),
      subject.organizationId,
      subject.agentId,
      subject.subjectId,
      fields.name,
      fields.prompt,
      fields.schedule,
      fields.anchoredAt,
      fields.skills,
      fields.repeat,
      fields.enabled,
      fields.nextRunAt,
      fields.timezone,
    ],
  );
  return rows[0] && readRow<StoredAutomation>(rows[0]);
}

const WHERE = 'WHERE a.organization_id = $1 AND a.agent_id = $2 AND a.subject_id = $3 AND a.id = $4';

function params({ organizationId, agentId, subjectId }: Subject, id: string): string[] {
  return [organizationId, agentId, subjectId, id];
}

export async function findAutomation(
  db: Queryable,
  subject: Subject,
  id: string,
): Promise<StoredAutomation | undefined> {
  const { rows } = await db.query<Row>(`SELECT a.*, ${RUNNING} FROM automations a ${WHERE}`, params(subject, id));
  return rows[0] && readRow<StoredAutomation>(rows[0]);
}

/** As `findAutomation`, and keeps the row from runs and changes until the transaction ends. */
export async function lockAutomation(
  tx: Queryable,
  subject: Subject,
  id: string,
): Promise<StoredAutomation | undefined> {
  const { rowCount } = await tx.query(`SELECT FROM automations a ${WHERE} FOR UPDATE`, params(subject, id));
  return rowCount === 0 ? undefined : findAutomation(tx, subject, id);
}

const KEYSET: Keyset = { name: 'automations', keys: [{ sql: 'a.id', type: 'text' }], direction: 'DESC' };

/** Newest first; of all agents and subjects when none is named. */
export async function listAutomations(
  db: Queryable,
  agent: { organizationId: string; agentId: string | null; subjectId: string | null },
  page: PageRequest,
): Promise<PageOf<StoredAutomation>> {
  const found = await readPage<Row>(
    db,
    {
      columns: `a.*, ${RUNNING}`,
      from: `FROM automations a WHERE a.organization_id = $1 AND ($2::text IS NULL OR a.agent_id = $2)
        AND ($3::text IS NULL OR a.subject_id = $3)`,
      params: [agent.organizationId, agent.agentId, agent.subjectId],
      keyset: KEYSET,
    },
    page,
  );
  return { ...found, rows: found.rows.map((row) => readRow<StoredAutomation>(row)) };
}

/** Writes the fields that callers may change. A change of the schedule resets the counts and failed starts. */
export async function updateAutomation(
  tx: Queryable,
  id: string,
  fields: AutomationFields & { occurrences: number; retries: number },
): Promise<void> {
  await tx.query(
    `UPDATE automations SET name = $2, prompt = $3, schedule = $4, anchored_at = $5, skills = $6, repeat = $7,
       enabled = $8, next_run_at = $9, occurrences = $10, timezone = $11, retries = $12, failed_starts = 0, updated_at = now() WHERE id = $1`,
    [
      id,
      fields.name,
      fields.prompt,
      fields.schedule,
      fields.anchoredAt,
      fields.skills,
      fields.repeat,
      fields.enabled,
      fields.nextRunAt,
      fields.occurrences,
      fields.timezone,
      fields.retries,
    ],
  );
}

/** The sessions of its runs stay. False when there is none. */
export async function deleteAutomation(db: Queryable, subject: Subject, id: string): Promise<boolean> {
  const { rowCount } = await db.query(`DELETE FROM automations a ${WHERE}`, params(subject, id));
  return rowCount > 0;
}

/** What a run is told of its automation; undefined when that has been deleted. */
export async function findRunSchedule(
  db: Queryable,
  organizationId: string,
  id: string,
): Promise<{ name: string | null; schedule: string } | undefined> {
  const { rows } = await db.query<{ name: string | null; schedule: string }>(
    'SELECT name, schedule FROM automations WHERE id = $2 AND organization_id = $1',
    [organizationId, id],
  );
  return rows[0];
}
