import { expect, test } from 'vitest';
import { countFailure, decideDelay } from '../../operator/pod/failures.ts';
import { buildConditions } from '../../operator/runtime/conditions.ts';
import { buildExpectations } from '../../operator/runtime/expectations.ts';
import { startQueue } from '../../operator/runtime/queue.ts';
import type { Outcome } from '../../operator/runtime/queue.ts';
import type { ResourceMeta } from '../../src/contract/resources/common.ts';
import type { Pod } from '../../src/kubernetes/types.ts';
import { openLog } from '../../src/log.ts';

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
    () => now,
  );
  expect(expectations.isMet('pods/x')).toBe(true);
  cache.set('pods/x', { metadata: meta('9') });
  expectations.expect('pods/x', '10');
  expect(expectations.isMet('pods/x')).toBe(false);
  cache.set('pods/x', { metadata: meta('10') });
  expect(expectations.isMet('pods/x')).toBe(true);
  // The event came before the answer to the write did.
  expectations.expect('pods/x', '10');
  expect(expectations.isMet('pods/x')).toBe(true);
  expectations.expect('pods/x', '11');
  expectations.observeGone('pods/x');
  expect(expectations.isMet('pods/x')).toBe(true);
  expectations.expect('pods/x', '12');
  expect(expectations.isMet('pods/x')).toBe(false);
  now = 60_001;
  expect(expectations.isMet('pods/x')).toBe(true);
});

test('the time of a condition changes with its status only', () => {
  const finding = { type: 'Ready', status: 'False', reason: 'A', message: 'a' } as const;
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
  const second = buildConditions(first, [{ ...finding, reason: 'B' }], at('2026-01-01T11:00:00Z'));
  expect(second[1]).toMatchObject({ reason: 'B', lastTransitionTime: '2026-01-01T10:00:00Z' });
  const third = buildConditions(second, [{ ...finding, status: 'True' }], at('2026-01-01T12:00:00Z'));
  expect(third[1]).toMatchObject({ status: 'True', lastTransitionTime: '2026-01-01T12:00:00Z' });
  const again = buildConditions(third, [{ ...finding, status: 'True', isNew: true }], at('2026-01-01T13:00:00Z'));
  expect(again[1]).toMatchObject({ status: 'True', lastTransitionTime: '2026-01-01T13:00:00Z' });
  expect(again[1]).not.toHaveProperty('isNew');
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
  expect(passes).toEqual(['a']);
  gate.resolve(undefined);
  await done.promise;
  await queue.close();
  // Once for the first addition, once for all that came meanwhile, and once more for its failure.
  expect(passes).toEqual(['a', 'a', 'a']);
  expect(most).toBe(1);
});
