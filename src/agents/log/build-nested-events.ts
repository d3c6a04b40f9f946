import { newId } from '../../platform/ids.ts';
import { omitUndefined } from '../../platform/records.ts';
import type { Usage } from '../contract/usage.ts';
import { buildBlocks } from './blocks.ts';
import type { LogEvent, NestedCallTag, NewEvent, NewEventOf, PayloadOf } from './event.ts';
import { isNested, isToolResult, isToolUse } from './read.ts';

/** The name of a subagent on the wire. */
const AGENT_NAME = 'subagent';

/** A subagent at work: its turn, and the call of `delegate_task` that started it. */
export type ThreadSlot = { threadId: string; turnId: string; callId: string };

export type ThreadStatus = 'completed' | 'failed' | 'interrupted';

/**
 * The use or the result of a nested call as the session's log holds it; undefined for other events, which stay in the
 * journal of the nested call. It carries no `internal`, because it is not part of a model reply.
 */
export function tagNestedEvent(event: NewEvent, turnId: string, tag: NestedCallTag): NewEvent | undefined {
  const { id, status, payload } = event;
  const at = { id, turnId, status };
  switch (payload.type) {
    case 'agent.tool_use':
      return { ...at, payload: { ...payload, ...tag } };
    case 'agent.mcp_tool_use':
      return { ...at, payload: { ...payload, ...tag } };
    case 'agent.tool_result':
      return { ...at, payload: { ...payload, ...tag } };
    case 'agent.mcp_tool_result':
      return { ...at, payload: { ...payload, ...tag } };
    default:
      return undefined;
  }
}

/**
 * Results for those of the nested calls among these events that have none: they were running when their parent ended.
 */
export function endNestedCalls(events: readonly LogEvent[], message: string): NewEvent[] {
  const nested = events.filter(isNested);
  const done = new Set(nested.filter(isToolResult).map(({ payload }) => payload.tool_use_id));
  return nested.filter(isToolUse).flatMap(({ id, turnId, payload }): NewEvent[] => {
    if (done.has(id)) return [];
    const { name, parent_tool_use_id, thread_id } = payload;
    const tag = omitUndefined({ parent_tool_use_id, thread_id });
    const content = buildBlocks(JSON.stringify({ error: message }));
    const end = { ...tag, tool_use_id: id, content, is_error: true, duration_ms: 0 };
    const at = { id: newId('evt'), turnId, status: 'complete' } as const;
    if (payload.type === 'agent.tool_use') {
      return [{ ...at, payload: { type: 'agent.tool_result', name, ...end } }];
    }
    const { mcp_server_name } = payload;
    return [{ ...at, payload: { type: 'agent.mcp_tool_result', name, mcp_server_name, mcp_tool_use_id: id, ...end } }];
  });
}

function buildThreadHead({ threadId, callId }: ThreadSlot) {
  return { thread_id: threadId, agent_name: AGENT_NAME, tool_use_id: callId };
}

/** A subagent receives its task. */
export function buildThreadSent(slot: ThreadSlot, task: string): NewEventOf<'agent.thread_message_sent'> {
  const payload: PayloadOf<'agent.thread_message_sent'> = {
    type: 'agent.thread_message_sent',
    ...buildThreadHead(slot),
    content: buildBlocks(task),
  };
  return { id: newId('evt'), turnId: slot.turnId, status: 'complete', payload };
}

/** A subagent ends. */
export function buildThreadReceived(
  slot: ThreadSlot,
  end: { status: ThreadStatus; content: string; usage: Usage },
): NewEventOf<'agent.thread_message_received'> {
  const payload: PayloadOf<'agent.thread_message_received'> = {
    type: 'agent.thread_message_received',
    ...buildThreadHead(slot),
    status: end.status,
    is_error: end.status !== 'completed',
    content: buildBlocks(end.content),
    usage: end.usage,
  };
  return { id: newId('evt'), turnId: slot.turnId, status: 'complete', payload };
}

/** Builds the missing end events of subagents. Their usage is unknown. */
export function endThreads(events: readonly LogEvent[], message: string): NewEvent[] {
  const received = new Set(
    events.flatMap((event) => (event.type === 'agent.thread_message_received' ? [event.payload.thread_id] : [])),
  );
  return events.flatMap((event): NewEvent[] => {
    if (event.type !== 'agent.thread_message_sent' || received.has(event.payload.thread_id)) return [];
    const { thread_id: threadId, tool_use_id: callId } = event.payload;
    const slot = { threadId, turnId: event.turnId ?? '', callId };
    return [buildThreadReceived(slot, { status: 'interrupted', content: message, usage: {} })];
  });
}
