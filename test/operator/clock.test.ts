import { expect, test } from 'vitest';
import { decideDelay } from '../../operator/pod/failures.ts';
import { measureElapsed } from '../../operator/runtime/clock.ts';
import { decideVolume } from '../../operator/volume/decide.ts';
import type { Volume } from '../../src/sandbox/resources/volume.ts';

const NOW = new Date('2026-05-01T12:00:00Z');
const FAR = '2999-01-01T00:00:00Z';

const buildVolume = (over: Partial<Volume['spec']>): Volume => ({
  metadata: { name: 'vol-1', namespace: 'n', uid: 'u-1', resourceVersion: '1' },
  spec: {
    organizationId: 'org_1',
    agentId: 'agt_1',
    subjectId: 'ada',
    publicKey: 'A'.repeat(43),
    initialSize: '512Mi',
    maxSize: '4Gi',
    ...over,
  },
});
const claim = {
  metadata: { name: 'vol-1', namespace: 'n', uid: 'c-1', resourceVersion: '1', ownerReferences: [{ uid: 'u-1' }] },
  spec: { volumeName: 'pv-1', resources: { requests: { storage: '512Mi' } } },
  status: { phase: 'Bound', capacity: { storage: '512Mi' } },
};
const decide = (volume: Volume, usedBytes?: number) => decideVolume({ volume, claim, pods: [], usedBytes, now: NOW });

test.each([
  ['2026-05-01T11:59:00Z', 60_000],
  ['2026-05-01T12:04:00Z', 0],
  [FAR, Infinity],
])('a time recorded as %s is %d ms ago', (at, ms) => {
  expect(measureElapsed(at, NOW)).toBe(ms);
});

test('a failure recorded by a clock that was far ahead does not delay the next start until then', () => {
  expect(decideDelay({ failures: 5, lastFailureAt: FAR }, NOW)).toBe(0);
});

test('a growth that was refused by a clock that was far ahead is requested again', () => {
  const refused = { type: 'Growable', status: 'False', lastTransitionTime: FAR, reason: 'GrowthRefused', message: '' };
  const volume = { ...buildVolume({}), status: { disk: 'pv-1', conditions: [refused] } } as Volume;
  expect(decide(volume, 500 * 2 ** 20).action).toMatchObject({ type: 'growClaim' });
});

test.each([
  ['an hour', '2026-05-01T13:00:00Z', 'createStandby'],
  ['a thousand years', FAR, 'none'],
])('a standby pod that is wanted for %s', (_, standbyUntil, action) => {
  const volume = { ...buildVolume({ standbyUntil }), status: { disk: 'pv-1' } };
  expect(decide(volume).action.type).toBe(action);
});
