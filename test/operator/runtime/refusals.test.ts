import { expect, test } from 'vitest';
import { Refusals, describeRefusal } from '../../../operator/runtime/refusals.ts';
import { KubernetesError } from '../../../src/platform/kubernetes/client.ts';

const QUOTA = 'pods "x" is forbidden: exceeded quota: q, requested: pods=1, used: pods=3, limited: pods=3';

test.each([
  [403, QUOTA, 'QuotaExceeded'],
  [403, 'pods "x" is forbidden: maximum memory usage per Pod is 1Gi', 'PodRefused'],
  [400, 'admission webhook "policy.example.com" denied the request', 'PodRefused'],
  [422, 'ValidatingAdmissionPolicy "p" denied request: no', 'PodRefused'],
  [500, 'Internal error occurred: failed calling webhook "policy.example.com": timeout', 'PodRefused'],
])('%i %s is reported', (status, message, reason) => {
  const error = new KubernetesError(status, 'Forbidden', message);
  expect(describeRefusal(error, 'PodRefused')).toEqual({ reason, message });
});

test.each([409, 429, 500, 503])('%i is retried and not reported', (status) => {
  expect(describeRefusal(new KubernetesError(status, 'Some', 'later'), 'PodRefused')).toBeUndefined();
  expect(describeRefusal(new Error('ECONNRESET'), 'PodRefused')).toBeUndefined();
});

test('the same generation is retried later and later, another one at once', () => {
  let now = 0;
  const refusals = new Refusals(() => now);
  const refusal = { reason: 'QuotaExceeded', message: QUOTA } as const;
  const attempt = (generation: number): number => {
    expect(refusals.findPending('sessions/x', generation)).toBeUndefined();
    const delayMs = refusals.record('sessions/x', generation, refusal);
    expect(refusals.findPending('sessions/x', generation)).toEqual({ ...refusal, requeueMs: delayMs });
    now += delayMs;
    return delayMs;
  };
  expect([1, 1, 1, 1, 1].map(attempt)).toEqual([1000, 2000, 4000, 5000, 5000]);
  expect(attempt(2)).toBe(1000);
  refusals.forget('sessions/x');
  expect(attempt(2)).toBe(1000);
});

test('many refused resources are retried less often', () => {
  const refusals = new Refusals(() => 0);
  const refusal = { reason: 'PodRefused', message: 'no' } as const;
  const record = (): number[] => Array.from({ length: 1000 }, (_, n) => refusals.record(`sessions/${n}`, 1, refusal));
  for (let round = 0; round < 8; round += 1) record();
  expect(Math.max(...record())).toBe(60_000);
});
