import { BUDGET_SCOPES } from '../contract/budgets.ts';
import type { Budget, BudgetPut, BudgetRef, BudgetScope } from '../contract/budgets.ts';
import type { Queryable } from '../db/db.ts';
import { newId } from '../ids.ts';
import { readPage } from './pages.ts';
import type { Keyset, PageOf, PageRequest } from './pages.ts';

/** What a budget limits. */
export type BudgetTarget = { scope: BudgetScope; id: string };

/** Who pays for a model call, as far as it is known. */
export type Spender = {
  organizationId: string;
  keyId?: string | undefined;
  agentId?: string | undefined;
  subjectId?: string | undefined;
  automationId?: string | undefined;
  sessionId?: string | undefined;
};

/** A share of a budget that the last settled call has reached. */
export type CrossedThreshold = {
  organizationId: string;
  sessionId: string | null;
  agentId: string | null;
  subjectId: string | null;
  budget: BudgetRef;
  /** percent: 50, 80 or 100 */
  threshold: number;
};

type BudgetRow = {
  scope: BudgetScope;
  target_id: string;
  limit_usd: number;
  period: Budget['period'];
  on_reached: Budget['onReached'];
  spent_usd: number;
  reserved_usd: number;
  period_start: Date | null;
  created_at: Date;
  updated_at: Date;
};

const COLUMNS = `b.scope, b.target_id, b.limit_usd::float8 AS limit_usd, b.period, b.on_reached,
  coalesce(p.spent_usd, 0)::float8 AS spent_usd, coalesce(r.reserved_usd, 0)::float8 AS reserved_usd,
  budget_period_start(b.period, now()) AS period_start, b.created_at, b.updated_at`;
/** Of a budget for each session, the period of the session that has spent the most. */
const FROM = `FROM budgets b LEFT JOIN LATERAL (
    SELECT o.period, o.spent_usd FROM budget_periods o WHERE o.budget_id = b.id
      AND (b.period = 'session' OR o.period = budget_period_key(b.period, NULL, now()))
    ORDER BY o.spent_usd DESC LIMIT 1) AS p ON true
  LEFT JOIN LATERAL (
    SELECT sum(v.amount_usd - v.idle_usd) AS reserved_usd FROM budget_reservations v
    WHERE v.budget_id = b.id AND v.period = p.period AND v.expires_at > now()) AS r ON true
  WHERE b.organization_id = $1`;
const KEYSET: Keyset = { name: 'budgets', keys: [{ sql: 'b.id', type: 'text' }], direction: 'DESC' };

const DAY_MS = 86_400_000;

function findPeriodEnd(period: Budget['period'], start: Date | null): string | null {
  if (start === null) return null;
  if (period === 'month') {
    return new Date(Date.UTC(start.getUTCFullYear(), start.getUTCMonth() + 1, 1)).toISOString();
  }
  return new Date(start.getTime() + (period === 'week' ? 7 : 1) * DAY_MS).toISOString();
}

/** Agent and subject of a budget of theirs. */
export function readTarget({ scope, id }: BudgetTarget): { agentId: string | null; subjectId: string | null } {
  if (scope === 'agent') return { agentId: id, subjectId: null };
  const colon = id.indexOf(':');
  if (scope !== 'subject' || colon === -1) return { agentId: null, subjectId: null };
  return { agentId: id.slice(0, colon), subjectId: id.slice(colon + 1) };
}

function readBudget(row: BudgetRow): Budget {
  const { scope, target_id: id, limit_usd: limitUsd, spent_usd: spentUsd, reserved_usd: reservedUsd } = row;
  return {
    object: 'budget',
    scope,
    id,
    ...readTarget({ scope, id }),
    limitUsd,
    period: row.period,
    onReached: row.on_reached,
    spentUsd,
    reservedUsd,
    remainingUsd: Math.max(0, limitUsd - spentUsd - reservedUsd),
    reached: spentUsd >= limitUsd,
    periodStart: row.period_start?.toISOString() ?? null,
    periodEnd: findPeriodEnd(row.period, row.period_start),
    createdAt: row.created_at.toISOString(),
    updatedAt: row.updated_at.toISOString(),
  };
}

/** Newest first. */
export async function listBudgets(
  db: Queryable,
  organizationId: string,
  { scope, ...page }: PageRequest & { scope?: BudgetScope | undefined },
): Promise<PageOf<Budget>> {
  const from = `${FROM} AND ($2::text IS NULL OR b.scope = $2)`;
  const statement = { columns: COLUMNS, from, params: [organizationId, scope ?? null], keyset: KEYSET, counted: false };
  const found = await readPage<BudgetRow>(db, statement, page);
  return { ...found, rows: found.rows.map(readBudget) };
}

export async function findBudget(
  db: Queryable,
  organizationId: string,
  { scope, id }: BudgetTarget,
): Promise<Budget | undefined> {
  const { rows } = await db.query<BudgetRow>(`SELECT ${COLUMNS} ${FROM} AND b.scope = $2 AND b.target_id = $3`, [
    organizationId,
    scope,
    id,
  ]);
  return rows[0] && readBudget(rows[0]);
}

/** Whether the organization has what the budget is for. */
export async function hasBudgetTarget(
  db: Queryable,
  organizationId: string,
  { scope, id }: BudgetTarget,
): Promise<boolean> {
  if (scope === 'organization') return id === organizationId;
  const { agentId, subjectId } = readTarget({ scope, id });
  if (scope === 'subject' && (agentId === null || subjectId === null || subjectId === '')) return false;
  const table = { key: 'api_keys', agent: 'agents', subject: 'agents', automation: 'automations', session: 'sessions' };
  const { rowCount } = await db.query(`SELECT 1 FROM ${table[scope]} WHERE organization_id = $1 AND id = $2`, [
    organizationId,
    scope === 'subject' ? agentId : id,
  ]);
  return rowCount > 0;
}

/** The columns of the ledger that say whom a call belongs to. */
const LEDGER: Readonly<Record<BudgetScope, string>> = {
  organization: `u.organization_id = $4`,
  key: `u.key_id = $4`,
  agent: `u.agent_id = $4`,
  subject: `u.agent_id = split_part($4, ':', 1) AND u.subject_id = substr($4, strpos($4, ':') + 1)`,
  automation: `u.automation_id = $4`,
  session: `u.session_id = $4`,
};

/** What the ledger says was spent in the present period. The ledger by hour knows no sessions. */
async function seedPeriod(
  tx: Queryable,
  organizationId: string,
  budgetId: string,
  { scope, id, period }: BudgetTarget & { period: Budget['period'] },
): Promise<void> {
  if (period === 'session' && scope !== 'session') return;
  const since = `coalesce(budget_period_start($3, now()), timestamptz 'epoch')`;
  const own = `u.organization_id = $1 AND ${LEDGER[scope]}`;
  const records = `SELECT u.cost_usd FROM usage_records u WHERE ${own} AND u.occurred_at >= ${since}`;
  const sums =
    scope === 'session'
      ? records
      : `${records} AND NOT u.rolled UNION ALL
         SELECT u.cost_usd FROM usage_hours u WHERE ${own} AND u.hour >= ${since}`;
  await tx.query(
    `INSERT INTO budget_periods (budget_id, period, spent_usd)
     SELECT $2, budget_period_key($3, $4, now()), coalesce(sum(s.cost_usd), 0)::numeric FROM (${sums}) AS s`,
    [organizationId, budgetId, period, id],
  );
}

/**
 * Sets a budget. A new one, or one with another period, begins with what the ledger says was spent in the period; a
 * changed limit lets the thresholds above what is spent be told again.
 */
export async function putBudget(
  tx: Queryable,
  organizationId: string,
  { scope, id }: BudgetTarget,
  { limitUsd, period, onReached }: BudgetPut,
): Promise<void> {
  const { rows } = await tx.query<{ id: string; period: string }>(
    'SELECT id, period FROM budgets WHERE organization_id = $1 AND scope = $2 AND target_id = $3 FOR UPDATE',
    [organizationId, scope, id],
  );
  const [row] = rows;
  const budgetId = row?.id ?? newId('bud');
  await tx.query(
    `INSERT INTO budgets (id, organization_id, scope, target_id, limit_usd, period, on_reached)
     VALUES ($1, $2, $3, $4, $5::float8::numeric, $6, $7)
     ON CONFLICT (organization_id, scope, target_id) DO UPDATE SET limit_usd = excluded.limit_usd,
       period = excluded.period, on_reached = excluded.on_reached, updated_at = now()`,
    [budgetId, organizationId, scope, id, limitUsd, period, onReached],
  );
  if (row?.period === period) {
    await tx.query(
      `UPDATE budget_periods SET told = least(told, CASE WHEN $2::float8 > 0
         THEN floor(least(100, spent_usd * 100 / $2::float8::numeric))::int ELSE 100 END) WHERE budget_id = $1`,
      [budgetId, limitUsd],
    );
    return;
  }
  await tx.query('DELETE FROM budget_periods WHERE budget_id = $1', [budgetId]);
  await seedPeriod(tx, organizationId, budgetId, { scope, id, period });
}

export async function deleteBudget(
  tx: Queryable,
  organizationId: string,
  { scope, id }: BudgetTarget,
): Promise<boolean> {
  const { rowCount } = await tx.query(
    'DELETE FROM budgets WHERE organization_id = $1 AND scope = $2 AND target_id = $3',
    [organizationId, scope, id],
  );
  return rowCount > 0;
}

/** `<scope>/<id>` of every budget of an organization. */
export async function listBudgetTargets(db: Queryable, organizationId: string): Promise<Set<string>> {
  const { rows } = await db.query<{ target: string }>(
    `SELECT scope || '/' || target_id AS target FROM budgets WHERE organization_id = $1`,
    [organizationId],
  );
  return new Set(rows.map(({ target }) => target));
}

/** `<scope>/<id>` of every budget that a call of this spender may fall under. */
export function listTargets(spender: Spender): string[] {
  const { organizationId, keyId, agentId, subjectId, automationId, sessionId } = spender;
  const subject = agentId === undefined || subjectId === undefined ? undefined : `${agentId}:${subjectId}`;
  const ids = { organization: organizationId, key: keyId, agent: agentId, subject, automation: automationId };
  const all: Record<BudgetScope, string | undefined> = { ...ids, session: sessionId };
  return BUDGET_SCOPES.flatMap((scope) => (all[scope] === undefined ? [] : [`${scope}/${all[scope]}`]));
}

/**
 * `refused`: the budget that refuses a call; `recallable`: leases hold money of it that no call uses. `held`: how many
 * budgets hold the worst case of the call; `room`: what is left in each of them, null where none refuses calls.
 */
export type ReserveAnswer = { refused: BudgetRef; recallable: boolean } | { held: number; room?: number | null };

/** Reserves the worst case of a call in all budgets that it falls under, or in none. */
export async function reserveBudgets(
  db: Queryable,
  { organizationId, sessionId }: Spender,
  call: { id: string; targets: readonly string[]; amountUsd: number; seconds: number },
): Promise<ReserveAnswer> {
  const { rows } = await db.query<{ result: ReserveAnswer }>(
    'SELECT reserve_budgets($1, $2::text[], $3, $4, $5::float8::numeric, $6::int) AS result',
    [organizationId, call.targets, sessionId ?? null, call.id, call.amountUsd, call.seconds],
  );
  return rows[0]!.result;
}

/** Replaces the reservations of a call by what it cost. A second time it changes nothing. */
export async function settleBudgets(db: Queryable, callId: string, costUsd: number): Promise<CrossedThreshold[]> {
  const { rows } = await db.query<{ crossed: CrossedThreshold[] }>(
    'SELECT settle_budgets($1, $2::float8::numeric) AS crossed',
    [callId, costUsd],
  );
  return rows[0]?.crossed ?? [];
}

export async function extendReservations(db: Queryable, callIds: readonly string[], seconds: number): Promise<void> {
  await db.query(
    `UPDATE budget_reservations SET expires_at = now() + $2::int * interval '1 second' WHERE call_id = ANY($1::text[])`,
    [callIds, seconds],
  );
}

/**
 * Deletes reservations whose workers died hours ago; they have long ceased to count. Returns how many. Those that a clock
 * set back has left in the future end in a few minutes, unless their workers extend them.
 */
export async function deleteLostReservations(db: Queryable): Promise<number> {
  await db.query(
    `UPDATE budget_reservations SET expires_at = now() + interval '10 minutes' WHERE expires_at > now() + interval '2 hours'`,
  );
  const { rowCount } = await db.query(`DELETE FROM budget_reservations WHERE expires_at < now() - interval '2 hours'`);
  return rowCount;
}
