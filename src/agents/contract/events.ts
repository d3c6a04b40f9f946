import { z } from 'zod';
import { BudgetRef } from '../../platform/contract/budgets.ts';
import { AttachmentSummary, MessageAttachment } from './attachments.ts';
import { Id, TextBlock, TextBlocks, Timestamp, openRecord } from '../../platform/contract/common.ts';
import { Usage } from './usage.ts';

const Message = z.string().min(1).max(20_000);
const EventMetadata = openRecord(z.string().min(1).max(256), z.union([z.string(), z.number(), z.boolean(), z.null()]));

export const UserMessage = z
  .object({
    type: z.literal('user.message'),
    content: TextBlocks,
    metadata: EventMetadata.optional(),
    attachments: z.array(MessageAttachment).max(10).optional(),
  })
  .meta({ id: 'UserMessage' });
export type UserMessage = z.infer<typeof UserMessage>;

export const UserSteer = z.object({ type: z.literal('user.steer'), message: Message }).meta({ id: 'UserSteer' });
export const UserInterrupt = z
  .object({ type: z.literal('user.interrupt'), message: Message.optional() })
  .meta({ id: 'UserInterrupt' });

export const ApprovalScope = z.enum(['once', 'session', 'always']);
export type ApprovalScope = z.infer<typeof ApprovalScope>;

export const UserApprovalResponse = z
  .object({
    type: z.literal('user.approval_response'),
    approval_id: Id,
    result: z.enum(['allow', 'deny']),
    scope: ApprovalScope.default('once'),
    /** with a denial: what the model is told of the reason */
    message: z.string().min(1).max(2000).optional(),
  })
  .meta({ id: 'UserApprovalResponse' });
export type UserApprovalResponse = z.infer<typeof UserApprovalResponse>;

export const UserCustomToolResult = z
  .object({
    type: z.literal('user.custom_tool_result'),
    tool_use_id: Id,
    content: TextBlocks,
    status: z.enum(['running', 'completed', 'failed']).optional(),
    is_error: z.boolean().optional(),
  })
  .meta({ id: 'UserCustomToolResult' });
export type UserCustomToolResult = z.infer<typeof UserCustomToolResult>;

export const UserClarifyResult = z
  .object({ type: z.literal('user.clarify_result'), request_id: Id, answer: z.string().max(20_000) })
  .meta({ id: 'UserClarifyResult' });
export type UserClarifyResult = z.infer<typeof UserClarifyResult>;

export const InboundEvent = z
  .discriminatedUnion('type', [
    UserMessage,
    UserSteer,
    UserInterrupt,
    UserApprovalResponse,
    UserCustomToolResult,
    UserClarifyResult,
  ])
  .meta({ id: 'InboundEvent' });
export type InboundEvent = z.infer<typeof InboundEvent>;

export const EventsSend = z
  .object({
    events: z.array(InboundEvent).min(1).max(100),
    delivery: z.enum(['immediate', 'when_idle']).default('immediate'),
  })
  .superRefine((body, context) => {
    const prompts = body.events.filter((event) => event.type === 'user.message');
    if (prompts.length > 1) {
      context.addIssue({ code: 'custom', path: ['events'], message: 'must hold at most one user.message' });
    }
    if (body.delivery !== 'when_idle') return;
    body.events.forEach((event, index) => {
      if (event.type === 'user.message') return;
      context.addIssue({
        code: 'custom',
        path: ['events', index, 'type'],
        message: 'must be user.message when delivery is when_idle',
      });
    });
  })
  .meta({ id: 'EventsSend' });
export type EventsSend = z.infer<typeof EventsSend>;

export const EventStatus = z.enum(['received', 'queued', 'processed', 'complete', 'streaming']);
export type EventStatus = z.infer<typeof EventStatus>;

/** What lists and streams carry. `sequence` grows by one per durable event of a session, from 1. */
export const EventEnvelope = z.object({
  id: Id,
  type: z.string(),
  sessionId: Id,
  sequence: z.int(),
  turnId: Id.nullable(),
  status: EventStatus.nullable(),
  usage: Usage.optional(),
  payload: z.looseObject({ type: z.string() }),
  processedAt: Timestamp.nullable(),
  createdAt: Timestamp,
});
export type EventEnvelope = z.infer<typeof EventEnvelope>;

/** Why a turn failed. */
export const StopErrorCode = z.enum([
  'upstream_rate_limited',
  'upstream_overloaded',
  'upstream_unavailable',
  'upstream_rejected',
  'upstream_authentication',
  'unknown_model',
  'context_overflow',
  'output_limit',
  'content_filtered',
  'empty_reply',
  'repeated_failure',
  'step_limit',
  'internal',
]);
export type StopErrorCode = z.infer<typeof StopErrorCode>;

/** Why a turn stopped. */
export const StopReason = z
  .discriminatedUnion('type', [
    z.object({ type: z.literal('end_turn') }).meta({ id: 'StopEndTurn' }),
    z
      .object({
        type: z.literal('error'),
        code: StopErrorCode,
        message: z.string(),
        retryable: z.boolean().describe('whether the same prompt may succeed later'),
      })
      .meta({ id: 'StopError' }),
    z.object({ type: z.literal('requires_action'), event_ids: z.array(Id) }).meta({ id: 'StopRequiresAction' }),
    z.object({ type: z.literal('budget_reached'), budget: BudgetRef }).meta({ id: 'StopBudgetReached' }),
  ])
  .meta({ id: 'StopReason' });
export type StopReason = z.infer<typeof StopReason>;

/** A turn waits for its model provider before it calls it again. */
export const Waiting = z.object({
  reason: z.string().describe('one sentence for people'),
  code: StopErrorCode,
  attempt: z.int().describe('failed tries of this model call so far'),
  retryAt: Timestamp,
});
export type Waiting = z.infer<typeof Waiting>;

/** Whether a policy let a call run; `ask` also after a person allowed it. */
export type EvaluatedPermission = 'allow' | 'ask' | 'deny';

const Inner = {
  parent_tool_use_id: Id.optional().describe('of a call made inside another one: the use of the tool that made it'),
  thread_id: Id.optional().describe('the subagent that made it'),
};
const ToolUse = {
  id: Id,
  name: z.string(),
  toolset: z.string().nullable(),
  input: z.unknown(),
  evaluated_permission: z.enum(['allow', 'ask', 'deny']),
  ...Inner,
};
const ToolOutcome = {
  name: z.string(),
  content: z.array(TextBlock),
  is_error: z.boolean(),
  duration_ms: z.number(),
  ...Inner,
};
const Thread = { thread_id: Id, agent_name: z.string(), tool_use_id: Id, content: z.array(TextBlock) };
const Said = {
  id: Id,
  delta: z.boolean(),
  offset: z.int().optional().describe('of deltas only: where in the text they begin, in UTF-16 units'),
  content: z.array(TextBlock),
};

/** Everything the service itself writes into a session. `id` of asks and uses equals the envelope's. */
export const OutboundPayload = z
  .discriminatedUnion('type', [
    z.object({ type: z.literal('session.status_running') }).meta({ id: 'SessionStatusRunning' }),
    z
      .object({
        type: z.literal('session.status_idle'),
        stop_reason: StopReason,
        interrupted: z.literal(true).optional(),
        usage: Usage.optional(),
      })
      .meta({ id: 'SessionStatusIdle' }),
    z.object({ type: z.literal('session.compacted'), compression_count: z.int() }).meta({ id: 'SessionCompacted' }),
    z
      .object({
        type: z.literal('session.tool_updated'),
        tool_use_id: Id,
        event_id: Id,
        payload: z.record(z.string(), z.unknown()),
      })
      .meta({ id: 'SessionToolUpdated' }),
    z.object({ type: z.literal('session.title_updated'), title: z.string() }).meta({ id: 'SessionTitleUpdated' }),
    z.object({ type: z.literal('agent.thinking'), ...Said }).meta({ id: 'AgentThinking' }),
    z.object({ type: z.literal('agent.message'), ...Said }).meta({ id: 'AgentMessage' }),
    z
      .object({
        type: z.literal('agent.message_discarded'),
        id: Id.describe('whose deltas or streaming frames to drop: no event with this id follows'),
      })
      .meta({ id: 'AgentMessageDiscarded' }),
    z
      .object({
        type: z.literal('agent.tool_output'),
        tool_use_id: Id,
        content: z.array(TextBlock).describe('whole lines; the result has all of the output'),
      })
      .meta({ id: 'AgentToolOutput' }),
    z.object({ type: z.literal('session.waiting'), ...Waiting.shape }).meta({ id: 'SessionWaiting' }),
    z
      .object({
        type: z.literal('mcp.server_unavailable'),
        serverName: z.string(),
        reason: z.string().describe('one sentence; never quotes a credential'),
      })
      .meta({ id: 'McpServerUnavailable' }),
    z
      .object({
        type: z.literal('agent.approval_request'),
        id: Id,
        tool_use_id: Id,
        kind: z.enum(['builtin', 'mcp', 'custom']),
        tool_name: z.string(),
        toolset: z.string().nullable(),
        mcp_server_name: z.string().nullable(),
        input: z.unknown(),
        scopes: z.array(ApprovalScope),
        approvers: z.array(z.string()).optional().describe('who may answer; absent: whoever may answer at all'),
        separation_of_duties: z.literal(true).optional().describe('not whoever asked for it'),
      })
      .meta({ id: 'AgentApprovalRequest' }),
    z.object({ type: z.literal('agent.tool_use'), ...ToolUse }).meta({ id: 'AgentToolUse' }),
    z.object({ type: z.literal('agent.tool_result'), tool_use_id: Id, ...ToolOutcome }).meta({ id: 'AgentToolResult' }),
    z
      .object({ type: z.literal('agent.mcp_tool_use'), mcp_server_name: z.string(), ...ToolUse })
      .meta({ id: 'AgentMcpToolUse' }),
    z
      .object({
        type: z.literal('agent.mcp_tool_result'),
        tool_use_id: Id,
        mcp_tool_use_id: Id,
        mcp_server_name: z.string(),
        ...ToolOutcome,
      })
      .meta({ id: 'AgentMcpToolResult' }),
    z
      .object({ type: z.literal('agent.custom_tool_use'), id: Id, name: z.string(), input: z.unknown() })
      .meta({ id: 'AgentCustomToolUse' }),
    z
      .object({
        type: z.literal('agent.clarify_request'),
        request_id: Id,
        id: Id,
        question: z.string(),
        choices: z.array(z.string()).nullable(),
      })
      .meta({ id: 'AgentClarifyRequest' }),
    z.object({ type: z.literal('agent.thread_message_sent'), ...Thread }).meta({ id: 'AgentThreadMessageSent' }),
    z
      .object({
        type: z.literal('agent.thread_message_received'),
        ...Thread,
        status: z.enum(['completed', 'failed', 'interrupted']),
        is_error: z.boolean(),
        usage: Usage,
      })
      .meta({ id: 'AgentThreadMessageReceived' }),
  ])
  .meta({ id: 'OutboundPayload' });
export type OutboundPayload = z.infer<typeof OutboundPayload>;

/** An envelope as callers know it: what they sent themselves, or what the service wrote. A list may omit attachments. */
export const SessionEvent = EventEnvelope.extend({
  payload: z.union([
    InboundEvent,
    OutboundPayload,
    UserMessage.extend({ attachments: z.array(AttachmentSummary).max(10).optional() }).meta({
      id: 'UserMessageListed',
    }),
  ]),
}).meta({ id: 'EventEnvelope' });
