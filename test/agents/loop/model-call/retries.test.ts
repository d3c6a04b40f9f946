import { expect, it } from 'vitest';
import { buildModelStop, decidePause, isTransient } from '../../../../src/agents/loop/model-call/retries.ts';
import { ModelError } from '../../../../src/inference/model.ts';
import { buildUpstreamError } from '../../../../src/inference/upstream-error.ts';

it.each([408, 409, 425, 429, 500, 502, 503, 504, 522, 529])('a status of %i is worth another try', (status) => {
  expect(isTransient(buildUpstreamError({}, {}, { status }))).toBe(true);
});

it.each([400, 401, 402, 403, 404, 413, 422])('a status of %i is not', (status) => {
  expect(isTransient(buildUpstreamError({}, {}, { status }))).toBe(false);
});

it.each([
  [429, 'upstream_rate_limited', true],
  [529, 'upstream_overloaded', true],
  [500, 'upstream_unavailable', true],
  [409, 'upstream_unavailable', true],
  [400, 'upstream_rejected', false],
  [401, 'upstream_authentication', false],
])('a status of %i ends a turn with %s', (status, code, retryable) => {
  expect(buildModelStop(buildUpstreamError({}, {}, { status }))).toMatchObject({ type: 'error', code, retryable });
});

it('waits longer after each failure, at most half a minute', () => {
  const error = new ModelError('unavailable', 'busy');
  const pauses = [1, 2, 3, 6, 7, 50].map((attempt) => decidePause(error, { attempt, leftMs: 600_000, random: 1 }));
  expect(pauses).toEqual([500, 1000, 2000, 16_000, 30_000, 30_000]);
  expect(decidePause(error, { attempt: 50, leftMs: 600_000, random: 0.5 })).toBe(15_000);
});

it('waits as long as the provider asks for, unless that is more than the time left', () => {
  const error = new ModelError('rate_limited', 'slow down', { retryAfterMs: 60_000 });
  expect(decidePause(error, { attempt: 1, leftMs: 600_000, random: 1 })).toBe(60_500);
  expect(decidePause(error, { attempt: 1, leftMs: 60_000, random: 1 })).toBe(60_000);
  expect(decidePause(error, { attempt: 1, leftMs: 59_999, random: 1 })).toBeUndefined();
});

it('ends when the time is over', () => {
  const error = new ModelError('upstream', 'broken');
  expect(decidePause(error, { attempt: 9, leftMs: 100, random: 1 })).toBe(100);
  expect(decidePause(error, { attempt: 9, leftMs: 0, random: 1 })).toBeUndefined();
});

it.each([0.1, 0.5, 1])(
  'a provider that is down for ten minutes is asked once more at their end, with jitter %d',
  (random) => {
    const error = new ModelError('unavailable', 'busy');
    let now = 0;
    for (let attempt = 1; ; attempt += 1) {
      const pause = decidePause(error, { attempt, leftMs: 600_000 - now, random });
      if (pause === undefined) break;
      now += pause;
    }
    expect(now).toBe(600_000);
  },
);
