import { expect, test } from 'vitest';
import { countFailure, decideDelay } from '../../operator/pod/failures.ts';
import { buildConditions } from '../../operator/runtime/conditions.ts';
import { buildExpectations } from '../../operator/runtime/expectations.ts';
import { startQueue } from '../../operator/runtime/queue.ts';
import type { Outcome } from '../../operator/runtime/queue.ts';
import type { ResourceMeta } from '../../src/platform/kubernetes/resource.ts';
import type { Pod } from '../../src/platform/kubernetes/types.ts';
import { openLog } from '../../src/platform/log.ts';

const nextTurn = () => new Promise((resolve) => setImmediate(resolve));
const log = openLog({ level: 'silent', pretty: false });
const meta = (resourceVersion: string, uid = 'u'): ResourceMeta => ({
  name: 'x',
  namespace: 'n',
  uid,
  resourceVersion,
});

test('what was written is expected until the cache holds it, or holds that it is gone', () => {
  const cache = new Map<string, { metadata: ResourceMeta }>();
  let now = 0;
  const expectations = buildExpectations(
    (key) => cache.get(key),
    () => undefined,
    () => now,
  );
  const isMet = (): boolean => expectations.areMet(['pods/x'], 'sessions/x');
  expect(isMet()).toBe(true);
  cache.set('pods/x', { metadata: meta('9') });
  expectations.expect('pods/x', '10');
  expect(isMet()).toBe(false);
  cache.set('pods/x', { metadata: meta('10') });
  expect(isMet()).toBe(true);
  // The event arrived before the response to the write.
  expectations.expect('pods/x', '10');
  expect(isMet()).toBe(true);
  expectations.expect('pods/x', '11');
  expectations.observe('pods/x', true);
  expect(isMet()).toBe(true);
  expectations.expect('pods/x', '12');
  expect(isMet()).toBe(false);
  now = 60_001;
  expect(isMet()).toBe(true);
});

test('who waits for the cache is told once, when it holds what was written, and not for an older version', () => {
  const cache = new Map<string, { metadata: ResourceMeta }>();
  const told: string[] = [];
  let now = 0;
  const expectations = buildExpectations(
    (key) => cache.get(key),
    (waiter) => told.push(waiter),
    () => now,
  );
  const learn = (key: string, version: string): void => {
    cache.set(key, { metadata: meta(version) });
    expectations.observe(key, false);
  };
  expectations.expect('pods/x', '10');
  expectations.expect('pods/y', '11');
  for (let count = 0; count < 2; count += 1) {
    expect(expectations.areMet(['sessions/x', 'pods/x', 'pods/y'], 'sessions/x')).toBe(false);
  }
  expect(expectations.areMet(['pods/x'], 'volumes/v')).toBe(false);
  learn('pods/x', '9');
  learn('pods/y', '11');
  expect(told).toEqual([]);
  learn('pods/x', '10');
  expect(told).toEqual(['sessions/x', 'volumes/v']);
  learn('pods/x', '12');
  expect(told).toHaveLength(2);
  // An event that never comes is forgotten at a later write.
  expectations.expect('pods/z', '20');
  expect(expectations.areMet(['pods/z'], 'sessions/z')).toBe(false);
  now = 60_001;
  expectations.expect('pods/x', '30');
  expect(told).toEqual(['sessions/x', 'volumes/v', 'sessions/z']);
});

test('the time of a condition changes with its status only', () => {
  const finding = { type: 'Ready', status: 'False', reason: 'PodStarting', message: 'a' } as const;
  const other = {
    type: 'Other',
    status: 'True',
    reason: 'O',
    message: '',
    lastTransitionTime: '2026-01-01T00:00:00Z',
  } as const;
  const at = (iso: string) => ({ generation: 2, now: new Date(iso) });
  const first = buildConditions([other], [finding], at('2026-01-01T10:00:00.123Z'));
  expect(first).toEqual([other, { ...finding, observedGeneration: 2, lastTransitionTime: '2026-01-01T10:00:00Z' }]);
  const second = buildConditions(first, [{ ...finding, reason: 'PodReady' }], at('2026-01-01T11:00:00Z'));
  expect(second[1]).toMatchObject({ reason: 'PodReady', lastTransitionTime: '2026-01-01T10:00:00Z' });
  const third = buildConditions(second, [{ ...finding, status: 'True' }], at('2026-01-01T12:00:00Z'));
  expect(third[1]).toMatchObject({ status: 'True', lastTransitionTime: '2026-01-01T12:00:00Z' });
  const again = buildConditions(third, [{ ...finding, status: 'True', touch: true }], at('2026-01-01T13:00:00Z'));
  expect(again[1]).toMatchObject({ status: 'True', lastTransitionTime: '2026-01-01T13:00:00Z' });
  expect(again[1]).not.toHaveProperty('touch');
});

test('the first pod that ends is replaced at once, the next ones later and later', () => {
  const now = new Date('2026-01-01T00:00:00Z');
  const pod = (uid: string): Pod => ({ metadata: meta('1', uid), spec: {} });
  let failures = countFailure({}, pod('a'), now);
  expect(decideDelay(failures, now)).toBe(0);
  expect(countFailure(failures, pod('a'), now)).toEqual(failures);
  const delays = ['b', 'c', 'd', 'e', 'f', 'g', 'h'].map((uid) => {
    failures = countFailure(failures, pod(uid), now);
    return decideDelay(failures, now);
  });
  expect(delays).toEqual([10_000, 20_000, 40_000, 80_000, 160_000, 300_000, 300_000]);
  expect(decideDelay(failures, new Date(now.getTime() + 300_000))).toBe(0);
});

test('a key is worked on by one at a time, however often it is added, and again after a failure', async () => {
  const gate = Promise.withResolvers<Outcome>();
  const passes: string[] = [];
  let under = 0;
  let most = 0;
  const done = Promise.withResolvers<void>();
  const queue = startQueue({
    workers: 4,
    log,
    async reconcile(key) {
      under += 1;
      most = Math.max(most, under);
      passes.push(key);
      try {
        if (passes.length === 1) return await gate.promise;
        if (passes.length === 2) throw new Error('not yet');
        done.resolve();
        return undefined;
      } finally {
        under -= 1;
      }
    },
  });
  for (let count = 0; count < 5; count += 1) queue.add('a');
  await nextTurn();
  expect(passes).toEqual(['a']);
  for (let count = 0; count < 5; count += 1) queue.add('a');
  await nextTurn();
  expect(passes).toEqual(['a']);
  gate.resolve(undefined);
  await done.promise;
  await queue.close();
  // Once for the first additions, once for all later ones, and once more after its failure.
  expect(passes).toEqual(['a', 'a', 'a']);
  expect(most).toBe(1);
});

test('passes that write nothing let timers and sockets have their turn', async () => {
  const order: string[] = [];
  const done = Promise.withResolvers<void>();
  const count = 100;
  const queue = startQueue({
    workers: 16,
    log,
    async reconcile() {
      const untilMs = performance.now() + 1;
      while (performance.now() < untilMs);
      order.push('pass');
      if (order.filter((what) => what === 'pass').length === count) done.resolve();
      return undefined;
    },
  });
  for (let key = 0; key < count; key += 1) queue.add(String(key));
  setImmediate(() => order.push('turn'));
  await done.promise;
  await queue.close();
  expect(order.indexOf('turn')).toBeGreaterThanOrEqual(0);
  expect(order.indexOf('turn')).toBeLessThan(count / 2);
});

test('the last pass says when to look again, whatever an earlier one said', async () => {
  const passes: string[] = [];
  const done = Promise.withResolvers<void>();
  const queue = startQueue({
    workers: 1,
    log,
    async reconcile(key) {
      passes.push(key);
      const isFirst = passes.filter((name) => name === key).length === 1;
      if (key === 'b' && !isFirst) done.resolve();
      return isFirst ? { requeueMs: key === 'a' ? 20 : 60 } : undefined;
    },
  });
  queue.add('a');
  await nextTurn();
  queue.add('a');
  queue.add('b');
  await done.promise;
  await queue.close();
  expect(passes).toEqual(['a', 'a', 'b', 'b']);
});

test('a long message is cut between characters', () => {
  const update = { type: 'Ready', status: 'False', reason: 'PodRefused', message: `x${'😀'.repeat(2000)}` } as const;
  const [condition] = buildConditions([], [update], { generation: 1, now: new Date() });
  expect(condition?.message).toMatch(/^x(😀)+…$/u);
  expect(condition?.message.length).toBeLessThanOrEqual(2000);
});
