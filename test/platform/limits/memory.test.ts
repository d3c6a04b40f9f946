import { afterEach, beforeEach, expect, it, vi } from 'vitest';

import { openMemoryLimits } from '../../../src/platform/limits/memory.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

it('forgets windows that have ended, so that memory stays bounded', async () => {
  const limits = openMemoryLimits();
  for (let n = 0; n < 100; n += 1) await limits.take(`key${n}`, 1, 1, n < 90 ? 1_000 : 600_000);
  expect(limits.size).toBe(100);
  vi.advanceTimersByTime(60_000);
  expect(limits.size).toBe(10);
  await limits.close();
});
