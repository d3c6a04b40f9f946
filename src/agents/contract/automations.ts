import { z } from 'zod';
import { Id, SubjectId, Timestamp, deletedBody } from '../../platform/contract/common.ts';

export const AutomationState = z.enum(['scheduled', 'running', 'paused', 'completed', 'error']);
export type AutomationState = z.infer<typeof AutomationState>;

/** Consecutive failed starts after which an automation gets the state `error`. */
export const MAX_FAILED_STARTS = 5;

const Prompt = z
  .string()
  .min(1)
  .max(5000)
  .refine((text) => text.trim() !== '', 'must not be blank');
/** Whether the platform knows a time zone by this name. */
function isTimezone(name: string): boolean {
  try {
    // An offset such as +02:00 is none.
    return (
      /^[A-Za-z]/.test(name) && new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone !== ''
    );
  } catch {
    return false;
  }
}

/** The four forms are checked by the service. */
const ScheduleText = z
  .string()
  .min(1)
  .max(200)
  .describe('ISO timestamp, duration (`30m`), interval (`every 2h`) or five-field cron expression');
const Timezone = z
  .string()
  .max(100)
  .refine(isTimezone, 'must be an IANA time zone such as Europe/Brussels')
  .describe('IANA time zone of cron expressions and of timestamps without an offset');
const SkillNames = z.array(z.string().min(1).max(200)).max(64);
const Repeat = z.int().min(1).max(2_147_483_647);

export const AutomationCreate = z
  .object({
    name: z.string().min(1).max(200).nullish(),
    prompt: Prompt,
    schedule: ScheduleText,
    skills: SkillNames.default([]),
    repeat: Repeat.nullish(),
    enabled: z.boolean().default(true),
    timezone: Timezone.default('UTC'),
  })
  .meta({ id: 'AutomationCreate' });
export type AutomationCreate = z.infer<typeof AutomationCreate>;

export const AutomationPatch = z
  .object({
    name: z.string().min(1).max(200).nullable().optional(),
    prompt: Prompt.optional(),
    schedule: ScheduleText.optional(),
    skills: SkillNames.optional(),
    repeat: Repeat.nullable().optional().describe('null removes the limit'),
    enabled: z.boolean().optional(),
    timezone: Timezone.optional(),
  })
  .refine((body) => Object.values(body).some((value) => value !== undefined), 'must change at least one field')
  .meta({ id: 'AutomationPatch' });
export type AutomationPatch = z.infer<typeof AutomationPatch>;

export const Automation = z
  .object({
    object: z.literal('automation'),
    id: Id,
    agentId: Id,
    subjectId: SubjectId,
    name: z.string().nullable(),
    prompt: z.string(),
    schedule: z.string().describe('normalized'),
    scheduleDisplay: z.string(),
    timezone: z.string(),
    skills: z.array(z.string()),
    repeat: z.int().nullable(),
    enabled: z.boolean(),
    state: AutomationState,
    nextRunAt: Timestamp.nullable(),
    lastRunAt: Timestamp.nullable(),
    lastStatus: z.enum(['ok', 'error']).nullable(),
    lastError: z.string().nullable(),
    lastSessionId: Id.nullable(),
    runCount: z.int().describe('runs that were started, on schedule or by hand'),
    successCount: z.int(),
    failureCount: z.int().describe('runs that failed, after their retries, or could not be started'),
    skippedCount: z.int().describe('occurrences whose predecessor was still running'),
    createdAt: Timestamp,
    updatedAt: Timestamp,
  })
  .meta({ id: 'Automation' });
export type Automation = z.infer<typeof Automation>;

export const AutomationRun = z
  .object({ object: z.literal('automation.run'), automationId: Id, sessionId: Id })
  .meta({ id: 'AutomationRun' });

export const AutomationDeleted = deletedBody('automation.deleted');
