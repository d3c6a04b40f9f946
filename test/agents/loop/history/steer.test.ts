import { fc } from '../../../support/property.ts';
import { describe, expect, it } from 'vitest';
import { findLateSteers } from '../../../../src/agents/log/turns.ts';
import { buildHistory } from '../../../../src/agents/loop/history/build.ts';
import type { StepCall } from '../../../../src/agents/log/event.ts';
import type { ModelMessage } from '../../../../src/inference/model.ts';
import type { LogEvent } from '../../../../src/agents/log/event.ts';
import { openTestLog } from '../log.ts';

const readMessages = (log: readonly LogEvent[]) => buildHistory(log, MARK).map(({ message }) => message);
const MARK = 'm4rk';

function textOf(message: ModelMessage | undefined): string {
  return JSON.stringify(message);
}

/** A turn that calls a tool and replies; the events of `during` arrive during the call. */
function writeTurn(log: ReturnType<typeof openTestLog>, during = () => {}, after = () => {}): void {
  log.begin(log.message('Go.'));
  log.nextStep();
  const call = log.plan('terminal');
  log.use(call);
  during();
  log.result(call, 'result');
  log.nextStep();
  log.say('Done.');
  after();
}

describe('guidance', () => {
  it('that came while a tool ran stands behind its result', () => {
    const log = openTestLog();
    writeTurn(log, () => {
      log.steer('left');
      log.steer('slow');
    });
    log.end();
    expect(readMessages(log.log)[2]).toMatchObject({
      results: [
        {
          content: [{ text: 'result' }, { text: '\n<user-guidance m4rk>\nleft\nslow\n</user-guidance m4rk>' }],
        },
      ],
    });
    expect(findLateSteers(log.log)).toBeUndefined();
  });

  it('that came after the last result opens a turn, as its own message', () => {
    const log = openTestLog();
    let id = '';
    writeTurn(log, undefined, () => (id = log.steer('left').id));
    log.end();
    expect(findLateSteers(log.log)).toEqual({ text: 'left', eventId: id });
    log.begin({ kind: 'steer', text: 'left', eventId: id });
    expect(readMessages(log.log).at(-1)).toEqual({ role: 'user', content: [{ type: 'text', text: 'left' }] });
  });

  it('that came too late is sent with the prompt of the next turn', () => {
    const log = openTestLog();
    writeTurn(log, undefined, () => log.steer('left'));
    log.end();
    log.begin(log.message('Next.'));
    expect(textOf(readMessages(log.log).at(-1))).toMatch(/too late.*left.*Next\./);
    log.end();
    log.begin(log.message('And then.'));
    expect(textOf(readMessages(log.log).at(-1))).not.toContain('left');
  });

  it('of an interrupted turn opens no turn, and is sent after the interruption', () => {
    const log = openTestLog();
    writeTurn(log, undefined, () => {
      log.steer('left');
      log.interrupt('Stop.');
    });
    log.end(true);
    expect(findLateSteers(log.log)).toBeUndefined();
    log.begin(log.message('Next.'));
    expect(textOf(readMessages(log.log).at(-1))).toMatch(/interrupted.*Stop\..*left.*Next\./);
  });
});

describe('an interruption', () => {
  it.each([
    ['Stop.', 'interrupted by the user, who said: Stop.]'],
    [undefined, 'interrupted by the user]'],
  ])('with the reason %s is told with the next prompt, whatever it is', (reason, note) => {
    for (const open of ['message', 'steer', 'notice'] as const) {
      const log = openTestLog();
      writeTurn(log, undefined, () => log.interrupt(reason));
      log.end(true);
      if (open === 'message') log.begin(log.message('Next.'));
      else log.begin({ kind: open, text: 'Next.', eventId: null } as { kind: 'notice'; text: string; eventId: null });
      expect(textOf(readMessages(log.log).at(-1))).toContain(note);
    }
  });

  it('that came when the turn was over already is not told', () => {
    const log = openTestLog();
    writeTurn(log, undefined, () => log.interrupt('Stop.'));
    log.end();
    log.begin(log.message('Next.'));
    expect(textOf(readMessages(log.log).at(-1))).not.toContain('Stop.');
  });
});

const callSpec = fc.record({
  kind: fc.constantFrom('use', 'custom', 'clarify', 'unwritten'),
  answered: fc.boolean(),
  order: fc.nat({ max: 9 }),
});
const stepSpec = fc.record({
  thinks: fc.boolean(),
  says: fc.boolean(),
  calls: fc.array(callSpec, { maxLength: 4 }),
  steers: fc.nat({ max: 2 }),
});
const turnSpec = fc.record({
  prompt: fc.constantFrom('message', 'notice'),
  steps: fc.array(stepSpec, { maxLength: 4 }),
  end: fc.constantFrom('open', 'idle', 'interrupted'),
});

type TurnSpec = {
  prompt: string;
  steps: { thinks: boolean; says: boolean; steers: number; calls: CallSpec[] }[];
  end: string;
};
type CallSpec = { kind: string; answered: boolean; order: number };

function writeLog(turns: readonly TurnSpec[]) {
  const log = openTestLog();
  let steers = 0;
  for (const turn of turns) {
    if (turn.prompt === 'message') log.begin(log.message('Go.'));
    else log.begin({ kind: 'notice', text: 'News.', eventId: null });
    for (const step of turn.steps) {
      log.nextStep();
      if (step.thinks) log.think('Hm.');
      if (step.says) log.say('So.');
      const calls = step.calls.map((spec) => ({ ...spec, call: log.plan('tool') }));
      for (const { kind, call } of calls) writeCall(log, kind, call);
      for (let count = 0; count < step.steers; count += 1) log.steer(`guidance-${(steers += 1)}.`);
      const answered = calls.filter((spec) => spec.answered).sort((left, right) => left.order - right.order);
      for (const { kind, call } of answered) writeAnswer(log, kind, call);
    }
    if (turn.end !== 'open') log.end(turn.end === 'interrupted');
  }
  return { log: log.log, steers };
}

function writeCall(log: ReturnType<typeof openTestLog>, kind: string, call: StepCall): void {
  if (kind === 'use') log.use(call);
  if (kind === 'custom') log.customUse(call);
  if (kind === 'clarify') log.clarify(call, 'Why?');
}

function writeAnswer(log: ReturnType<typeof openTestLog>, kind: string, call: StepCall): void {
  if (kind === 'use') log.result(call, 'ok');
  if (kind === 'custom') log.customResult(call, 'ok');
  if (kind === 'clarify') log.clarifyResult(call, 'ok');
}

it('for any log: each call is followed by exactly its result, and nothing is repeated', () => {
  fc.assert(
    fc.property(fc.array(turnSpec, { minLength: 1, maxLength: 4 }), (turns) => {
      const { log, steers } = writeLog(turns);
      const history = readMessages(log);
      expect(history[0]?.role).toBe('user');
      history.forEach((message, index) => {
        const calls =
          message.role === 'assistant'
            ? message.content.flatMap((part) => (part.type === 'tool_call' ? [part.id] : []))
            : [];
        const next = history[index + 1];
        expect(next?.role === 'tool' ? next.results.map(({ callId }) => callId) : []).toEqual(calls);
        expect((message.role === 'tool' ? message.results : message.content).length).toBeGreaterThan(0);
      });
      const told = textOf(history as unknown as ModelMessage);
      for (let number = 1; number <= steers; number += 1) {
        expect(told.split(`guidance-${number}.`).length).toBeLessThanOrEqual(2);
      }
    }),
    { numRuns: 300 },
  );
});
