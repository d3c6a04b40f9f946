import type { LogEvent, NewEvent } from '../../contract/journal.ts';
import type { Usage } from '../../contract/usage.ts';
import { newId } from '../../../platform/ids.ts';
import { buildBlocks } from '../history/blocks.ts';

/** What callers know a subagent by. */
const AGENT_NAME = 'subagent';

/** One subagent at work: which turn it belongs to, and the call of `delegate_task` that began it. */
export type ThreadPlace = { threadId: string; turnId: string; callId: string };

export type ThreadStatus = 'completed' | 'failed' | 'interrupted';

function buildHead({ threadId, callId }: ThreadPlace) {
  return { thread_id: threadId, agent_name: AGENT_NAME, tool_use_id: callId };
}

export function buildThreadSent(place: ThreadPlace, task: string): NewEvent {
  const payload = { type: 'agent.thread_message_sent', ...buildHead(place), content: buildBlocks(task) };
  return { id: newId('evt'), turnId: place.turnId, status: 'complete', payload };
}

export function buildThreadReceived(
  place: ThreadPlace,
  end: { status: ThreadStatus; content: string; usage: Usage },
): NewEvent {
  const payload = {
    type: 'agent.thread_message_received',
    ...buildHead(place),
    status: end.status,
    is_error: end.status !== 'completed',
    content: buildBlocks(end.content),
    usage: end.usage,
  };
  return { id: newId('evt'), turnId: place.turnId, status: 'complete', payload };
}

/** The ends of threads among these events that were open when what ran them came to its end. What each used is unknown by then. */
export function endThreads(events: readonly LogEvent[], message: string): NewEvent[] {
  const received = new Set(
    events.filter(({ type }) => type === 'agent.thread_message_received').map(({ payload }) => payload['thread_id']),
  );
  return events.flatMap(({ type, turnId, payload }): NewEvent[] => {
    const { thread_id: threadId, tool_use_id: callId } = payload as { thread_id?: string; tool_use_id?: string };
    if (type !== 'agent.thread_message_sent' || threadId === undefined || received.has(threadId)) return [];
    const place = { threadId, turnId: turnId ?? '', callId: callId ?? '' };
    return [buildThreadReceived(place, { status: 'interrupted', content: message, usage: {} })];
  });
}
