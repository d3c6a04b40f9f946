import { MAX_FAILED_STARTS } from '../../contract/automations.ts';
import type { Automation, AutomationState } from '../../contract/automations.ts';
import { describeSchedule } from '../../automations/schedule.ts';
import type { StoredAutomation } from '../../store/automations.ts';

function readState(automation: StoredAutomation): AutomationState {
  if (!automation.enabled) return 'paused';
  if (automation.running) return 'running';
  if (automation.nextRunAt !== null) return 'scheduled';
  return automation.failedStarts >= MAX_FAILED_STARTS ? 'error' : 'completed';
}

export function buildAutomation(automation: StoredAutomation): Automation {
  const { name, prompt, schedule, skills, repeat, enabled } = automation;
  return {
    object: 'automation',
    id: automation.id,
    agentId: automation.agentId,
    subjectId: automation.subjectId,
    name,
    prompt,
    schedule,
    scheduleDisplay: describeSchedule(schedule, automation.timezone),
    timezone: automation.timezone,
    skills,
    repeat,
    enabled,
    state: readState(automation),
    nextRunAt: automation.nextRunAt?.toISOString() ?? null,
    lastRunAt: automation.lastRunAt?.toISOString() ?? null,
    lastStatus: automation.lastStatus,
    lastError: automation.lastError,
    lastSessionId: automation.lastSessionId,
    runCount: automation.runCount,
    successCount: automation.successCount,
    failureCount: automation.failureCount,
    skippedCount: automation.skippedCount,
    createdAt: automation.createdAt.toISOString(),
    updatedAt: automation.updatedAt.toISOString(),
  };
}
