import type { Queryable } from '../db/db.ts';
import { COUNT_COLUMNS, FIRST_LATENCY_MS, LATENCY_CLASSES, RECORD_AS_HOUR } from './usage.ts';
import type { UsageSource } from './usage.ts';

export const USAGE_COLUMNS = [
  'model',
  'key',
  'day',
  'hour',
  'agent',
  'subject',
  'session',
  'automation',
  'user',
  'product',
] as const;
export type UsageColumn = (typeof USAGE_COLUMNS)[number];

/** What counts are summed by. `metadata`: a field of the session's. */
export type UsageGroup = { columns: readonly UsageColumn[]; metadata: string | null };

export type UsageQuery = UsageGroup & {
  organizationId: string;
  /** inclusive and exclusive, at full hours */
  from: Date;
  to: Date;
  source: UsageSource | null;
  filter: Partial<Record<UsageColumn, string>>;
  order: 'time' | 'cost' | 'requests' | 'tokens';
  limit: number;
  offset: number;
};

export type UsageSums = {
  requests: number;
  failures: number;
  inputTokens: number;
  cachedInputTokens: number;
  cacheWriteTokens: number;
  outputTokens: number;
  reasoningTokens: number;
  toolCalls: number;
  sandboxSeconds: number;
  credits: number;
  costUsd: number;
  latencyMs: number;
  /** from classes of durations that double: exact to about a quarter; null without calls */
  p50LatencyMs: number | null;
  p95LatencyMs: number | null;
};

export type UsageItem = {
  model: string | null;
  keyId: string | null;
  day: string | null;
  hour: string | null;
  agentId: string | null;
  subjectId: string | null;
  sessionId: string | null;
  automationId: string | null;
  userId: string | null;
  product: string | null;
  metadata: string | null;
} & UsageSums;

type Dimension = {
  field: keyof UsageItem;
  /** as text */
  sql: string;
  /** where it is no text: what rows are grouped by, for text of each row would take half of a report's time */
  time?: { type: string; key: string; format: string };
};

const DAY = 'YYYY-MM-DD';
const HOUR = 'YYYY-MM-DD"T"HH24:MI:SS".000Z"';
const UTC = `u.hour AT TIME ZONE 'UTC'`;

const DIMENSIONS: Readonly<Record<UsageColumn, Dimension>> = {
  model: { field: 'model', sql: `CASE WHEN u.kind = 'tool' THEN '' ELSE u.name END` },
  key: { field: 'keyId', sql: 'u.key_id' },
  day: { field: 'day', sql: `to_char(${UTC}, '${DAY}')`, time: { type: 'date', key: `(${UTC})::date`, format: DAY } },
  hour: { field: 'hour', sql: `to_char(${UTC}, '${HOUR}')`, time: { type: 'timestamp', key: UTC, format: HOUR } },
  agent: { field: 'agentId', sql: 'u.agent_id' },
  subject: { field: 'subjectId', sql: 'u.subject_id' },
  session: { field: 'sessionId', sql: 'u.session_id' },
  automation: { field: 'automationId', sql: 'u.automation_id' },
  user: { field: 'userId', sql: 'u.user_id' },
  product: { field: 'product', sql: 'u.source' },
};

const ORDERS: Readonly<Record<UsageQuery['order'], string>> = {
  time: '',
  cost: 'u.cost_usd DESC,',
  requests: 'u.calls DESC,',
  tokens: 'u.input_tokens + u.output_tokens DESC,',
};
const TIES = USAGE_COLUMNS.filter((column) => column !== 'day' && column !== 'hour')
  .map((column) => `"${DIMENSIONS[column].field}"`)
  .join(', ');
/** The columns of a group as text. */
const TEXTS = [
  ...USAGE_COLUMNS.map((column) => {
    const { field, time } = DIMENSIONS[column];
    return time === undefined ? `"${field}"` : `to_char("${field}", '${time.format}') AS "${field}"`;
  }),
  'metadata',
].join(', ');
/** The row of the totals, in the columns of the groups. */
const NO_GROUP = [...USAGE_COLUMNS, 'metadata'].map(() => 'NULL::text').join(', ');

/** The value below which the given part of the calls lies, between the bounds of its class. */
function findPercentile(classes: readonly number[], part: number): number | null {
  const total = classes.reduce((sum, count) => sum + count, 0);
  if (total === 0) return null;
  let left = total * part;
  for (const [index, count] of classes.entries()) {
    if (count >= left && count > 0) {
      const upper = FIRST_LATENCY_MS * 2 ** index;
      const lower = index === 0 ? 0 : upper / 2;
      return Math.round(lower + ((upper - lower) * left) / count);
    }
    left -= count;
  }
  return FIRST_LATENCY_MS * 2 ** (LATENCY_CLASSES - 1);
}

const SUMS = COUNT_COLUMNS.map((name) => `coalesce(sum(u.${name}), 0)::float8 AS ${name}`).join(', ');

function readSums(row: Record<string, unknown>): UsageSums {
  const count = (name: string) => Number(row[name] ?? 0);
  const classes = Array.from({ length: LATENCY_CLASSES }, (_, index) => count(`latency_${index}`));
  return {
    requests: count('calls'),
    failures: count('failures'),
    inputTokens: count('input_tokens'),
    cachedInputTokens: count('cached_input_tokens'),
    cacheWriteTokens: count('cache_write_tokens'),
    outputTokens: count('output_tokens'),
    reasoningTokens: count('reasoning_tokens'),
    toolCalls: count('tool_calls'),
    sandboxSeconds: count('sandbox_ms') / 1000,
    credits: count('credits'),
    costUsd: count('cost_usd'),
    latencyMs: count('latency_ms'),
    p50LatencyMs: findPercentile(classes, 0.5),
    p95LatencyMs: findPercentile(classes, 0.95),
  };
}

const DAY_MS = 86_400_000;

/** The counts of the whole days within the time, and by hour what lies before and after them. */
function selectCounts({ columns, from, to }: UsageQuery, params: unknown[]): string {
  const firstDay = new Date(Math.ceil(from.getTime() / DAY_MS) * DAY_MS);
  const lastDay = new Date(Math.floor(to.getTime() / DAY_MS) * DAY_MS);
  const select = (time: 'hour' | 'day') => `SELECT ${time} AS hour, source, kind, name, key_id, agent_id, subject_id,
      automation_id, user_id, ${COUNT_COLUMNS.join(', ')}
    FROM usage_${time}s WHERE organization_id = $1 AND ${time} >= `;
  if (columns.includes('hour') || firstDay >= lastDay) return `${select('hour')} $2 AND hour < $3`;
  params.push(firstDay, lastDay);
  const [first, last] = [`$${params.length - 1}`, `$${params.length}`];
  return `${select('day')} ${first} AND day < ${last}
    UNION ALL ${select('hour')} $2 AND hour < ${first} UNION ALL ${select('hour')} ${last} AND hour < $3`;
}

/** The rows to sum: the counts and what is not in them yet, or the ledger itself where counts say too little. */
function buildRows(query: UsageQuery): { sql: string; params: unknown[] } {
  const params: unknown[] = [query.organizationId, query.from, query.to];
  const isDetailed = query.metadata !== null || query.columns.includes('session') || query.filter.session !== undefined;
  const records = (where: string) =>
    `SELECT ${RECORD_AS_HOUR}${isDetailed ? ', r.session_id, r.metadata' : ''} FROM usage_records r
     WHERE r.organization_id = $1 AND r.occurred_at >= $2 AND r.occurred_at < $3 ${where}`;
  const from = isDetailed ? records('') : `${selectCounts(query, params)} UNION ALL ${records('AND NOT r.rolled')}`;
  const where = Object.entries({ product: query.source ?? undefined, ...query.filter }).flatMap(([name, value]) => {
    if (value === undefined) return [];
    params.push(value);
    return [`${DIMENSIONS[name as UsageColumn].sql} = $${params.length}`];
  });
  return { sql: `FROM (${from}) AS u${where.length === 0 ? '' : ` WHERE ${where.join(' AND ')}`}`, params };
}

/** Sums by the columns asked for, and the totals over everything, as of one moment. Newest first unless ordered. */
export async function reportUsage(
  db: Queryable,
  query: UsageQuery,
): Promise<{ items: UsageItem[]; totals: UsageSums; hasMore: boolean }> {
  const { sql, params } = buildRows(query);
  const grouped = USAGE_COLUMNS.filter((column) => query.columns.includes(column));
  const columns = USAGE_COLUMNS.map((column) => {
    const { field, sql: expression, time } = DIMENSIONS[column];
    const key = time?.key ?? `nullif(${expression}, '')`;
    return `${grouped.includes(column) ? key : `NULL::${time?.type ?? 'text'}`} AS "${field}"`;
  });
  const places = grouped.map((column) => USAGE_COLUMNS.indexOf(column) + 1);
  const all = [...params];
  if (query.metadata !== null) all.push(query.metadata);
  const metadata = query.metadata === null ? 'NULL::text' : `u.metadata->>$${all.length}`;
  const found = await db.query(
    `WITH grouped AS MATERIALIZED (
       SELECT ${columns.join(', ')}, ${metadata} AS metadata, ${SUMS} ${sql}
       GROUP BY ${[...places, columns.length + 1].join(', ')}
     ), page AS (
       SELECT u.*, row_number() OVER (ORDER BY ${ORDERS[query.order]} "hour" DESC NULLS LAST, "day" DESC NULLS LAST,
         ${TIES}, metadata) AS place
       FROM grouped u ORDER BY place LIMIT $${all.length + 1} OFFSET $${all.length + 2}
     )
     SELECT ${TEXTS}, ${COUNT_COLUMNS.join(', ')}, place FROM page
     UNION ALL SELECT ${NO_GROUP}, ${SUMS}, 0 FROM grouped u ORDER BY place`,
    [...all, query.limit + 1, query.offset],
  );
  const [totals = {}, ...rows] = found.rows;
  const items = rows.slice(0, query.limit).map((row) => {
    const text = (name: string) => (typeof row[name] === 'string' ? row[name] : null);
    return {
      model: text('model'),
      keyId: text('keyId'),
      day: text('day'),
      hour: text('hour'),
      agentId: text('agentId'),
      subjectId: text('subjectId'),
      sessionId: text('sessionId'),
      automationId: text('automationId'),
      userId: text('userId'),
      product: text('product'),
      metadata: text('metadata'),
      ...readSums(row),
    };
  });
  return { items, totals: readSums(totals), hasMore: rows.length > query.limit };
}
