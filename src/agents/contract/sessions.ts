import { z } from 'zod';
import {
  AnyPage,
  Id,
  Metadata,
  QueryTime,
  SubjectId,
  Timestamp,
  deletedBody,
  queryInteger,
  queryList,
  queryNumber,
} from '../../platform/contract/common.ts';
import { StopReason, Waiting } from './events.ts';
import { Reasoning } from './reasoning.ts';
import { Usage } from './usage.ts';
import { ConnectionStatus } from './vaults.ts';

export const SessionStatus = z.enum(['idle', 'running', 'waiting_on_human', 'archived']);
export type SessionStatus = z.infer<typeof SessionStatus>;

export const PENDING_TYPES = ['agent.approval_request', 'agent.custom_tool_use', 'agent.clarify_request'] as const;
export const PendingAction = z.object({ eventId: Id, type: z.enum(PENDING_TYPES) }).meta({ id: 'PendingAction' });
export type PendingAction = z.infer<typeof PendingAction>;

export const Goal = z
  .object({
    objective: z.string().describe('what stood behind `/goal `'),
    status: z.enum(['active', 'paused', 'done', 'cleared']),
    turnsUsed: z.int().describe('turns that were judged since the goal was set or resumed'),
    maxTurns: z.int(),
    reason: z.string().nullable().describe('what the judge said last, or why the goal is paused'),
  })
  .meta({ id: 'Goal' });
export type Goal = z.infer<typeof Goal>;

export const SessionMcpServer = z
  .object({
    name: z.string(),
    status: ConnectionStatus.describe('`unavailable`: the server did not list its tools, so the turn had none of them'),
    reason: z.string().nullable().describe('why it is unavailable, in one sentence'),
  })
  .meta({ id: 'SessionMcpServer' });
export type SessionMcpServer = z.infer<typeof SessionMcpServer>;

export const Session = z
  .object({
    object: z.literal('session'),
    id: Id,
    agentId: Id,
    agentName: z.string(),
    agentVersion: z.int(),
    agentVersionId: Id,
    subjectId: SubjectId,
    role: z.string().nullable(),
    title: z.string().nullable(),
    status: SessionStatus,
    yoloMode: z.boolean(),
    preview: z.boolean(),
    tag: z.string().nullable(),
    reasoning: Reasoning.nullable().describe("null: the agent version's"),
    metadata: Metadata,
    automationId: Id.nullable(),
    goal: Goal.nullable(),
    pendingActions: z.array(PendingAction),
    openActions: z.int().describe('number of `pendingActions`'),
    lastSequence: z.int().describe('sequence of the last durable event; 0 when there is none'),
    lastStopReason: StopReason.nullable().describe('why the latest turn stopped or waits; null before the first turn'),
    turnStartedAt: Timestamp.nullable().describe('of the turn that runs or waits; null when there is none'),
    queuedCount: z.int(),
    waiting: Waiting.nullable().describe('set while the turn waits for its model provider'),
    mcpServers: z.array(SessionMcpServer).describe('enabled MCP servers, as they were in the latest turn'),
    usage: Usage.nullable().describe('null until a turn has completed'),
    createdAt: Timestamp,
    updatedAt: Timestamp,
    lastActivityAt: Timestamp,
    archivedAt: Timestamp.nullable(),
  })
  .meta({ id: 'Session' });
export type Session = z.infer<typeof Session>;

const Title = z.string().min(1).max(500);

export const SessionCreate = z
  .object({
    agentId: Id,
    subjectId: SubjectId,
    role: z.string().min(1).max(200).optional(),
    title: Title.optional(),
    yoloMode: z.boolean().default(false),
    preview: z.boolean().default(false),
    tag: z.string().min(1).max(64).optional(),
    reasoning: Reasoning.nullish().describe("null: the agent version's"),
    metadata: Metadata.optional(),
  })
  .refine((body) => !(body.preview && body.tag !== undefined), {
    path: ['tag'],
    message: 'must not be combined with preview',
  })
  .meta({ id: 'SessionCreate' });
export type SessionCreate = z.infer<typeof SessionCreate>;

export const SessionUpdate = z
  .object({
    title: Title.optional(),
    yoloMode: z.boolean().optional(),
    reasoning: Reasoning.nullable().optional().describe("applies to the next turn; null: the agent version's"),
    metadata: Metadata.optional(),
  })
  .refine((body) => Object.values(body).some((value) => value !== undefined), 'must change at least one field')
  .meta({ id: 'SessionUpdate' });
export type SessionUpdate = z.infer<typeof SessionUpdate>;

export const SessionOutcome = z.enum(['ok', 'error', 'interrupted']);
export type SessionOutcome = z.infer<typeof SessionOutcome>;

export const SessionOrder = z.enum(['created', 'activity', 'cost']);
export type SessionOrder = z.infer<typeof SessionOrder>;

export const SessionListQuery = AnyPage.extend({
  agentId: Id.optional(),
  agent: Id.optional(),
  subjectId: SubjectId.optional(),
  subject: SubjectId.optional(),
  status: queryList(SessionStatus).optional().describe('default: all but archived'),
  q: z.string().min(1).max(200).optional().describe('part of the title or of the subject, or the id'),
  outcome: SessionOutcome.optional().describe('how the latest turn ended'),
  automationId: Id.optional(),
  tag: z.string().min(1).max(64).optional(),
  createdFrom: QueryTime.optional(),
  createdTo: QueryTime.optional().describe('exclusive'),
  activeFrom: QueryTime.optional().describe('of the last activity'),
  activeTo: QueryTime.optional().describe('exclusive'),
  minCostUsd: queryNumber({ min: 0, max: 1e9 }).optional(),
  idleForSeconds: queryInteger({ min: 1, max: 1e9, default: 1 })
    .optional()
    .describe('no event for at least so long; without `status`: of running sessions'),
  order: SessionOrder.default('created').describe('newest, latest activity or highest cost first'),
}).superRefine((query, context) => {
  if (query.agent !== undefined && query.agentId !== undefined && query.agent !== query.agentId) {
    context.addIssue({ code: 'custom', path: ['agent'], message: 'must match agentId' });
  }
  if (query.subject !== undefined && query.subjectId !== undefined && query.subject !== query.subjectId) {
    context.addIssue({ code: 'custom', path: ['subject'], message: 'must match subjectId' });
  }
});

export const SessionDeleted = deletedBody('session.deleted');

export const SandboxWarmRequest = z.object({ agentId: Id, subjectId: SubjectId }).meta({ id: 'SandboxWarmRequest' });
export const SandboxWarm = z
  .object({
    object: z.literal('sandbox.warm'),
    status: z.literal('warming'),
    reason: z.null(),
    agentId: Id,
    subjectId: SubjectId,
  })
  .meta({ id: 'SandboxWarm' });
