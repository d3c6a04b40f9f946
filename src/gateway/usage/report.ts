import type { FastifyRequest } from 'fastify';
import { errors } from '../../platform/errors.ts';
import { reportUsage } from '../store/model-usage.ts';
import type { UsageColumn } from '../store/model-usage.ts';
import type { GatewayDeps } from '../deps.ts';
import type { JsonObject } from '../dialects/dialect.ts';
import { invalid } from '../gateway-error.ts';

const COLUMNS: UsageColumn[] = ['model', 'key', 'day'];
const DEFAULT_DAYS = 30;
const DAY_MS = 86_400_000;

function toDay(date: Date): string {
  return date.toISOString().slice(0, 10);
}

/** A date, or a time within it. */
function readDay(value: unknown, name: string, fallback: Date): string {
  if (value === undefined) return toDay(fallback);
  const date = typeof value === 'string' && /^\d{4}-\d\d-\d\d(T|$)/.test(value) ? new Date(value) : undefined;
  if (date === undefined || Number.isNaN(date.getTime()))
    throw invalid(`query.${name}`, 'must be a date such as 2026-01-31');
  return toDay(date);
}

function readGroupBy(value: unknown): UsageColumn[] {
  if (value === undefined) return COLUMNS;
  const names = typeof value === 'string' ? value.split(',') : [];
  const columns = COLUMNS.filter((column) => names.includes(column));
  if (columns.length === 0 || columns.length !== new Set(names).size) {
    throw invalid('query.groupBy', `must be one or more of ${COLUMNS.join(', ')}`);
  }
  return columns;
}

/** `GET /v1/usage`: the usage of the caller's organization; by default of the last 30 days. */
export async function listUsage({ db }: GatewayDeps, request: FastifyRequest): Promise<JsonObject> {
  const { caller } = request;
  if (caller === undefined) throw errors.unauthorized();
  const query = request.query as Record<string, unknown>;
  const now = new Date();
  const to = readDay(query['to'], 'to', now);
  const from = readDay(query['from'], 'from', new Date(now.getTime() - DEFAULT_DAYS * DAY_MS));
  const groupBy = readGroupBy(query['groupBy']);
  return { object: 'list', data: await reportUsage(db, { organizationId: caller.organizationId, from, to, groupBy }) };
}
