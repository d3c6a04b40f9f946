import { expect, it } from 'vitest';
import { orderByKey } from '../../src/inference/affinity.ts';
import { buildBreaker } from '../../src/inference/breaker.ts';

it('an upstream that fails five times in a row is left alone, but for one try a period', () => {
  let now = 0;
  const breaker = buildBreaker({ failures: 5, openMs: 1000, now: () => now });
  for (let count = 0; count < 5; count += 1) {
    expect(breaker.allows('a')).toBe(true);
    breaker.fail('a', 'upstream');
  }
  expect([breaker.allows('a'), breaker.allows('b')]).toEqual([false, true]);
  expect(breaker.retryAfterMs(['a'])).toBe(1000);
  now = 1000;
  expect([breaker.allows('a'), breaker.allows('a')]).toEqual([true, false]);
  breaker.succeed('a');
  expect([breaker.allows('a'), breaker.allows('a')]).toEqual([true, true]);
});

it('refusals and successes between failures keep an upstream in use', () => {
  const breaker = buildBreaker({ failures: 2, openMs: 1000, now: () => 0 });
  for (const fault of ['rate_limited', 'invalid_request', 'authentication', 'context_overflow'] as const)
    breaker.fail('a', fault);
  breaker.fail('a', 'timeout');
  breaker.succeed('a');
  breaker.fail('a', 'timeout');
  expect(breaker.allows('a')).toBe(true);
});

it('a key keeps its order of upstreams, keys are spread, and a lost upstream moves its own keys only', () => {
  const upstreams = ['a', 'b', 'c'].map((name) => ({ name }));
  const keys = Array.from({ length: 300 }, (_, index) => `key-${index}`);
  const firstOf = (key: string, from = upstreams) => orderByKey(key, from)[0]?.name;
  for (const name of ['a', 'b', 'c']) expect(keys.filter((key) => firstOf(key) === name).length).toBeGreaterThan(50);
  const left = upstreams.filter(({ name }) => name !== 'c');
  for (const key of keys.filter((each) => firstOf(each) !== 'c')) expect(firstOf(key, left)).toBe(firstOf(key));
});
