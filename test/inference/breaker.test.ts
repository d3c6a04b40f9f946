import { expect, it } from 'vitest';
import { orderByKey } from '../../src/inference/affinity.ts';
import { DEFAULT_BREAKER, buildBreaker } from '../../src/inference/breaker.ts';

it('the circuit of an upstream opens if most calls fail, with one trial call per period', () => {
  let now = 0;
  const breaker = buildBreaker({ ...DEFAULT_BREAKER, minCalls: 5, openMs: 1000, now: () => now });
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

it('refusals do not count, and an upstream that mostly answers stays in use', () => {
  const breaker = buildBreaker({ ...DEFAULT_BREAKER, minCalls: 4, now: () => 0 });
  for (const fault of ['rate_limited', 'invalid_request', 'authentication', 'context_overflow'] as const)
    breaker.fail('a', fault);
  for (let count = 0; count < 5; count += 1) {
    breaker.succeed('a');
    breaker.succeed('a');
    breaker.fail('a', 'timeout');
  }
  expect(breaker.allows('a')).toBe(true);
});

it('failures older than the window are forgotten', () => {
  let now = 0;
  const breaker = buildBreaker({ ...DEFAULT_BREAKER, windowMs: 1000, minCalls: 3, now: () => now });
  breaker.fail('a', 'upstream');
  breaker.fail('a', 'upstream');
  now = 1500;
  breaker.fail('a', 'upstream');
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
