import { fc } from '../../support/property.ts';
import { expect, it } from 'vitest';
import { buildCompacted } from '../../../src/agents/log/build-events.ts';
import { findExtent, isInExtent } from '../../../src/agents/log/extent.ts';
import type { LogExtent } from '../../../src/agents/log/extent.ts';
import type { Compaction, LogEvent } from '../../../src/agents/log/event.ts';
import { countCompactions, toLogEvent } from '../../../src/agents/log/read.ts';
import { buildMessages } from '../../../src/agents/loop/compaction/compact.ts';
import { planCompaction } from '../../../src/agents/loop/compaction/plan.ts';
import { openTestLog } from '../loop/log.ts';

const SHOWN = { steerToken: 'token', attachments: new Map(), guidance: 0, spills: {}, startedOn: '2026-01-01' };
const LIMITS = { contextWindow: 8000, scale: 1, tight: false };

type Turn = { prompt: number; calls: number; interrupted: boolean; queuedEarly: boolean; steer: boolean };

/** Compacts a log as the loop does, if possible. Returns the part that prompts need from then on. */
function compact(log: LogEvent[], turnId: string | null): LogExtent | undefined {
  const earlier = log.flatMap((event) =>
    event.type === 'session.compacted' && event.internal !== null ? [event.internal.compaction] : [],
  );
  const plan = planCompaction(buildMessages(log, SHOWN).entries, earlier.at(-1), LIMITS);
  if (plan === undefined) return undefined;
  const { head, tail, prompt } = plan;
  const text = `SUMMARY ${earlier.length}`;
  const compaction: Compaction = { head, tail, prompt, text, summary: text, failedAt: null, saved: 0.5 };
  const extent = findExtent(log, compaction);
  const event = buildCompacted({ turnId }, countCompactions(log) + 1, compaction);
  const at = { sessionId: 'ses_1', sequence: log.length + 1, processedAt: null, createdAt: '2026-01-01T00:00:00.000Z' };
  log.push(toLogEvent(event, at));
  return extent;
}

function playTurns(turns: readonly Turn[]): { log: LogEvent[]; extent: LogExtent | undefined } {
  const test = openTestLog();
  let extent: LogExtent | undefined;
  const queued = turns.map(({ prompt, queuedEarly }, index) =>
    queuedEarly ? test.message(`early ${index} ${'x'.repeat(prompt)}`) : undefined,
  );
  turns.forEach(({ prompt, calls, interrupted, steer }, index) => {
    const opener = queued[index] ?? test.message(`prompt ${index} ${'x'.repeat(prompt)}`);
    test.begin(opener);
    opener.status = 'processed';
    for (let number = 0; number < calls; number += 1) {
      test.nextStep();
      const call = test.plan('read_file');
      test.use(call);
      if (!(interrupted && number === calls - 1)) test.result(call, `result ${index} ${number} ${'y'.repeat(prompt)}`);
    }
    if (steer) test.steer(`steer ${index}`).status = 'processed';
    if (!interrupted) test.nextStep();
    if (!interrupted) test.say(`answer ${index} ${'z'.repeat(prompt)}`);
    if (interrupted) test.interrupt('stop').status = 'processed';
    test.end(interrupted);
    if (index % 3 === 2) extent = compact(test.log, test.log.at(-1)?.turnId ?? null) ?? extent;
  });
  return { log: test.log, extent };
}

const turn = fc.record({
  prompt: fc.integer({ min: 1, max: 4000 }),
  calls: fc.integer({ min: 0, max: 4 }),
  interrupted: fc.boolean(),
  queuedEarly: fc.boolean(),
  steer: fc.boolean(),
});

it('holds all that prompts are made from', () => {
  let trimmed = 0;
  fc.assert(
    fc.property(fc.array(turn, { minLength: 3, maxLength: 20 }), (turns) => {
      const { log, extent } = playTurns(turns);
      expect(extent === undefined).toBe(countCompactions(log) === 0);
      const part = log.filter(({ sequence }) => isInExtent(sequence, extent ?? null));
      trimmed += log.length - part.length;
      expect(buildMessages(part, SHOWN).messages).toEqual(buildMessages(log, SHOWN).messages);
      expect(countCompactions(part)).toBe(countCompactions(log));
    }),
    { numRuns: 200, seed: 12 },
  );
  expect(trimmed).toBeGreaterThan(0);
});

it('keeps the last compaction but one, and pending prompts', () => {
  const test = openTestLog();
  const waiting = test.message('later');
  for (let index = 0; index < 12; index += 1) {
    test.begin(test.message(`prompt ${index} ${'x'.repeat(6000)}`));
    test.nextStep();
    test.say('fine');
    test.end();
    if (index === 5) compact(test.log, null);
  }
  const first = test.log.find(({ type }) => type === 'session.compacted')!;
  const plan = planCompaction(buildMessages(test.log, SHOWN).entries, undefined, LIMITS)!;
  const extent = findExtent(test.log, plan)!;
  expect(extent.also).toEqual([first.sequence]);
  expect(extent.from).toBe(waiting.sequence);
  expect(isInExtent(first.sequence, { ...extent, from: 1000 })).toBe(true);
  expect(isInExtent(first.sequence + 1, { ...extent, head: 0, from: 1000 })).toBe(false);
});

it('is unknown where the log does not hold the ends of the compaction', () => {
  expect(findExtent([], { head: null, tail: 'trn_1', prompt: null })).toBeUndefined();
});
