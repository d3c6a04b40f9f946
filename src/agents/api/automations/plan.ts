import type { AutomationCreate, AutomationPatch } from '../../contract/automations.ts';
import { errors } from '../../../platform/errors.ts';
import { findNextTime, findOneShotTime, isOneShot, parseSchedule, readSchedule } from '../../automations/schedule.ts';
import type { AutomationFields, StoredAutomation } from '../../store/automations.ts';

/** What decides when an automation runs next. */
type Progress = Pick<AutomationFields, 'schedule' | 'anchoredAt' | 'timezone' | 'enabled' | 'repeat'> & {
  occurrences: number;
  completed: number;
  retries: number;
};

/** Null while paused or done with. A one-shot that has not run yet, or is tried again, stays due, however late. */
export function decideNextRun(progress: Progress, now: Date): Date | null {
  const { enabled, repeat, completed, occurrences, retries, anchoredAt } = progress;
  if (!enabled || (repeat !== null && completed >= repeat)) return null;
  const schedule = readSchedule(progress.schedule);
  if (!isOneShot(schedule)) return findNextTime(schedule, progress, now) ?? null;
  return occurrences > 0 && retries === 0 ? null : (findOneShotTime(schedule, anchoredAt) ?? null);
}

function parse(source: string, timezone: string, now: Date): string {
  const parsed = parseSchedule(source, timezone);
  if (parsed === undefined) {
    throw errors.validation(
      'schedule: must be an ISO timestamp, a duration like 30m, an interval like every 2h, or a five-field cron ' +
        'expression that comes true',
    );
  }
  if (parsed.schedule.kind === 'at' && parsed.schedule.at <= now) {
    throw errors.validation('schedule: must not lie in the past');
  }
  return parsed.text;
}

export function planCreate(body: AutomationCreate, now: Date): AutomationFields {
  const fields = {
    name: body.name ?? null,
    prompt: body.prompt,
    schedule: parse(body.schedule, body.timezone, now),
    anchoredAt: now,
    timezone: body.timezone,
    skills: [...new Set(body.skills)],
    repeat: body.repeat ?? null,
    enabled: body.enabled,
  };
  return { ...fields, nextRunAt: decideNextRun({ ...fields, occurrences: 0, completed: 0, retries: 0 }, now) };
}

/** The next run changes only with what it depends upon: other changes leave one that is due where it is. */
export function planPatch(
  current: StoredAutomation,
  body: AutomationPatch,
  now: Date,
): AutomationFields & { occurrences: number; retries: number } {
  const timezone = body.timezone ?? current.timezone;
  const reschedule =
    body.schedule === undefined ? {} : { schedule: parse(body.schedule, timezone, now), anchoredAt: now };
  const next = {
    name: body.name === undefined ? current.name : body.name,
    prompt: body.prompt ?? current.prompt,
    schedule: current.schedule,
    anchoredAt: current.anchoredAt,
    skills: body.skills === undefined ? current.skills : [...new Set(body.skills)],
    repeat: body.repeat === undefined ? current.repeat : body.repeat,
    enabled: body.enabled ?? current.enabled,
    timezone,
    occurrences: body.schedule === undefined ? current.occurrences : 0,
    retries: body.schedule === undefined ? current.retries : 0,
    ...reschedule,
  };
  const decided = decideNextRun({ ...next, completed: current.completed }, now);
  const isSame = body.schedule === undefined && timezone === current.timezone;
  const keeps = isSame && decided !== null && current.nextRunAt !== null;
  return { ...next, nextRunAt: keeps ? current.nextRunAt : decided };
}
