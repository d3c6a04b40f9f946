import { expect, test } from 'vitest';
import { describePod } from '../../../operator/pod/state.ts';
import { readKubeletReason, severityOf } from '../../../operator/runtime/reasons.ts';
import type { Pod } from '../../../src/platform/kubernetes/types.ts';

const metadata = { name: 'ses-1', namespace: 'n', uid: 'u', resourceVersion: '1' };

test('an eviction is a warning, a start is routine', () => {
  expect(severityOf('Evicted')).toBe('warning');
  expect(severityOf('PodStarting')).toBe('routine');
  expect(severityOf('KeyChanged')).toBe('normal');
});

test('a pod that the kubelet ended carries its reason, as a warning', () => {
  const pod: Pod = { metadata, spec: {}, status: { phase: 'Failed', reason: 'NodeAffinity', message: 'no match' } };
  const state = describePod(pod);
  expect(state).toEqual({ state: 'ended', reason: 'NodeAffinity', message: 'no match' });
  expect(severityOf(state.reason)).toBe('warning');
});

test.each(['Not a reason', '', 'toString()', 'A'.repeat(65)])(
  'a reason that no condition may carry is PodFailed: %s',
  (text) => {
    expect(readKubeletReason(text)).toBe('PodFailed');
  },
);
