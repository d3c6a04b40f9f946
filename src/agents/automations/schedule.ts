import { Cron } from 'croner';
import cronstrue from 'cronstrue';

/** When an automation runs. Cron expressions are read in the time zone of the automation. */
export type Schedule =
  /** once, at this time */
  | { kind: 'at'; at: Date }
  /** once, this long after the schedule was set */
  | { kind: 'in'; periodMs: number }
  /** again and again, counted from when the schedule was set */
  | { kind: 'every'; periodMs: number }
  | { kind: 'cron'; pattern: string };

export type ParsedSchedule = { schedule: Schedule; text: string };

const UNITS = { m: 60_000, h: 3_600_000, d: 86_400_000 } as const;
type Unit = keyof typeof UNITS;

const DURATION = /^(\d{1,7})\s*(m|min|mins|minute|minutes|h|hr|hrs|hour|hours|d|day|days)$/;
const TIMESTAMP = /^\d{4}-\d{2}-\d{2}(?:[t ]\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?:z|[+-]\d{2}:?\d{2})?)?$/;
/** A maximum that keeps dates far from the end of their range. */
const MAX_PERIOD_MS = 3660 * UNITS.d;

/**
 * Reads any of the four forms; undefined for anything else, also for a cron expression that never comes true. The time
 * zone is that of timestamps without an offset.
 */
export function parseSchedule(source: string, timezone = 'UTC'): ParsedSchedule | undefined {
  const text = source.trim().toLowerCase().replaceAll(/\s+/g, ' ');
  const every = /^every (.+)$/.exec(text);
  const duration = readDuration(every?.[1] ?? text);
  if (duration !== undefined) {
    const kind = every === null ? 'in' : 'every';
    return {
      schedule: { kind, periodMs: duration.ms },
      text: every === null ? duration.text : `every ${duration.text}`,
    };
  }
  if (every !== null) return undefined;
  return TIMESTAMP.test(text) ? readTimestamp(text, timezone) : readCron(text);
}

function readDuration(text: string): { ms: number; text: string } | undefined {
  const [, count, word] = DURATION.exec(text) ?? [];
  if (count === undefined || word === undefined) return undefined;
  const unit = word.charAt(0) as Unit;
  const ms = Number(count) * UNITS[unit];
  return ms === 0 || ms > MAX_PERIOD_MS ? undefined : { ms, text: `${Number(count)}${unit}` };
}

// A date alone is its midnight.
function readTimestamp(text: string, timezone: string): ParsedSchedule | undefined {
  const [date = '', rest = ''] = text.split(/[t ]/, 2);
  const isZoned = /(?:z|[+-]\d{2}:?\d{2})$/.test(rest);
  const time = rest === '' ? '00:00' : rest.toUpperCase();
  const utc = new Date(`${date}T${isZoned ? time : `${time}Z`}`);
  const local = new Date(`${date}T00:00:00Z`);
  // `Date` turns February 30 into March 2.
  if (Number.isNaN(utc.getTime()) || Number.isNaN(local.getTime()) || !local.toISOString().startsWith(date)) {
    return undefined;
  }
  const at = isZoned ? utc : readLocalTime(utc, timezone);
  // The text of a later year could not be read again.
  if (at.getUTCFullYear() > 9999) return undefined;
  return { schedule: { kind: 'at', at }, text: at.toISOString() };
}

/** The moment at which clocks of the zone show what UTC clocks show at `utc`: the first one, or, in a gap, as much after the gap begins. */
function readLocalTime(utc: Date, timezone: string): Date {
  if (timezone === 'UTC') return utc;
  const seconds = new Cron(utc.toISOString().slice(0, 19), { timezone, paused: true }).nextRun(new Date(0));
  return seconds === null ? utc : new Date(seconds.getTime() + utc.getUTCMilliseconds());
}

function readCron(text: string): ParsedSchedule | undefined {
  if (text.split(' ').length !== 5) return undefined;
  try {
    if (openCron(text, 'UTC').nextRun(new Date()) === null) return undefined;
  } catch {
    return undefined;
  }
  return { schedule: { kind: 'cron', pattern: text }, text };
}

// With day of month and day of week both set, either is enough: what cron has always done.
function openCron(pattern: string, timezone: string): Cron {
  return new Cron(pattern, { mode: '5-part', timezone, domAndDow: false, paused: true });
}

/** The schedule of a stored text. Throws when the text was not normalized by `parseSchedule`. */
export function readSchedule(text: string): Schedule {
  const parsed = parseSchedule(text);
  if (parsed === undefined) throw new Error('A stored schedule cannot be read.');
  return parsed.schedule;
}

export function isOneShot(schedule: Schedule): boolean {
  return schedule.kind === 'at' || schedule.kind === 'in';
}

/** When a one-shot is due, whether that has passed or not. */
export function findOneShotTime(schedule: Schedule, anchoredAt: Date): Date | undefined {
  if (schedule.kind === 'at') return schedule.at;
  return schedule.kind === 'in' ? new Date(anchoredAt.getTime() + schedule.periodMs) : undefined;
}

/** What the times of a schedule depend on beside its text: when it was set, and the time zone of cron expressions. */
export type ScheduleBase = { anchoredAt: Date; timezone: string };

/** The first time strictly after `after`; undefined when there is none. */
export function findNextTime(
  schedule: Schedule,
  { anchoredAt, timezone }: ScheduleBase,
  after: Date,
): Date | undefined {
  switch (schedule.kind) {
    case 'at':
    case 'in': {
      const at = findOneShotTime(schedule, anchoredAt);
      return at !== undefined && at > after ? at : undefined;
    }
    case 'every': {
      const passed = Math.max(0, Math.floor((after.getTime() - anchoredAt.getTime()) / schedule.periodMs));
      return new Date(anchoredAt.getTime() + (passed + 1) * schedule.periodMs);
    }
    case 'cron':
      return openCron(schedule.pattern, timezone).nextRun(after) ?? undefined;
  }
}

/** For people: `once in 30m`, `once at 2026-01-31 09:30 UTC`, `every 2h`, `At 09:00, Monday through Friday`. */
export function describeSchedule(text: string, timezone = 'UTC'): string {
  const schedule = readSchedule(text);
  switch (schedule.kind) {
    case 'at':
      return `once at ${text.slice(0, 16).replace('T', ' ')} UTC`;
    case 'in':
      return `once in ${text}`;
    case 'every':
      return text;
    case 'cron':
      return describeCron(schedule.pattern) + (timezone === 'UTC' ? '' : ` (${timezone})`);
  }
}

function describeCron(pattern: string): string {
  try {
    // It knows names of months and days in either case, but `L` in capitals only.
    return cronstrue.toString(pattern.toUpperCase(), { use24HourTimeFormat: true });
  } catch {
    return pattern;
  }
}
