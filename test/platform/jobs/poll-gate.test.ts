import { beforeEach, expect, it } from 'vitest';
import { PollGate } from '../../../src/platform/jobs/poll-gate.ts';

let written: number;
let polls: number;
beforeEach(() => {
  written = 0;
  polls = 0;
});

const HOUR_MS = 3_600_000;
const revision = () => written;
const poll = () => (polls += 1);

it('skips polls until something is written', async () => {
  const gate = new PollGate({ revision, maxSkipMs: HOUR_MS });
  expect(await gate.poll(poll)).toBe(1);
  expect(await gate.poll(poll)).toBeUndefined();
  written += 1;
  expect(await gate.poll(poll)).toBe(2);
  expect(await gate.poll(poll)).toBeUndefined();
});

it('polls again for what is written during a poll', async () => {
  const gate = new PollGate({ revision, maxSkipMs: HOUR_MS });
  await gate.poll(() => (written += 1));
  expect(await gate.poll(poll)).toBe(1);
});

it('polls while something is overdue, and once something may have become due', async () => {
  const due = [-1, 0, HOUR_MS];
  const gate = new PollGate({ revision, maxSkipMs: HOUR_MS, readDueMs: () => Promise.resolve(due.shift() ?? null) });
  for (const expected of [1, 2, 3, undefined]) expect(await gate.poll(poll)).toBe(expected);
});

it('polls again after the longest time, whatever is due', async () => {
  const gate = new PollGate({ revision, maxSkipMs: 0, readDueMs: () => Promise.resolve(null) });
  expect(await gate.poll(poll)).toBe(1);
  expect(await gate.poll(poll)).toBe(2);
});

it('polls again after a failure, of the poll or of the reading of what is due', async () => {
  const answers = [() => Promise.reject(new Error('away')), () => Promise.resolve(null)];
  const readDueMs = () => (answers.shift() ?? (() => Promise.resolve(null)))();
  const gate = new PollGate({ revision, maxSkipMs: HOUR_MS, readDueMs });
  await expect(gate.poll(poll)).rejects.toThrow('away');
  await expect(gate.poll(() => Promise.reject(new Error('lost')))).rejects.toThrow('lost');
  expect(await gate.poll(poll)).toBe(1);
  expect(await gate.poll(poll)).toBeUndefined();
  gate.reset();
  expect(await gate.poll(poll)).toBe(2);
});

it('skips nothing where other processes write', async () => {
  const gate = new PollGate({ revision: undefined, maxSkipMs: HOUR_MS });
  for (const expected of [1, 2, 3]) expect(await gate.poll(poll)).toBe(expected);
});
