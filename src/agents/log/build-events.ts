import type { ImagePart } from '../../inference/model.ts';
import type { TextBlock } from '../../platform/contract/common.ts';
import { newId } from '../../platform/ids.ts';
import { omitUndefined } from '../../platform/records.ts';
import type { EvaluatedPermission, EventEnvelope, InboundEvent, StopReason, Waiting } from '../contract/events.ts';
import type { Usage } from '../contract/usage.ts';
import { buildBlocks } from './blocks.ts';
import type {
  Compaction,
  EventType,
  InternalOf,
  NewEvent,
  NewEventOf,
  PayloadOf,
  ReasoningSignature,
  StepCall,
  StepPosition,
  TurnPrompt,
} from './event.ts';

/** The turn that an event belongs to. Without an `id` the event gets a new one. */
export type EventSlot = { turnId: string | null; id?: string };

/** A call of an open step, and the turn and the number of the step that it belongs to. */
export type CallSlot = { turnId: string; step: number; call: StepCall };

// With the type as an explicit argument the compiler checks every field, also an optional or surplus one.
function create<T extends EventType>(
  { id = newId('evt'), turnId }: EventSlot,
  payload: PayloadOf<T>,
  internal?: InternalOf<T>,
): NewEventOf<T> {
  return { id, turnId, status: 'complete', payload, ...omitUndefined({ internal }) };
}

/** What a caller sent. */
export function buildInbound(
  slot: { id: string; turnId: string | null },
  status: 'received' | 'queued' | 'processed',
  payload: InboundEvent,
  internal?: InternalOf<'user.message'>,
): NewEvent {
  return {
    ...slot,
    status,
    ...(status === 'processed' ? { processed: true } : {}),
    payload,
    ...(internal === undefined ? {} : { internal }),
  };
}

/** Opens a turn with its prompt. */
export function buildTurnStart(slot: EventSlot, prompt: TurnPrompt): NewEvent {
  return create<'session.status_running'>(slot, { type: 'session.status_running' }, { prompt });
}

/** A waiting turn continues. */
export function buildTurnResume(slot: EventSlot): NewEvent {
  return create<'session.status_running'>(slot, { type: 'session.status_running' }, { resume: true });
}

/** Ends or pauses a turn. */
export function buildIdle(
  slot: EventSlot,
  end: { stop_reason: StopReason; interrupted?: true },
  usage?: Usage,
): NewEvent {
  const spent = omitUndefined({ usage });
  return { ...create<'session.status_idle'>(slot, { type: 'session.status_idle', ...end, ...spent }), ...spent };
}

export function buildTitleUpdate(slot: EventSlot, title: string): NewEvent {
  return create<'session.title_updated'>(slot, { type: 'session.title_updated', title });
}

/** `count`: the number of compactions of the session, this one included. */
export function buildCompacted(slot: EventSlot, count: number, compaction: Compaction): NewEvent {
  const payload = { type: 'session.compacted', compression_count: count } as const;
  return create<'session.compacted'>(slot, payload, { compaction });
}

/** The patch of an earlier event, for the live path only: it has no place in the log. */
export function buildToolUpdate(patched: EventEnvelope, toolUseId: string): EventEnvelope {
  const type = 'session.tool_updated';
  const { sessionId, sequence, turnId, id, payload } = patched;
  const update: PayloadOf<typeof type> = { type, tool_use_id: toolUseId, event_id: id, payload };
  const createdAt = new Date().toISOString();
  return {
    id: newId('evt'),
    type,
    sessionId,
    sequence,
    turnId,
    status: null,
    payload: update,
    processedAt: null,
    createdAt,
  };
}

/** A message to the user. Without a position it is not part of a model reply, and the model does not read it. */
export function buildMessage(
  slot: { id: string; turnId: string | null },
  content: TextBlock[],
  position?: InternalOf<'agent.message'>,
): NewEvent {
  const payload = { type: 'agent.message', id: slot.id, delta: false, content } as const;
  return create<'agent.message'>(slot, payload, position);
}

export function buildThinking(
  slot: { id: string; turnId: string },
  text: string,
  position: StepPosition,
  signature: ReasoningSignature,
): NewEvent {
  const payload = { type: 'agent.thinking', id: slot.id, delta: false, content: buildBlocks(text) } as const;
  const isSigned = Object.keys(signature).length > 0;
  return create<'agent.thinking'>(slot, payload, { ...position, ...(isSigned ? { proof: signature } : {}) });
}

/** A piece of a message or of reasoning on its way; `offset` counts the UTF-16 units before it. */
export function buildDelta(
  type: 'agent.message' | 'agent.thinking',
  id: string,
  offset: number,
  text: string,
): PayloadOf<'agent.message' | 'agent.thinking'> {
  return { type, id, delta: true, offset, content: buildBlocks(text) };
}

export function buildWaiting(waiting: Waiting): PayloadOf<'session.waiting'> {
  return { type: 'session.waiting', ...waiting };
}

/** Frames of this id are void: the model call that they belong to is repeated, or has failed. */
export function buildDiscarded(id: string): PayloadOf<'agent.message_discarded'> {
  return { type: 'agent.message_discarded', id };
}

/** Output of a call that still runs. */
export function buildToolOutput(useId: string, text: string): PayloadOf<'agent.tool_output'> {
  return { type: 'agent.tool_output', tool_use_id: useId, content: buildBlocks(text) };
}

/** An MCP server has no tools in this turn. */
export function buildServerUnavailable(server: {
  serverName: string;
  reason: string;
}): PayloadOf<'mcp.server_unavailable'> {
  return { type: 'mcp.server_unavailable', ...server };
}

type Use = { toolset: string | null; input: unknown; permission: EvaluatedPermission };

/** The payload of a use. Callers see an MCP tool under the name its server gives it. */
export function buildUsePayload(
  { useId: id, name, mcp }: Pick<StepCall, 'useId' | 'name' | 'mcp'>,
  { toolset, input, permission }: Use,
): PayloadOf<'agent.tool_use' | 'agent.mcp_tool_use'> {
  const use = { toolset, input, evaluated_permission: permission };
  if (mcp === undefined) return { type: 'agent.tool_use', id, name, ...use };
  return { type: 'agent.mcp_tool_use', id, name: mcp.tool, mcp_server_name: mcp.server, ...use };
}

// The model's own text is stored only where the parsed input does not reproduce it.
function buildCallInternal({ step, call }: CallSlot, input: unknown): InternalOf<'agent.tool_use'> {
  const internal = { step, index: call.index, callId: call.callId, name: call.name };
  return JSON.stringify(input) === call.arguments ? internal : { ...internal, arguments: call.arguments };
}

/** A tool is about to run. */
export function buildUse(slot: CallSlot, use: Use): NewEvent {
  const { call, turnId } = slot;
  const at = { id: call.useId, turnId };
  const internal = buildCallInternal(slot, use.input);
  const payload = buildUsePayload(call, use);
  return payload.type === 'agent.tool_use'
    ? create<'agent.tool_use'>(at, payload, internal)
    : create<'agent.mcp_tool_use'>(at, payload, internal);
}

/** The outcome of a tool. Images are stored for the model; callers do not see them. */
export function buildResult(
  { call, turnId, step }: CallSlot,
  result: { content: string; isError: boolean; durationMs: number; images?: ImagePart[] },
): NewEvent {
  const outcome = {
    content: buildBlocks(result.content),
    is_error: result.isError,
    duration_ms: Math.round(result.durationMs),
  };
  const images = omitUndefined({ images: result.images });
  const internal = { step, index: call.index, ...images };
  const { useId, name, mcp } = call;
  if (mcp === undefined) {
    const payload = { type: 'agent.tool_result', tool_use_id: useId, name, ...outcome } as const;
    return create<'agent.tool_result'>({ turnId }, payload, internal);
  }
  const ids = { tool_use_id: useId, mcp_tool_use_id: useId, name: mcp.tool, mcp_server_name: mcp.server };
  const payload = { type: 'agent.mcp_tool_result', ...ids, ...outcome } as const;
  return create<'agent.mcp_tool_result'>({ turnId }, payload, internal);
}

export function buildApprovalRequest(
  { call, turnId, step }: CallSlot,
  request: {
    of: 'builtin' | 'mcp' | 'custom';
    toolset: string | null;
    input: unknown;
    approvalRule?: { approvers?: string[]; separationOfDuties?: true };
  },
): NewEventOf<'agent.approval_request'> {
  const id = newId('evt');
  const { approvers, separationOfDuties } = request.approvalRule ?? {};
  return create<'agent.approval_request'>(
    { id, turnId },
    {
      type: 'agent.approval_request',
      id,
      tool_use_id: call.useId,
      kind: request.of,
      tool_name: call.mcp?.tool ?? call.name,
      toolset: request.toolset,
      mcp_server_name: call.mcp?.server ?? null,
      input: request.input,
      scopes: ['once', 'session', 'always'],
      ...omitUndefined({ approvers, separation_of_duties: separationOfDuties }),
    },
    { approvalOf: call.useId, inStep: step },
  );
}

export function buildCustomUse(slot: CallSlot, input: unknown): NewEvent {
  const { call, turnId } = slot;
  return create<'agent.custom_tool_use'>(
    { id: call.useId, turnId },
    { type: 'agent.custom_tool_use', id: call.useId, name: call.name, input },
    buildCallInternal(slot, input),
  );
}

export function buildClarifyRequest(slot: CallSlot, question: string, choices: string[] | null): NewEvent {
  const { call, turnId, step } = slot;
  return create<'agent.clarify_request'>(
    { id: call.useId, turnId },
    { type: 'agent.clarify_request', id: call.useId, request_id: call.useId, question, choices },
    { step, index: call.index, callId: call.callId, name: call.name, arguments: call.arguments },
  );
}
