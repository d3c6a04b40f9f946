import { expect, it } from 'vitest';
import { WarmLogs } from '../../../src/agents/worker/warm-logs.ts';
import { openTestLog } from '../loop/log.ts';

function buildLog(text = 'hello') {
  const test = openTestLog();
  test.begin(test.message(text));
  test.nextStep();
  test.say('hi');
  test.end();
  return test.log;
}

const claim = (epoch: number, sessionId = 'ses_1') => ({ sessionId, epoch, extent: null });

it('gives back the log to the next claim of the session, once', () => {
  const logs = new WarmLogs();
  const log = buildLog();
  logs.keep(claim(1), log, 7);
  expect(logs.take(claim(2))).toEqual({ events: log, last: 7 });
  expect(logs.take(claim(2))).toBeUndefined();
});

it('gives back nothing once another worker has claimed the session', () => {
  const logs = new WarmLogs();
  logs.keep(claim(1), buildLog(), 4);
  expect(logs.take(claim(3))).toBeUndefined();
});

it('omits compacted messages', () => {
  const logs = new WarmLogs();
  const log = buildLog();
  logs.keep(claim(1), log, 4);
  const taken = logs.take({ ...claim(2), extent: { head: 1, from: 4, also: [] } });
  expect(taken?.events.map(({ sequence }) => sequence)).toEqual([1, 4]);
});

it('keeps no log in which the store may replace a payload', () => {
  const logs = new WarmLogs();
  const test = openTestLog();
  test.begin(test.message('start the job'));
  test.nextStep();
  const call = test.plan('job');
  test.customUse(call);
  test.customResult(call, 'started', { status: 'running' });
  test.end();
  logs.keep(claim(1), test.log, 5);
  expect(logs.take(claim(2))).toBeUndefined();
});

it('drops the least recently used logs beyond its size', () => {
  const logs = new WarmLogs(5000);
  for (const name of ['a', 'b', 'c']) logs.keep(claim(1, name), buildLog('x'.repeat(1000)), 4);
  expect(logs.take(claim(2, 'a'))).toBeUndefined();
  expect(logs.take(claim(2, 'c'))).toBeDefined();
  logs.keep(claim(1, 'huge'), buildLog('x'.repeat(10_000)), 4);
  expect(logs.take(claim(2, 'huge'))).toBeUndefined();
  expect(logs.take(claim(2, 'b'))).toBeDefined();
});
