import type { LogEvent, ReasoningSignature, StepCall, TurnPrompt } from '../../../src/agents/log/event.ts';
import type { InboundEvent, UserCustomToolResult, UserMessage } from '../../../src/agents/contract/events.ts';
import { toLogEvent } from '../../../src/agents/log/read.ts';
import {
  buildClarifyRequest,
  buildCustomUse,
  buildIdle,
  buildInbound,
  buildMessage,
  buildResult,
  buildThinking,
  buildTurnStart,
  buildUse,
} from '../../../src/agents/log/build-events.ts';
import type { NewEvent } from '../../../src/agents/log/event.ts';

const text = (value: string) => [{ type: 'text' as const, text: value }];

/** Writes a log as the service does, event by event. */
export function openTestLog() {
  const log: LogEvent[] = [];
  let ids = 0;
  let turnId: string | null = null;
  let step = 0;
  let index = 0;

  const newId = (prefix: string) => {
    ids += 1;
    return `${prefix}_${ids}`;
  };
  const append = (event: NewEvent): LogEvent => {
    const createdAt = '2026-01-01T00:00:00.000Z';
    const stored = toLogEvent(event, { sessionId: 'ses_1', sequence: log.length + 1, processedAt: null, createdAt });
    log.push(stored);
    return stored;
  };
  const slot = () => ({ id: newId('evt'), turnId });
  const receive = (payload: InboundEvent, status: 'received' | 'queued' | 'processed') =>
    append(buildInbound(slot(), status, payload));
  const position = () => ({ step, index: index++ });
  const place = (call: StepCall) => ({ turnId: turnId ?? '', step, call });

  return {
    log,
    /** a pending prompt */
    message: (content: string, more: Partial<UserMessage> = {}) =>
      append(
        buildInbound({ ...slot(), turnId: null }, 'queued', { type: 'user.message', content: text(content), ...more }),
      ),
    /** opens a turn; a message opens it with itself */
    begin(prompt: TurnPrompt | LogEvent) {
      turnId = newId('trn');
      step = 0;
      const event = 'kind' in prompt ? undefined : prompt;
      if (event !== undefined) event.turnId = turnId;
      append(buildTurnStart(slot(), 'kind' in prompt ? prompt : { kind: 'message', eventId: prompt.id }));
    },
    nextStep() {
      step += 1;
      index = 0;
    },
    say: (content: string) => append(buildMessage(slot(), text(content), position())),
    think: (content: string, signature: ReasoningSignature = {}) =>
      append(buildThinking({ id: newId('evt'), turnId: turnId ?? '' }, content, position(), signature)),
    /** A call without any events yet. */
    plan: (name: string, args = '{}'): StepCall => ({
      useId: newId('evt'),
      index: index++,
      callId: newId('call'),
      name,
      arguments: args,
    }),
    use: (call: StepCall, input: unknown = {}) =>
      append(buildUse(place(call), { toolset: 'file', input, permission: 'allow' })),
    customUse: (call: StepCall, input: unknown = {}) => append(buildCustomUse(place(call), input)),
    clarify: (call: StepCall, question: string) => append(buildClarifyRequest(place(call), question, null)),
    result: (call: StepCall, content: string, more: object = {}) =>
      append(buildResult(place(call), { content, isError: false, durationMs: 1, ...more })),
    customResult: (call: StepCall, content: string, more: Partial<UserCustomToolResult> = {}) =>
      receive(
        { type: 'user.custom_tool_result', tool_use_id: call.useId, content: text(content), ...more },
        'processed',
      ),
    clarifyResult: (call: StepCall, answer: string) =>
      receive({ type: 'user.clarify_result', request_id: call.useId, answer }, 'processed'),
    steer: (message: string) => receive({ type: 'user.steer', message }, 'received'),
    interrupt: (message?: string) =>
      receive({ type: 'user.interrupt', ...(message === undefined ? {} : { message }) }, 'received'),
    end: (interrupted = false) =>
      append(
        buildIdle(slot(), {
          stop_reason: { type: 'end_turn' },
          ...(interrupted ? { interrupted: true as const } : {}),
        }),
      ),
    pause: () => append(buildIdle(slot(), { stop_reason: { type: 'requires_action', event_ids: [] } })),
  };
}
