import type { Queryable } from '../../platform/db/db.ts';
import { readPage } from '../../platform/store/pages.ts';
import type { Keyset, PageOf, PageRequest } from '../../platform/store/pages.ts';
import { escapeLike } from '../../platform/store/like.ts';
import type { Session, SessionOrder, SessionOutcome, SessionStatus } from '../contract/sessions.ts';
import { SESSION_COLUMNS, readSession } from './sessions.ts';
import type { SessionRow } from './sessions.ts';

/** Absent fields do not restrict. Times are ISO 8601; the upper bounds are exclusive. */
export type SessionFilter = {
  agentId?: string | undefined;
  subjectId?: string | undefined;
  /** absent: all but archived ones */
  status?: readonly SessionStatus[] | undefined;
  /** part of the title or of the subject, in any case, or the id */
  q?: string | undefined;
  outcome?: SessionOutcome | undefined;
  automationId?: string | undefined;
  tag?: string | undefined;
  createdFrom?: string | undefined;
  createdTo?: string | undefined;
  activeFrom?: string | undefined;
  activeTo?: string | undefined;
  minCostUsd?: number | undefined;
  /** no event for at least so many seconds; without `status`: running sessions only */
  idleForSeconds?: number | undefined;
};

const COST = `coalesce((s.usage->>'cost_usd')::double precision, 0)`;
const BY_ID = { sql: 's.id', type: 'text' } as const;
const KEYSETS: Readonly<Record<SessionOrder, Keyset>> = {
  created: { name: 'created', keys: [BY_ID], direction: 'DESC' },
  activity: { name: 'activity', keys: [{ sql: 's.last_activity_at', type: 'timestamptz' }, BY_ID], direction: 'DESC' },
  cost: { name: 'cost', keys: [{ sql: COST, type: 'double precision' }, BY_ID], direction: 'DESC' },
};

type Condition = [sql: (parameter: string) => string, value: unknown];

function listConditions(filter: SessionFilter): Condition[] {
  const { q, status, idleForSeconds } = filter;
  const statuses = status ?? (idleForSeconds === undefined ? undefined : (['running'] as const));
  return [
    statuses === undefined
      ? [(name) => `s.status <> ${name}`, 'archived']
      : [(name) => `s.status = ANY(${name}::text[])`, statuses],
    [(name) => `s.agent_id = ${name}`, filter.agentId],
    [(name) => `s.subject_id = ${name}`, filter.subjectId],
    [
      (name) => `(s.title ILIKE ${name} OR s.subject_id ILIKE ${name} OR s.id ILIKE ${name})`,
      q && `%${escapeLike(q)}%`,
    ],
    [(name) => `s.last_outcome = ${name}`, filter.outcome],
    [(name) => `s.automation_id = ${name}`, filter.automationId],
    [(name) => `s.tag = ${name}`, filter.tag],
    [(name) => `s.created_at >= ${name}::timestamptz`, filter.createdFrom && new Date(filter.createdFrom)],
    [(name) => `s.created_at < ${name}::timestamptz`, filter.createdTo && new Date(filter.createdTo)],
    [(name) => `s.last_activity_at >= ${name}::timestamptz`, filter.activeFrom && new Date(filter.activeFrom)],
    [(name) => `s.last_activity_at < ${name}::timestamptz`, filter.activeTo && new Date(filter.activeTo)],
    [(name) => `${COST} >= ${name}::double precision`, filter.minCostUsd],
    [(name) => `s.last_activity_at <= now() - ${name}::double precision * interval '1 second'`, idleForSeconds],
  ];
}

/** The sessions of an organization that a filter lets through; each order ends with the newest id first. */
export async function listSessions(
  db: Queryable,
  organizationId: string,
  filter: SessionFilter,
  { order, ...page }: PageRequest & { order: SessionOrder },
): Promise<PageOf<Session>> {
  const params: unknown[] = [organizationId];
  const where = listConditions(filter).flatMap(([sql, value]) => {
    if (value === undefined) return [];
    params.push(value);
    return [sql(`$${params.length}`)];
  });
  const found = await readPage<SessionRow>(
    db,
    {
      columns: SESSION_COLUMNS,
      from: `FROM sessions s WHERE s.organization_id = $1 AND ${where.join(' AND ')}`,
      params,
      keyset: KEYSETS[order],
      table: { from: 'sessions s', key: 's.id' },
    },
    page,
  );
  return { ...found, rows: found.rows.map(readSession) };
}
