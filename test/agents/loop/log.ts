import type { LogEvent, TurnPrompt } from '../../../src/agents/contract/journal.ts';
import type { StepCall } from '../../../src/agents/log/read.ts';
import {
  buildClarifyRequest,
  buildCustomUse,
  buildResult,
  buildUse,
} from '../../../src/agents/loop/tool-calls/call-events.ts';
import type { NewEvent } from '../../../src/agents/contract/journal.ts';

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
    const stored: LogEvent = {
      id: event.id,
      type: event.payload.type,
      sessionId: 'ses_1',
      sequence: log.length + 1,
      turnId: event.turnId,
      status: event.status,
      payload: event.payload,
      processedAt: null,
      createdAt: '2026-01-01T00:00:00.000Z',
      internal: event.internal ?? null,
    };
    log.push(stored);
    return stored;
  };
  const add = (payload: NewEvent['payload'], more: Partial<NewEvent> = {}) =>
    append({ id: newId('evt'), turnId, status: 'complete', payload, ...more });
  const place = (call: StepCall) => ({ turnId: turnId ?? '', step, call });

  return {
    log,
    /** a prompt that is not taken up yet */
    message: (content: string, more: object = {}) =>
      add({ type: 'user.message', content: text(content), ...more }, { turnId: null, status: 'queued' }),
    /** opens a turn; a message opens it with itself */
    begin(prompt: TurnPrompt | LogEvent) {
      turnId = newId('trn');
      step = 0;
      const event = 'kind' in prompt ? undefined : prompt;
      if (event !== undefined) event.turnId = turnId;
      const opener = event === undefined ? prompt : { kind: 'message', eventId: event.id };
      add({ type: 'session.status_running' }, { internal: { prompt: opener } });
    },
    nextStep() {
      step += 1;
      index = 0;
    },
    say: (content: string) =>
      add({ type: 'agent.message', delta: false, content: text(content) }, { internal: { step, index: index++ } }),
    think: (content: string, proof?: object) =>
      add(
        { type: 'agent.thinking', delta: false, content: text(content) },
        { internal: { step, index: index++, ...(proof === undefined ? {} : { proof }) } },
      ),
    /** A call that nothing has been written about yet. */
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
    customResult: (call: StepCall, content: string, more: object = {}) =>
      add({ type: 'user.custom_tool_result', tool_use_id: call.useId, content: text(content), ...more }),
    clarifyResult: (call: StepCall, answer: string) =>
      add({ type: 'user.clarify_result', request_id: call.useId, answer }),
    steer: (message: string) => add({ type: 'user.steer', message }, { status: 'received' }),
    interrupt: (message?: string) => add({ type: 'user.interrupt', message }, { status: 'received' }),
    end: (interrupted = false) =>
      add({
        type: 'session.status_idle',
        stop_reason: { type: 'end_turn' },
        ...(interrupted ? { interrupted: true } : {}),
      }),
    pause: () => add({ type: 'session.status_idle', stop_reason: { type: 'requires_action', event_ids: [] } }),
  };
}
