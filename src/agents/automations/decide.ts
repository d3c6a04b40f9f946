import { MAX_FAILED_STARTS } from '../contract/automations.ts';
import { findNextTime, isOneShot, readSchedule } from './schedule.ts';
import type { DueAutomation } from '../store/automation-runs.ts';

/** A one-shot has no next occurrence to try again at. */
const RETRY_MS = 60_000;

export type DueDecision =
  | { kind: 'start'; nextRunAt: Date | null }
  | { kind: 'skip'; nextRunAt: Date | null }
  | { kind: 'fail'; nextRunAt: Date | null; reason: string };

/** What becomes of an automation whose time has come. Missed occurrences are made up for by this one. Pure. */
export function decideDue(due: DueAutomation, now: Date): DueDecision {
  const schedule = readSchedule(due.schedule);
  const once = isOneShot(schedule);
  const next = once ? null : (findNextTime(schedule, due, now) ?? null);
  if (due.repeat !== null && due.completed >= due.repeat) return { kind: 'skip', nextRunAt: null };
  if (due.overlaps) return { kind: 'skip', nextRunAt: next };
  const reason = findObstacle(due);
  if (reason !== undefined) {
    const retry = once ? new Date(now.getTime() + RETRY_MS) : next;
    return { kind: 'fail', reason, nextRunAt: due.failedStarts + 1 >= MAX_FAILED_STARTS ? null : retry };
  }
  // A run that ends well may be the last one: then its end clears the next time.
  return { kind: 'start', nextRunAt: next };
}

function findObstacle({ agentStatus, skills, version }: DueAutomation): string | undefined {
  if (agentStatus === 'archived') return 'The agent is archived.';
  const missing = skills.find((skill) => !version.skills.includes(skill));
  return missing === undefined ? undefined : `The production version has no skill "${missing}".`;
}
