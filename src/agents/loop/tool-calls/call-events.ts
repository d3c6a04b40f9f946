import type { EvaluatedPermission } from '../../contract/events.ts';
import type { NewEvent } from '../../contract/journal.ts';
import { newId } from '../../../platform/ids.ts';
import type { ImagePart } from '../../../inference/model.ts';
import { omitUndefined } from '../../../platform/records.ts';
import { buildBlocks } from '../history/blocks.ts';
import type { StepCall, StepMark } from '../../log/read.ts';

type Place = { turnId: string; step: number; call: StepCall };

// The model's own text is kept only where the parsed input would not give it back.
function buildMark({ step, call }: Place, input: unknown): StepMark & Record<string, unknown> {
  const mark = { step, index: call.index, callId: call.callId, name: call.name };
  return JSON.stringify(input) === call.arguments ? mark : { ...mark, arguments: call.arguments };
}

/** Callers know a server's tool by the server's name for it; the model's name for it stays inside. */
export function buildUseHead({ useId: id, name, mcp }: Pick<StepCall, 'useId' | 'name' | 'mcp'>) {
  return mcp === undefined
    ? { type: 'agent.tool_use', id, name }
    : { type: 'agent.mcp_tool_use', id, name: mcp.tool, mcp_server_name: mcp.server };
}

function buildResultHead({ useId, name, mcp }: StepCall) {
  if (mcp === undefined) return { type: 'agent.tool_result', tool_use_id: useId, name };
  const names = { name: mcp.tool, mcp_server_name: mcp.server };
  return { type: 'agent.mcp_tool_result', tool_use_id: useId, mcp_tool_use_id: useId, ...names };
}

export function buildUse(
  place: Place,
  use: { toolset: string | null; input: unknown; permission: EvaluatedPermission },
): NewEvent {
  const { call, turnId } = place;
  return {
    id: call.useId,
    turnId,
    status: 'complete',
    payload: {
      ...buildUseHead(call),
      toolset: use.toolset,
      input: use.input,
      evaluated_permission: use.permission,
    },
    internal: buildMark(place, use.input),
  };
}

export function buildResult(
  { call, turnId, step }: Place,
  result: { content: string; isError: boolean; durationMs: number; images?: ImagePart[] },
): NewEvent {
  return {
    id: newId('evt'),
    turnId,
    status: 'complete',
    payload: {
      ...buildResultHead(call),
      content: buildBlocks(result.content),
      is_error: result.isError,
      duration_ms: Math.round(result.durationMs),
    },
    internal: { step, index: call.index, ...omitUndefined({ images: result.images }) },
  };
}

export function buildApprovalRequest(
  { call, turnId, step }: Place,
  request: { of: 'builtin' | 'mcp' | 'custom'; toolset: string | null; input: unknown },
): NewEvent {
  const id = newId('evt');
  return {
    id,
    turnId,
    status: 'complete',
    payload: {
      type: 'agent.approval_request',
      id,
      tool_use_id: call.useId,
      kind: request.of,
      tool_name: call.mcp?.tool ?? call.name,
      toolset: request.toolset,
      mcp_server_name: call.mcp?.server ?? null,
      input: request.input,
      scopes: ['once', 'session', 'always'],
    },
    internal: { approvalOf: call.useId, inStep: step },
  };
}

export function buildCustomUse(place: Place, input: unknown): NewEvent {
  const { call, turnId } = place;
  return {
    id: call.useId,
    turnId,
    status: 'complete',
    payload: { type: 'agent.custom_tool_use', id: call.useId, name: call.name, input },
    internal: buildMark(place, input),
  };
}

export function buildClarifyRequest(place: Place, question: string, choices: string[] | null): NewEvent {
  const { call, turnId, step } = place;
  return {
    id: call.useId,
    turnId,
    status: 'complete',
    payload: { type: 'agent.clarify_request', id: call.useId, request_id: call.useId, question, choices },
    internal: { step, index: call.index, callId: call.callId, name: call.name, arguments: call.arguments },
  };
}
