import { z } from 'zod';
import { CursorPage, Id, SubjectId, Timestamp, queryList } from '../../platform/contract/common.ts';
import { ApprovalScope } from './events.ts';
import type { PENDING_TYPES } from './sessions.ts';

export const OpenActionType = z.enum(['approval', 'clarify', 'custom_tool']);
export type OpenActionType = z.infer<typeof OpenActionType>;

/** The type of the event that asks. */
export const ACTION_EVENTS: Readonly<Record<OpenActionType, (typeof PENDING_TYPES)[number]>> = {
  approval: 'agent.approval_request',
  clarify: 'agent.clarify_request',
  custom_tool: 'agent.custom_tool_use',
};

export const ActionState = z.enum(['pending', 'answered', 'expired', 'cancelled']);
export type ActionState = z.infer<typeof ActionState>;

/** Characters of `input` as JSON that an item holds. */
export const MAX_ACTION_INPUT = 64 * 1024;

export const Actor = z.object({ type: z.enum(['key', 'user', 'system']), id: Id, name: z.string().nullable() });

/** Something that a turn waits for, or waited for, with all that a person needs to answer it. */
export const OpenAction = z
  .object({
    object: z.literal('pending_action'),
    id: Id.describe('of the event that asks'),
    type: OpenActionType,
    state: ActionState,
    sessionId: Id,
    sessionTitle: z.string().nullable(),
    agentId: Id,
    agentName: z.string(),
    agentVersion: z.int(),
    subjectId: SubjectId,
    automationId: Id.nullable(),
    sequence: z.int().nullable(),
    toolUseId: Id,
    toolName: z.string(),
    toolset: z.string().nullable(),
    mcpServerName: z.string().nullable(),
    input: z.unknown().describe('where it is truncated, the first 65,536 characters of its JSON, as text'),
    inputTruncated: z.boolean(),
    scopes: z.array(ApprovalScope).describe('of an approval; otherwise empty'),
    approvers: z.array(z.string()).nullable().describe('who may answer; null: whoever may answer at all'),
    separationOfDuties: z.boolean().describe('whoever asked for it may not answer'),
    question: z.string().nullable(),
    choices: z.array(z.string()).nullable(),
    createdAt: Timestamp,
    expiresAt: Timestamp.nullable(),
    answeredAt: Timestamp.nullable(),
    answeredBy: Actor.nullable(),
    answer: z.record(z.string(), z.unknown()).nullable(),
  })
  .meta({ id: 'OpenAction' });
export type OpenAction = z.infer<typeof OpenAction>;

export const OpenActionQuery = CursorPage.extend({
  state: queryList(ActionState).optional().describe('default: pending'),
  type: queryList(OpenActionType).optional(),
  agentId: Id.optional(),
  subjectId: SubjectId.optional(),
  sessionId: Id.optional(),
  order: z.enum(['oldest', 'newest']).default('oldest').describe('which come first'),
});
export type OpenActionQuery = z.infer<typeof OpenActionQuery>;
