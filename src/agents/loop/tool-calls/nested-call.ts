import type { LogEvent, NewEvent } from '../../contract/journal.ts';
import { newId } from '../../../platform/ids.ts';
import { omitUndefined } from '../../../platform/records.ts';
import { buildBlocks } from '../history/blocks.ts';
import { isInner } from '../../log/read.ts';
import type { InnerMark } from '../../log/read.ts';
import type { Change, Journal, Turn, TurnDeps } from '../turn/types.ts';

/** Uses and results of tools, which are the session's business whoever called them. */
const USES = new Set(['agent.tool_use', 'agent.mcp_tool_use']);
const RESULTS = new Set(['agent.tool_result', 'agent.mcp_tool_result']);

/**
 * For calls that a tool makes in the course of its own: the same policies, sandbox and journal-before-effect as for the
 * model's, but with nobody to ask, so what would have to be asked for is refused. Their uses and results go into the
 * session's log under `mark`; everything else stays in a journal that is not kept and that begins with `events`. What
 * `keepTurn` says of the turn goes along with each of these writes.
 */
export function buildInnerDeps(
  turn: Turn,
  deps: TurnDeps,
  mark: InnerMark,
  inner: { events?: LogEvent[]; keepTurn?: () => Change['turn'] } = {},
): TurnDeps {
  return {
    ...deps,
    journal: openInnerJournal(deps.journal, turn.id, mark, inner.events ?? [], inner.keepTurn),
    readPermissions: async () => ({ ...(await deps.readPermissions()), unattended: true }),
    readAsks: () => Promise.resolve([]),
    sendLive: () => undefined,
  };
}

// The write to the session's log comes before the effect, and holds back a worker whose lease is gone.
function openInnerJournal(
  outer: Journal,
  turnId: string,
  mark: InnerMark,
  events: LogEvent[],
  keepTurn?: () => Change['turn'],
): Journal {
  return {
    events,
    async append(change) {
      const shown = change.events.filter(({ payload: { type } }) => USES.has(type) || RESULTS.has(type));
      const marked = shown.map(({ id, status, payload }) => ({ id, turnId, status, payload: { ...payload, ...mark } }));
      if (marked.length > 0) {
        const turn = keepTurn?.();
        await outer.append({ events: marked, ...omitUndefined({ turn }) });
      }
      for (const event of change.events) events.push(buildLogEvent(event, events.length + 1));
    },
    refresh: () => Promise.resolve(),
  };
}

/** An entry of a log that is not kept. */
export function buildLogEvent({ internal, ...event }: NewEvent, sequence: number): LogEvent {
  const createdAt = new Date().toISOString();
  const { type } = event.payload;
  return { ...event, type, sessionId: '', sequence, processedAt: null, createdAt, internal: internal ?? null };
}

/** Results of the inner calls among these events that were under way when what made them came to its end. */
export function endInnerCalls(events: readonly LogEvent[], message: string): NewEvent[] {
  const inner = events.filter(isInner);
  const done = new Set(inner.map(({ payload }) => payload['tool_use_id']));
  return inner.flatMap(({ id, type, turnId, payload }): NewEvent[] => {
    if (!USES.has(type) || done.has(id)) return [];
    const { id: _id, input: _input, toolset: _toolset, evaluated_permission: _permission, ...kept } = payload;
    const isMcp = type === 'agent.mcp_tool_use';
    const head = isMcp
      ? { ...kept, type: 'agent.mcp_tool_result', mcp_tool_use_id: id }
      : { ...kept, type: 'agent.tool_result' };
    const content = buildBlocks(JSON.stringify({ error: message }));
    const result = { ...head, tool_use_id: id, content, is_error: true, duration_ms: 0 };
    return [{ id: newId('evt'), turnId, status: 'complete', payload: result }];
  });
}
