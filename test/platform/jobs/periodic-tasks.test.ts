import { pino } from 'pino';
import { expect, it } from 'vitest';
import { startPeriodicTasks } from '../../../src/platform/jobs/periodic-tasks.ts';

const lines: string[] = [];
const log = pino({ base: null }, { write: (line: string) => void lines.push(line) });

it('runs a task again and again, also after a failure, until it is closed', async () => {
  let runs = 0;
  const run = () => {
    runs += 1;
    if (runs === 1) throw new Error('away');
  };
  const tasks = startPeriodicTasks([{ name: 'poll', periodMs: 1, run }], log);
  await expect.poll(() => runs).toBeGreaterThan(2);
  await tasks.close();
  const last = runs;
  expect(lines.map((line) => JSON.parse(line) as unknown)).toMatchObject([{ msg: 'could not poll', error: 'away' }]);
  expect(runs).toBe(last);
});

it('runs at once when it is to begin now or when there is more to do', async () => {
  let runs = 0;
  const run = () => (runs += 1) < 3;
  const tasks = startPeriodicTasks([{ name: 'poll', periodMs: 3_600_000, immediately: true, run }], log);
  await expect.poll(() => runs).toBe(3);
  await tasks.close();
});

it('close waits for the run in progress', async () => {
  const work = Promise.withResolvers<void>();
  let ended = false;
  const run = async () => {
    await work.promise;
    ended = true;
  };
  const tasks = startPeriodicTasks([{ name: 'poll', periodMs: 1, immediately: true, run }], log);
  const closing = tasks.close();
  work.resolve();
  await closing;
  expect(ended).toBe(true);
});
