import { describe, expect, test } from 'vitest';
import { decideSend } from '../../../../src/agents/api/events/decide-send.ts';
import type { SendPlan, SessionState } from '../../../../src/agents/api/events/send-plan.ts';
import { EventsSend } from '../../../../src/agents/contract/events.ts';
import { ApiError } from '../../../../src/platform/errors.ts';
import { newId } from '../../../../src/platform/ids.ts';
import type { StoredAction } from '../../../../src/agents/store/pending-actions.ts';
import { prompt, toolResult } from './harness.ts';

const IDLE: SessionState = { status: 'idle', liveTurn: null, queuedCount: 0, goal: null };
const RUNNING: SessionState = { status: 'running', liveTurn: 'trn_1', queuedCount: 0, goal: null };
const WAITING: SessionState = { status: 'waiting_on_human', liveTurn: 'trn_1', queuedCount: 0, goal: null };
const ARCHIVED: SessionState = { status: 'archived', liveTurn: null, queuedCount: 0, goal: null };

function buildAction(id: string, type: StoredAction['type'], more: Partial<StoredAction> = {}): StoredAction {
  return {
    id,
    turnId: 'trn_1',
    type,
    toolUseId: `use_${id}`,
    toolName: 'deploy',
    state: 'pending',
    answer: null,
    answerEventId: null,
    kickoff: false,
    finalEventId: null,
    deadline: null,
    ...more,
  };
}

const custom = (more: Partial<StoredAction> = {}) => buildAction('c', 'agent.custom_tool_use', more);
const answered = (status: 'running' | 'completed' | null, more: Partial<StoredAction> = {}) =>
  custom({
    state: 'answered',
    answer: { content: [], status, is_error: false },
    answerEventId: 'evt_answer',
    kickoff: status === 'running',
    ...more,
  });
const approval = buildAction('a', 'agent.approval_request');
const clarify = buildAction('q', 'agent.clarify_request');

const steer = { type: 'user.steer', message: 'left' };
const interrupt = { type: 'user.interrupt', message: 'stop' };
const allow = { type: 'user.approval_response', approval_id: 'a', result: 'allow' };
const answer = { type: 'user.clarify_result', request_id: 'q', answer: '' };

function decide(session: SessionState, actions: StoredAction[], events: object[], delivery = 'immediate'): SendPlan {
  return decideSend(session, actions, EventsSend.parse({ events, delivery }), newId);
}

function refusal(session: SessionState, actions: StoredAction[], events: object[]): string {
  try {
    decide(session, actions, events);
    return 'accepted';
  } catch (error) {
    return error instanceof ApiError ? error.code : String(error);
  }
}

const seen = (plan: SendPlan) => plan.events.map((event) => `${event.payload.type} ${event.status}`);

describe('refusals', () => {
  const late = custom({ state: 'expired' });
  test.for<[string, SessionState, StoredAction[], object[], string]>([
    ['a prompt to an archived session', ARCHIVED, [], [prompt('x')], 'invalid_state'],
    [
      'an answer to an action of an archived session',
      ARCHIVED,
      [{ ...approval, state: 'cancelled' }],
      [allow],
      'response_expired',
    ],
    ['an answer to nothing in an archived session', ARCHIVED, [], [allow], 'invalid_state'],
    [
      'a final result in an archived session',
      ARCHIVED,
      [late],
      [toolResult('c', 'x', 'completed')],
      'response_expired',
    ],
    ['prompt and control while a turn runs', RUNNING, [], [prompt('x'), steer], 'invalid_state'],
    ['prompt and answer while a turn waits', WAITING, [approval], [prompt('x'), allow], 'invalid_state'],
    ['a steer without a turn', IDLE, [], [steer], 'no_active_turn'],
    ['an interrupt without a turn', IDLE, [], [interrupt], 'no_active_turn'],
    ['a steer beside the prompt that would start a turn', IDLE, [], [prompt('x'), steer], 'no_active_turn'],
    ['an unknown action', WAITING, [approval], [answer], 'not_found'],
    ['an action of another type', WAITING, [approval], [{ ...answer, request_id: 'a' }], 'not_found'],
    ['an approval answered before', WAITING, [{ ...approval, state: 'answered' }], [allow], 'response_expired'],
    [
      'a clarification whose turn was interrupted',
      IDLE,
      [{ ...clarify, state: 'cancelled' }],
      [answer],
      'response_expired',
    ],
    ['two answers to one action in one request', WAITING, [approval], [allow, allow], 'response_expired'],
    ['a result without status after the window', RUNNING, [late], [toolResult('c', 'x')], 'response_expired'],
    ['a start after the window', RUNNING, [late], [toolResult('c', 'x', 'running')], 'response_expired'],
    ['a second start', RUNNING, [answered('running')], [toolResult('c', 'x', 'running')], 'response_expired'],
    [
      'a final result after an immediate one',
      RUNNING,
      [answered(null)],
      [toolResult('c', 'x', 'completed')],
      'response_expired',
    ],
  ])('%s', ([, session, actions, events, code]) => {
    expect(refusal(session, actions, events)).toBe(code);
  });
});

describe('prompts', () => {
  test('start a turn in an idle session, whatever the delivery', () => {
    for (const delivery of ['immediate', 'when_idle']) {
      const plan = decide(IDLE, [], [prompt('x')], delivery);
      expect(seen(plan)).toEqual(['user.message received', 'session.status_running complete']);
      const [message, running] = plan.events;
      expect(running?.internal).toEqual({ prompt: { kind: 'message', eventId: message?.id } });
      expect(message?.turnId).toMatch(/^trn_/);
      expect(plan).toMatchObject({
        status: 200,
        points: 1,
        session: { status: 'running', liveTurn: message?.turnId, wakeAt: 'now' },
        turn: { id: message?.turnId, state: 'running' },
        queued: [],
      });
    }
  });

  test.each([
    ['while a turn runs', RUNNING, false],
    ['while a turn waits', WAITING, false],
    ['behind others in an idle session', { ...IDLE, queuedCount: 1 }, true],
  ])('are queued %s', (_name, session, wake) => {
    const plan = decide(session, [], [prompt('x')]);
    expect(seen(plan)).toEqual(['user.message queued']);
    expect(plan).toMatchObject({ status: 202, points: 1, session: undefined, turn: undefined, wake });
    expect(plan.queued).toEqual([{ kind: 'message', eventId: plan.events[0]?.id }]);
    expect(plan.events[0]?.turnId).toBeNull();
  });
});

describe('controls', () => {
  test('go to the live turn', () => {
    const plan = decide(RUNNING, [], [steer, interrupt, steer]);
    expect(plan.events).toHaveLength(3);
    for (const event of plan.events) expect(event).toMatchObject({ turnId: 'trn_1', status: 'received' });
    expect(plan.controls).toEqual(['steer', 'interrupt']);
    expect(plan.interrupt).toEqual({ eventId: plan.events[1]?.id, message: 'stop' });
    expect(plan).toMatchObject({ points: 3, wake: false });
  });

  test('an interrupt of a turn that waits calls a worker, a steer does not', () => {
    expect(decide(WAITING, [], [interrupt]).wake).toBe(true);
    expect(decide(WAITING, [], [steer]).wake).toBe(false);
  });
});

describe('answers', () => {
  test('the last one resumes the turn', () => {
    const plan = decide(WAITING, [approval, clarify], [allow, answer]);
    expect(seen(plan)).toEqual([
      'user.approval_response processed',
      'user.clarify_result processed',
      'session.status_running complete',
    ]);
    expect(plan.events[2]).toMatchObject({ turnId: 'trn_1', internal: { resume: true } });
    expect(plan).toMatchObject({ session: { status: 'running', wakeAt: 'now' }, resumed: 'trn_1', points: 2 });
    expect(plan.turn).toBeUndefined();
    expect(plan.answered.map((entry) => entry.answer)).toEqual([{ result: 'allow', scope: 'once' }, { answer: '' }]);
  });

  test('fewer than all report the remainder', () => {
    const plan = decide(WAITING, [approval, clarify, custom()], [answer]);
    expect(plan.events.at(-1)?.payload).toEqual({
      type: 'session.status_idle',
      stop_reason: { type: 'requires_action', event_ids: ['a', 'c'] },
    });
    expect(plan).toMatchObject({ session: undefined, resumed: null });
  });

  test('the scope of an approval counts for allow only', () => {
    const scoped = (result: string, scope: string) =>
      decide(WAITING, [approval], [{ ...allow, result, scope }]).approvals;
    expect(scoped('allow', 'once')).toEqual({ session: [], always: [] });
    expect(scoped('allow', 'session')).toEqual({ session: ['deploy'], always: [] });
    expect(scoped('allow', 'always')).toEqual({ session: [], always: ['deploy'] });
    expect(scoped('deny', 'always')).toEqual({ session: [], always: [] });
  });

  test.each([
    [undefined, { status: null, is_error: false }, false],
    ['running', { status: 'running', is_error: false }, true],
    ['completed', { status: 'completed', is_error: false }, false],
    ['failed', { status: 'failed', is_error: true }, false],
  ])('a custom tool result with status %s resolves a call that waits', (status, expected, kickoff) => {
    const plan = decide(WAITING, [custom()], [toolResult('c', 'x', status)]);
    expect(plan.answered).toMatchObject([{ id: 'c', answer: expected, kickoff }]);
    expect(plan).toMatchObject({ resumed: 'trn_1', queued: [], finals: [], turn: undefined });
  });
});

describe('final results of custom tools', () => {
  const final = toolResult('c', 'done', 'failed');
  const opener = { kind: 'tool_final', toolUseId: 'use_c', toolName: 'deploy', isError: true };

  test('replace the start they follow and open a turn', () => {
    const plan = decide(IDLE, [answered('running')], [final]);
    expect(seen(plan)).toEqual(['session.status_running complete']);
    expect(plan.events[0]?.internal).toMatchObject({
      prompt: { ...opener, eventId: null, content: [{ text: 'done' }] },
    });
    expect(plan.patches).toEqual([{ toolUseId: 'use_c', eventId: 'evt_answer', payload: final }]);
    expect(plan).toMatchObject({
      answer: ['evt_answer'],
      finals: [{ id: 'c', eventId: 'evt_answer' }],
      points: 1,
      status: 200,
    });
  });

  test('are queued while a turn is live, and answered with 200', () => {
    const plan = decide(RUNNING, [answered('running')], [final]);
    expect(plan).toMatchObject({ events: [], status: 200, points: 1, queued: [opener] });
  });

  test.each(['expired', 'cancelled'] as const)('stand alone when the call has %s', (state) => {
    const plan = decide(IDLE, [custom({ state })], [final]);
    expect(seen(plan)).toEqual(['user.custom_tool_result received', 'session.status_running complete']);
    const [event] = plan.events;
    expect(plan.finals).toEqual([{ id: 'c', eventId: event?.id }]);
    expect(plan.events[1]?.internal).toMatchObject({ prompt: { ...opener, eventId: event?.id } });
    expect(event?.turnId).toBe(plan.turn?.id);
    const queued = decide(RUNNING, [custom({ state })], [final]);
    expect(seen(queued)).toEqual(['user.custom_tool_result queued']);
    expect(queued).toMatchObject({ status: 200, queued: [{ ...opener, eventId: queued.events[0]?.id }] });
  });

  test.each([
    ['as the answer', answered('completed'), 'evt_answer'],
    ['after a start', answered('running', { finalEventId: 'evt_final' }), 'evt_final'],
    ['after the window', custom({ state: 'expired', finalEventId: 'evt_late' }), 'evt_late'],
  ])('taken before %s are answered again without effect', (_name, action, eventId) => {
    const plan = decide(IDLE, [action], [final]);
    expect(plan).toMatchObject({ events: [], answer: [eventId], points: 0, finals: [], patches: [], queued: [] });
  });

  test('go behind the prompt they come with', () => {
    const plan = decide(IDLE, [custom({ state: 'expired' })], [final, prompt('x')]);
    expect(seen(plan)).toEqual([
      'user.custom_tool_result queued',
      'user.message received',
      'session.status_running complete',
    ]);
    expect(plan.events[2]?.internal).toMatchObject({ prompt: { kind: 'message' } });
    expect(plan).toMatchObject({ status: 200, queued: [opener], points: 2 });
  });
});
