import type { FastifyReply, FastifyRequest } from 'fastify';
import { errors } from '../../platform/errors.ts';
import { USAGE_COLUMNS, reportUsage } from '../../platform/store/usage-report.ts';
import type { UsageColumn, UsageGroup, UsageItem, UsageQuery } from '../../platform/store/usage-report.ts';
import type { GatewayDeps } from '../deps.ts';
import type { JsonObject } from '../dialects/dialect.ts';
import { invalid } from '../gateway-error.ts';

const DEFAULT_COLUMNS: UsageColumn[] = ['model', 'key', 'day'];
const DEFAULT_DAYS = 30;
const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;
const MAX_ITEMS = 10_000;
const SOURCES = ['gateway', 'agents', 'video', 'login', 'all'] as const;
const ORDERS = ['time', 'cost', 'requests', 'tokens'] as const;
const METADATA = 'metadata.';

type Query = Record<string, unknown>;

/** The database knows no year 0 and none after 9999. */
const LAST_TIME = Date.UTC(9999, 11, 31);

function toTime(ms: number): Date {
  return new Date(Math.min(ms, LAST_TIME));
}

/** A date, or a time rounded down to the hour. An end date includes the whole day. */
function readTime(value: unknown, name: 'from' | 'to'): Date | undefined {
  if (value === undefined) return undefined;
  const date = typeof value === 'string' && /^\d{4}-\d\d-\d\d(T|$)/.test(value) ? new Date(value) : undefined;
  if (typeof value !== 'string' || date === undefined || Number.isNaN(date.getTime())) {
    throw invalid(`query.${name}`, 'must be a date such as 2026-01-31');
  }
  if (date.getTime() < 0) throw invalid(`query.${name}`, 'must be after 1970');
  if (!value.includes('T')) return toTime(date.getTime() + (name === 'to' ? DAY_MS : 0));
  const round = name === 'to' ? Math.ceil : Math.floor;
  return toTime(round(date.getTime() / HOUR_MS) * HOUR_MS);
}

function readGroupBy(value: unknown): UsageGroup {
  if (value === undefined) return { columns: DEFAULT_COLUMNS, metadata: null };
  const names = typeof value === 'string' ? value.split(',') : [];
  const keys = names.filter((name) => name.startsWith(METADATA) && name.length > METADATA.length);
  const columns = USAGE_COLUMNS.filter((column) => names.includes(column));
  const isUnknown = columns.length + keys.length !== new Set(names).size;
  if (names.length === 0 || isUnknown || keys.length > 1) {
    throw invalid('query.groupBy', `must be one or more of ${USAGE_COLUMNS.join(', ')}, and one metadata.<key>`);
  }
  return { columns, metadata: keys[0]?.slice(METADATA.length) ?? null };
}

function readChoice<T extends string>(query: Query, name: string, choices: readonly T[]): T {
  const value = query[name];
  const found = value === undefined ? choices[0] : choices.find((choice) => choice === value);
  if (found === undefined) throw invalid(`query.${name}`, `must be one of ${choices.join(', ')}`);
  return found;
}

function readInteger(query: Query, name: string, { max, fallback }: { max: number; fallback: number }): number {
  const value = query[name];
  if (value === undefined) return fallback;
  const number = typeof value === 'string' && /^\d{1,9}$/.test(value) ? Number(value) : 0;
  if (number < 1 || number > max) throw invalid(`query.${name}`, `must be a whole number from 1 to ${max}`);
  return number;
}

/** `filter=agent:agt_1`, more than once or separated by commas. */
function readFilter(value: unknown): UsageQuery['filter'] {
  const texts = (Array.isArray(value) ? value : [value]).filter((part) => typeof part === 'string');
  const given = texts.flatMap((part) => part.split(','));
  const filter: UsageQuery['filter'] = {};
  for (const part of given) {
    const colon = part.indexOf(':');
    const name = USAGE_COLUMNS.find((column) => column === part.slice(0, colon));
    if (name === undefined || part.length > 300 || part.includes('\0')) {
      throw invalid('query.filter', `must be name:value with a name out of ${USAGE_COLUMNS.join(', ')}`);
    }
    filter[name] = part.slice(colon + 1);
  }
  return filter;
}

/** The position after the last page. Sums have no key of their own, so the cursor is a position. */
function readCursor(value: unknown): number {
  if (value === undefined) return 0;
  const text = typeof value === 'string' ? Buffer.from(value, 'base64url').toString('latin1') : '';
  if (!/^at:\d{1,9}$/.test(text)) throw invalid('query.cursor', 'must be one that this list gave');
  return Number(text.slice(3));
}

function readQuery(query: Query, organizationId: string): UsageQuery {
  const to = readTime(query['to'], 'to') ?? new Date((Math.floor(Date.now() / DAY_MS) + 1) * DAY_MS);
  const source = readChoice(query, 'source', SOURCES);
  return {
    organizationId,
    to,
    from: readTime(query['from'], 'from') ?? new Date(Math.max(0, to.getTime() - (DEFAULT_DAYS + 1) * DAY_MS)),
    ...readGroupBy(query['groupBy']),
    source: source === 'all' ? null : source,
    filter: readFilter(query['filter']),
    order: readChoice(query, 'order', ORDERS),
    limit: readInteger(query, 'limit', { max: MAX_ITEMS, fallback: MAX_ITEMS }),
    offset: readCursor(query['cursor']),
  };
}

function toCell(value: string | number | null): string {
  const text = value === null ? '' : String(value);
  // A cell that begins like a formula would be executed by a spreadsheet.
  const safe = typeof value === 'string' && /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\n\r]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

function toCsv(items: readonly UsageItem[]): string {
  const [first] = items;
  const names = first === undefined ? [] : (Object.keys(first) as (keyof UsageItem)[]);
  const lines = [names.join(','), ...items.map((item) => names.map((name) => toCell(item[name])).join(','))];
  return `${lines.join('\r\n')}\r\n`;
}

/** `GET /v1/usage`: the usage of the caller's organization; by default the gateway's of the last 30 days. */
export async function listUsage(
  { db }: GatewayDeps,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<JsonObject | string> {
  const { caller } = request;
  if (caller === undefined) throw errors.unauthorized();
  const query = readQuery(request.query as Query, caller.organizationId);
  const { items, totals, hasMore } = await reportUsage(db, query);
  if (/\btext\/csv\b/.test(request.headers.accept ?? '')) {
    void reply.type('text/csv; charset=utf-8').header('content-disposition', 'attachment; filename="usage.csv"');
    return toCsv(items);
  }
  const next = `at:${query.offset + query.limit}`;
  const nextCursor = hasMore ? Buffer.from(next).toString('base64url') : null;
  return {
    object: 'list',
    data: items,
    totals,
    timeZone: 'UTC',
    pagination: { limit: query.limit, hasMore, nextCursor },
  };
}
