import { deriveSpanId } from '../../platform/trace-context.ts';
import type { SpanRecord, Trace } from '../../platform/trace-context.ts';
import { omitUndefined } from '../../platform/records.ts';
import type { LogEvent, LogEventOf } from './event.ts';
import { isModelCall, isNested, textOf, threadIdOf } from './read.ts';
import { chatSpanId, findTrace, mcpSpanId, threadSpanId, toolSpanId, turnSpanId } from './trace-ids.ts';
import { describeInput, describeReply, describeTool } from './trace-content.ts';

/** A model call of the ledger. */
export type TracedCall = {
  threadId: string | null;
  /** null: a call beside the conversation, such as a summary */
  step: number | null;
  model: string;
  startedAt: Date;
  firstTokenAt: Date | null;
  latencyMs: number;
  inputTokens: number;
  cachedInputTokens: number;
  cacheWriteTokens: number;
  outputTokens: number;
  reasoningTokens: number;
  costUsd: number | null;
  retries: number;
  error: string | null;
};

/** A turn as its rows tell it. */
export type TracedTurn = {
  id: string;
  sessionId: string;
  organizationId: string;
  agentId: string;
  agentName: string;
  subjectId: string;
  startedAt: Date;
  /** null: it is not over */
  endedAt: Date | null;
  /** each time that a worker went on with it */
  continuations: readonly { at: string; worker: string }[];
  /** in sequence order */
  events: readonly LogEvent[];
  calls: readonly TracedCall[];
};

type Span = Omit<SpanRecord, 'traceId' | 'sampled'>;
type ModelUse = Extract<
  LogEvent,
  { type: 'agent.tool_use' | 'agent.mcp_tool_use' | 'agent.custom_tool_use' | 'agent.clarify_request' }
>;

/** Rounded times of the log must not put a part outside of its turn. */
const at = (event: LogEvent): number => Date.parse(event.createdAt);

/** `acme` of `acme/large`. */
function providerOf(model: string): string {
  return model.split('/', 1)[0] ?? model;
}

/**
 * The spans of one turn: the turn ▸ its model calls ▸ the tools that they asked for ▸ requests to MCP servers. With `content`
 * the spans also hold what was said.
 */
export function buildTurnSpans(turn: TracedTurn, { content }: { content: boolean }): SpanRecord[] {
  const trace = findTrace(turn.events, turn.id);
  const { traceId, sampled } = trace;
  const spans = [
    buildTurnSpan(turn, trace, content),
    ...buildContinuations(turn, traceId),
    ...buildThreads(turn),
    ...turn.calls.map((call) => buildChat(call, turn, content)),
    ...turn.events.filter(isModelCall).flatMap((use) => buildTool(use, turn, content)),
  ];
  return spans.map((span) => ({ traceId, sampled, ...span }));
}

function buildTurnSpan(turn: TracedTurn, trace: Trace, content: boolean): Span {
  const { id, events, calls } = turn;
  const idle = events.findLast(
    (event): event is LogEventOf<'session.status_idle'> => event.type === 'session.status_idle',
  );
  const stop = idle?.payload.stop_reason;
  const failure = stop?.type === 'error' ? stop : undefined;
  const own = calls.filter(({ error }) => error === null);
  const sum = (count: (call: TracedCall) => number) => own.reduce((total, call) => total + count(call), 0);
  const last = events.at(-1);
  return {
    spanId: turnSpanId(id),
    ...(trace.parent === undefined ? {} : { parentId: trace.parent }),
    name: `invoke_agent ${turn.agentName}`,
    kind: 'internal',
    startMs: turn.startedAt.getTime(),
    endMs: turn.endedAt?.getTime() ?? (last === undefined ? turn.startedAt.getTime() : at(last)),
    attributes: {
      'gen_ai.operation.name': 'invoke_agent',
      'gen_ai.agent.id': turn.agentId,
      'gen_ai.agent.name': turn.agentName,
      'gen_ai.conversation.id': turn.sessionId,
      'gen_ai.usage.input_tokens': sum(({ inputTokens }) => inputTokens),
      'gen_ai.usage.output_tokens': sum(({ outputTokens }) => outputTokens),
      'capstan.organization.id': turn.organizationId,
      'capstan.subject.id': turn.subjectId,
      'capstan.turn.id': id,
      'capstan.turn.state': turn.endedAt === null ? 'open' : 'ended',
      ...omitUndefined({ 'capstan.turn.stop_reason': stop?.type, 'error.type': failure?.code }),
      ...(content ? describeInput(events) : {}),
    },
    ...omitUndefined({ error: failure?.message }),
  };
}

/** A worker that goes on with the turn of another one. */
function buildContinuations({ id, continuations }: TracedTurn, traceId: string): Span[] {
  return continuations.map(({ at: time, worker }) => ({
    spanId: deriveSpanId('continuation', id, time),
    parentId: turnSpanId(id),
    name: 'continue_turn',
    kind: 'internal',
    startMs: Date.parse(time),
    endMs: Date.parse(time),
    attributes: { 'capstan.turn.id': id, 'capstan.worker.id': worker },
    links: [{ traceId, spanId: turnSpanId(id) }],
  }));
}

function buildThreads({ events, endedAt, agentId, sessionId }: TracedTurn): Span[] {
  const sent = events.filter((event) => event.type === 'agent.thread_message_sent');
  return sent.map((start): Span => {
    const { thread_id: threadId, tool_use_id: useId, agent_name: name } = start.payload;
    const isEnd = (event: LogEvent) =>
      event.type === 'agent.thread_message_received' && event.payload.thread_id === threadId;
    const end = events.find(isEnd);
    const failed = end?.type === 'agent.thread_message_received' && end.payload.is_error;
    return {
      spanId: threadSpanId(threadId),
      parentId: toolSpanId(useId),
      name: `invoke_agent ${name}`,
      kind: 'internal',
      startMs: at(start),
      endMs: end === undefined ? (endedAt?.getTime() ?? at(start)) : at(end),
      attributes: {
        'gen_ai.operation.name': 'invoke_agent',
        'gen_ai.agent.id': agentId,
        'gen_ai.agent.name': name,
        'gen_ai.conversation.id': sessionId,
        'capstan.thread.id': threadId,
        ...(failed ? { 'error.type': 'subagent_failed' } : {}),
      },
      ...(failed ? { error: 'The subagent failed.' } : {}),
    };
  });
}

function isReply(call: TracedCall): call is TracedCall & { step: number } {
  return call.step !== null && call.error === null;
}

function idOf(call: TracedCall, turnId: string): string {
  const owner = call.threadId ?? turnId;
  if (isReply(call)) return chatSpanId(owner, call.step);
  return deriveSpanId('call', owner, call.startedAt.toISOString(), call.model);
}

function buildChat(call: TracedCall, { id, sessionId, events }: TracedTurn, content: boolean): Span {
  const { threadId, step, model, error } = call;
  const startMs = call.startedAt.getTime();
  const isThread = threadId !== null && events.some((event) => threadIdOf(event) === threadId);
  return {
    spanId: idOf(call, id),
    parentId: isThread ? threadSpanId(threadId) : turnSpanId(id),
    name: `chat ${model}`,
    kind: 'client',
    startMs,
    endMs: startMs + call.latencyMs,
    attributes: {
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': providerOf(model),
      'gen_ai.request.model': model,
      'gen_ai.response.model': model,
      'gen_ai.conversation.id': sessionId,
      ...describeCall(call),
      ...(isReply(call) && threadId === null ? describeFinish(events, call.step) : {}),
      ...(content && threadId === null && step !== null ? describeReply(events, step) : {}),
    },
    ...(error === null ? {} : { error: `The model call failed: ${error}.` }),
  };
}

/** The figures of a call. */
function describeCall(call: TracedCall): Record<string, string | number> {
  const { step, error, firstTokenAt, costUsd, retries } = call;
  const firstToken = firstTokenAt === null ? undefined : (firstTokenAt.getTime() - call.startedAt.getTime()) / 1000;
  return omitUndefined({
    'gen_ai.usage.input_tokens': call.inputTokens,
    'gen_ai.usage.output_tokens': call.outputTokens,
    'gen_ai.usage.cache_read.input_tokens': call.cachedInputTokens,
    'gen_ai.usage.cache_creation.input_tokens': call.cacheWriteTokens,
    'gen_ai.usage.reasoning.output_tokens': call.reasoningTokens,
    'gen_ai.response.time_to_first_chunk': firstToken,
    'capstan.cost_usd': costUsd ?? undefined,
    'capstan.step': step ?? undefined,
    'capstan.retries': retries === 0 ? undefined : retries,
    'error.type': error ?? undefined,
  });
}

/** Why the reply ended, as far as the log says. */
function describeFinish(events: readonly LogEvent[], step: number): Record<string, string[]> {
  const isOwn = (event: LogEvent) => isModelCall(event) && !isNested(event) && event.internal?.step === step;
  return { 'gen_ai.response.finish_reasons': [events.some(isOwn) ? 'tool_calls' : 'stop'] };
}

/** What a call belongs to: a tool that made it, or the reply that asked for it. */
function parentOf(use: ModelUse, { id, calls }: TracedTurn): string {
  const threadId = threadIdOf(use);
  if (threadId === undefined && 'parent_tool_use_id' in use.payload && use.payload.parent_tool_use_id !== undefined) {
    return toolSpanId(use.payload.parent_tool_use_id);
  }
  const replies = calls.filter(isReply).filter((call) => (call.threadId ?? undefined) === threadId);
  // The log does not say which reply of a subagent it was: the last one before the call.
  const step = use.internal?.step;
  const reply =
    threadId === undefined
      ? replies.find((call) => call.step === step)
      : replies.findLast((call) => call.startedAt.getTime() <= at(use));
  if (reply !== undefined) return chatSpanId(threadId ?? id, reply.step);
  return threadId === undefined ? turnSpanId(id) : threadSpanId(threadId);
}

type Outcome = { endMs: number; isError: boolean; text: string };

function findOutcome(use: ModelUse, { events, endedAt }: TracedTurn): Outcome {
  for (const event of events) {
    if (event.type === 'agent.tool_result' || event.type === 'agent.mcp_tool_result') {
      if (event.payload.tool_use_id !== use.id) continue;
      const { is_error: isError } = event.payload;
      return { endMs: at(event), isError, text: textOf(event.payload) };
    }
    if (event.type === 'user.custom_tool_result' && event.payload.tool_use_id === use.id) {
      const { is_error: isError, status } = event.payload;
      return { endMs: at(event), isError: isError ?? status === 'failed', text: textOf(event.payload) };
    }
    if (event.type === 'user.clarify_result' && event.payload.request_id === use.id) {
      return { endMs: at(event), isError: false, text: event.payload.answer };
    }
  }
  return { endMs: endedAt?.getTime() ?? at(use), isError: false, text: '' };
}

function buildTool(use: ModelUse, turn: TracedTurn, content: boolean): Span[] {
  const isMcp = use.type === 'agent.mcp_tool_use';
  const name = use.type === 'agent.clarify_request' ? 'clarify' : use.payload.name;
  const { endMs, isError, text } = findOutcome(use, turn);
  const failure = isError ? { error: `The tool ${name} failed.` } : {};
  const attributes = {
    'gen_ai.operation.name': 'execute_tool',
    'gen_ai.tool.name': name,
    'gen_ai.tool.type': isMcp ? 'extension' : 'function',
    'gen_ai.tool.call.id': use.id,
    'gen_ai.conversation.id': turn.sessionId,
    ...(isError ? { 'error.type': 'tool_error' } : {}),
  };
  const times = { startMs: at(use), endMs };
  const spanId = toolSpanId(use.id);
  const tool: Span = {
    spanId,
    parentId: parentOf(use, turn),
    name: `execute_tool ${name}`,
    kind: 'internal',
    ...times,
    attributes: { ...attributes, ...(content ? describeTool(use.payload, text) : {}) },
    ...failure,
  };
  if (!isMcp) return [tool];
  const request: Span = {
    spanId: mcpSpanId(use.id),
    parentId: spanId,
    name: `tools/call ${name}`,
    kind: 'client',
    ...times,
    attributes: { ...attributes, 'mcp.method.name': 'tools/call', 'capstan.mcp.server': use.payload.mcp_server_name },
    ...failure,
  };
  return [tool, request];
}
