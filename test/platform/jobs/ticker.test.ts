import { expect, it, onTestFinished } from 'vitest';
import { Ticker } from '../../../src/platform/jobs/ticker.ts';

it('runs from its start until there is nothing to do, and again after the next start', async () => {
  let left = 0;
  let runs = 0;
  const ticker = new Ticker(1, () => {
    runs += 1;
    left -= 1;
    return left > 0;
  });
  onTestFinished(() => ticker.stop());
  left = 2;
  ticker.start();
  ticker.start();
  await expect.poll(() => left).toBe(0);
  expect(runs).toBe(2);
  left = 1;
  ticker.start();
  await expect.poll(() => left).toBe(0);
  expect(runs).toBe(3);
});
