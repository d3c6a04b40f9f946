import { describe, expect, it } from 'vitest';
import { decideGoal, readVerdict, renderGoalNext, renderGoalStart } from '../../../../src/agents/loop/goal/goal.ts';
import type { Verdict } from '../../../../src/agents/loop/goal/goal.ts';
import { decideControl } from '../../../../src/agents/api/events/goals.ts';
import { readGoalPhrase, startGoal } from '../../../../src/agents/contract/goals.ts';
import type { GoalState } from '../../../../src/agents/contract/goals.ts';

const message = (text: string, more: object = {}) => ({
  type: 'user.message' as const,
  content: [{ type: 'text' as const, text }],
  ...more,
});
const goal = (more: Partial<GoalState> = {}): GoalState => ({ ...startGoal('Ship it.', null), ...more });

describe('readGoalPhrase', () => {
  it.each([
    ['/goal Ship it.', { kind: 'start', objective: 'Ship it.' }],
    ['/goal   Ship it.\nSoon. ', { kind: 'start', objective: 'Ship it.\nSoon.' }],
    ['/goal status', { kind: 'control', action: 'status' }],
    ['/goal pause ', { kind: 'control', action: 'pause' }],
    ['/goal resume', { kind: 'control', action: 'resume' }],
    ['/goal clear', { kind: 'control', action: 'clear' }],
    ['/goal stop', { kind: 'control', action: 'stop' }],
    ['/goal done', { kind: 'control', action: 'done' }],
    ['/goal stop the leak', { kind: 'start', objective: 'stop the leak' }],
    ['/goal', undefined],
    ['/goal  ', undefined],
    ['/goals of the year', undefined],
    [' /goal Ship it.', undefined],
    ['Set a /goal Ship it.', undefined],
  ])('%j', (text, phrase) => {
    expect(readGoalPhrase(message(text))).toEqual(phrase);
  });

  it('is not in a message with attachments or metadata', () => {
    const attachment = { type: 'image', name: 'a.png', mimeType: 'image/png', sizeBytes: 1, dataBase64: 'AA==' };
    expect(readGoalPhrase(message('/goal x', { attachments: [attachment] }) as never)).toBeUndefined();
    expect(readGoalPhrase(message('/goal status', { metadata: { a: 1 } }))).toBeUndefined();
    expect(readGoalPhrase(message('/goal x', { attachments: [], metadata: {} }))).toBeDefined();
  });
});

describe('readVerdict', () => {
  it.each([
    ['{"verdict":"done","reason":"Yes."}', { kind: 'done', reason: 'Yes.' }],
    ['```json\n{"verdict":"continue","reason":""}\n```', { kind: 'continue', reason: '' }],
    [' {"verdict":"blocked","reason":"No key.","extra":1} ', { kind: 'blocked', reason: 'No key.' }],
    ['Sure: {"verdict":"done","reason":"Yes."} Shall I go on?', { kind: 'done', reason: 'Yes.' }],
    ['I looked.\n```\n{"verdict": "continue"}\n```\n', { kind: 'continue', reason: '' }],
    ['{"verdict":"blocked","reason":null}', { kind: 'blocked', reason: '' }],
    ['{"verdict":"done"} or {"verdict":"continue"}', { kind: 'unreadable' }],
    ['"done"', { kind: 'unreadable' }],
    ['} done {', { kind: 'unreadable' }],
    ['{"verdict":"maybe","reason":"Yes."}', { kind: 'unreadable' }],
    ['{"done":true}', { kind: 'unreadable' }],
    ['', { kind: 'unreadable' }],
  ])('%j', (text, verdict) => {
    expect(readVerdict(text)).toEqual(verdict);
  });
});

describe('decideGoal', () => {
  const after = (before: Partial<GoalState>, verdict: Verdict) => decideGoal(goal(before), verdict);
  const more: Verdict = { kind: 'continue', reason: 'More.' };

  it('counts every turn and continues within the budget', () => {
    expect(after({ turnsUsed: 18 }, more)).toMatchObject({
      continues: true,
      goal: { status: 'active', turnsUsed: 19, reason: 'More.' },
    });
    expect(after({ turnsUsed: 19 }, more)).toMatchObject({
      continues: false,
      goal: { status: 'paused', turnsUsed: 20 },
    });
    expect(after({ turnsUsed: 19 }, { kind: 'done', reason: '' })).toMatchObject({ goal: { status: 'done' } });
  });

  it('counts failures and unreadable verdicts in a row only', () => {
    expect(after({ unreadable: 1 }, { kind: 'unreadable' })).toMatchObject({
      continues: true,
      goal: { unreadable: 2 },
    });
    expect(after({ unreadable: 2 }, { kind: 'unreadable' })).toMatchObject({ goal: { status: 'paused' } });
    expect(after({ unreadable: 2 }, { kind: 'failed' })).toMatchObject({ continues: true, goal: { unreadable: 0 } });
    expect(after({ failures: 3 }, { kind: 'failed' })).toMatchObject({ continues: true, goal: { failures: 4 } });
    expect(after({ failures: 4 }, { kind: 'failed' })).toMatchObject({ goal: { status: 'paused' } });
    expect(after({ failures: 4, unreadable: 2 }, more)).toMatchObject({ goal: { failures: 0, unreadable: 0 } });
  });

  it('says why it pauses', () => {
    expect(after({}, { kind: 'blocked', reason: 'No key' })).toMatchObject({
      message: 'The goal is paused: No key. /goal resume goes on with it.',
      goal: { status: 'paused', reason: 'No key.' },
    });
    expect(after({}, { kind: 'broken', reason: 'The provider failed.' }).goal.reason).toContain('The provider failed.');
  });
});

describe('decideControl', () => {
  it('changes the revision with whatever a caller changes, and with nothing else', () => {
    const paused = decideControl('pause', goal()).goal;
    expect(paused).toMatchObject({ status: 'paused', revision: 2 });
    expect(decideControl('status', goal()).goal).toBeUndefined();
    expect(decideControl('pause', paused!).goal).toBeUndefined();
    expect(startGoal('Another.', paused!)).toMatchObject({ objective: 'Another.', revision: 3, turnsUsed: 0 });
  });

  it('gives a resumed goal its whole budget back', () => {
    const spent = goal({ status: 'paused', turnsUsed: 20, failures: 5, unreadable: 3 });
    expect(decideControl('resume', spent).goal).toMatchObject({
      status: 'active',
      turnsUsed: 0,
      failures: 0,
      unreadable: 0,
    });
  });
});

it('sends the objective and the missing part to the model', () => {
  expect(renderGoalStart('/goal Ship it.')).toMatch(/^Ship it\.\n/);
  expect(renderGoalNext({ objective: 'Ship it.', reason: 'No tests.' })).toMatch(
    /Ship it\.\n\nWhat is missing: No tests/,
  );
  expect(renderGoalNext({ objective: '😀'.repeat(5000), reason: null }).isWellFormed()).toBe(true);
});
