import type { UsageItem, UsageReport } from '../data/types.ts';

export type Amount = { requests: number; failures: number; tokens: number; costUsd: number };
export type UsageRow = Amount & { name: string };
export type UsageDay = { day: string; parts: ReadonlyMap<string, Amount> };
export type By = 'model' | 'key' | 'agent' | 'subject' | 'session' | 'automation' | 'user' | 'product';

const FIELDS: Record<By, readonly string[]> = {
  model: ['model'],
  key: ['keyId', 'key'],
  agent: ['agentId', 'agent'],
  subject: ['subjectId', 'subject'],
  session: ['sessionId'],
  automation: ['automationId'],
  user: ['userId'],
  product: ['product'],
};
/** The row name for usage without the grouped value. */
export const NO_NAME = '';
const NONE: Amount = { requests: 0, failures: 0, tokens: 0, costUsd: 0 };
const DAY_MS = 86_400_000;

export type Period = { id: string; name: string; from: string; to: string };

function toDay(time: number): string {
  return new Date(time).toISOString().slice(0, 10);
}

/** The days that people ask for, both included. A week begins on Monday. */
export function listPeriods(now: number): Period[] {
  const today = toDay(now);
  const weekday = (new Date(now).getUTCDay() + 6) % 7;
  const monday = now - weekday * DAY_MS;
  return [
    { id: '30', name: 'Last 30 days', from: toDay(now - 29 * DAY_MS), to: today },
    { id: '7', name: 'Last 7 days', from: toDay(now - 6 * DAY_MS), to: today },
    { id: 'last-week', name: 'Last week', from: toDay(monday - 7 * DAY_MS), to: toDay(monday - DAY_MS) },
    { id: 'month', name: 'This month', from: `${today.slice(0, 7)}-01`, to: today },
  ];
}

function readNumber(item: UsageItem, ...names: string[]): number {
  const value = names.map((name) => item[name]).find((each) => typeof each === 'number' || typeof each === 'string');
  return Number(value ?? 0) || 0;
}

export function readAmount(item: UsageItem): Amount {
  return {
    requests: readNumber(item, 'requests', 'calls'),
    failures: readNumber(item, 'failures'),
    tokens: readNumber(item, 'inputTokens', 'input') + readNumber(item, 'outputTokens', 'output'),
    costUsd: readNumber(item, 'costUsd'),
  };
}

function readName(item: UsageItem, by: By): string {
  const value = FIELDS[by].map((name) => item[name]).find((each) => typeof each === 'string' && each !== '');
  return typeof value === 'string' ? value : NO_NAME;
}

function add(left: Amount, right: Amount): Amount {
  return {
    requests: left.requests + right.requests,
    failures: left.failures + right.failures,
    tokens: left.tokens + right.tokens,
    costUsd: left.costUsd + right.costUsd,
  };
}

/** One row per name, the costliest first. */
export function sumByName(report: UsageReport, by: By): UsageRow[] {
  const sums = new Map<string, Amount>();
  for (const item of report.data) {
    const name = readName(item, by);
    sums.set(name, add(sums.get(name) ?? NONE, readAmount(item)));
  }
  // The ledger counts tool calls as well, but they are not model calls.
  const isUsed = ({ requests, tokens, costUsd }: Amount) => requests > 0 || tokens > 0 || costUsd > 0;
  const rows = [...sums].map(([name, amount]) => ({ name, ...amount })).filter(isUsed);
  return rows.sort((left, right) => right.costUsd - left.costUsd || right.tokens - left.tokens);
}

/** Every day from `from` to `to`, including days without usage. */
export function sumByDay(report: UsageReport, by: By, { from, to }: { from: string; to: string }): UsageDay[] {
  const days = new Map<string, Map<string, Amount>>();
  for (let time = Date.parse(from); time <= Date.parse(to) && days.size < 400; time += DAY_MS) {
    days.set(new Date(time).toISOString().slice(0, 10), new Map());
  }
  for (const item of report.data) {
    const parts = typeof item.day === 'string' ? days.get(item.day.slice(0, 10)) : undefined;
    const name = readName(item, by);
    parts?.set(name, add(parts.get(name) ?? NONE, readAmount(item)));
  }
  return [...days].map(([day, parts]) => ({ day, parts }));
}

/** The server's totals, or the sum of the rows if it sends none. */
export function readTotals(report: UsageReport): Amount {
  if (report.totals !== undefined) return readAmount(report.totals);
  return report.data.map(readAmount).reduce(add, NONE);
}

function quote(cell: string): string {
  // Spreadsheets execute cells with a leading sign.
  const safe = /^[=+\-@\t\r]/.test(cell) ? `'${cell}` : cell;
  return /[",\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

export function writeCsv(rows: readonly UsageRow[], by: By): string {
  const lines = rows.map(({ name, requests, failures, tokens, costUsd }) =>
    [quote(name), requests, failures, tokens, costUsd.toFixed(6)].join(','),
  );
  return [`${by},requests,failures,tokens,cost_usd`, ...lines, ''].join('\n');
}
