import { expect, test } from 'vitest';
import { decideVolume } from '../../operator/volume/decide.ts';
import { formatQuantity, parseQuantity } from '../../operator/volume/quantity.ts';
import type { Volume } from '../../src/sandbox/resources/volume.ts';
import type { Claim } from '../../src/platform/kubernetes/types.ts';

const NOW = new Date('2026-05-01T12:00:00Z');
const MI = 2 ** 20;
const metadata = { name: 'vol-1', namespace: 'n', uid: 'u-1', resourceVersion: '1' };

const buildVolume = (over: Partial<Volume> = {}): Volume => ({
  metadata,
  spec: {
    organizationId: 'org_1',
    agentId: 'agt_1',
    subjectId: 'ada',
    publicKey: 'A'.repeat(43),
    initialSize: '512Mi',
    maxSize: '4Gi',
  },
  ...over,
});

const buildClaim = (has: string, asked = has, over: Partial<Claim> = {}): Claim => ({
  metadata: {
    ...metadata,
    uid: 'c-1',
    ownerReferences: [{ uid: 'u-1' }],
  },
  spec: { resources: { requests: { storage: asked } } },
  status: { phase: 'Bound', capacity: { storage: has } },
  ...over,
});

const decide = (claim: Claim | undefined, usedBytes?: number, volume = buildVolume()) =>
  decideVolume({ volume, claim, pods: [], usedBytes, now: NOW });

test.each([
  ['512Mi', 410 * MI, '1Gi'],
  ['1Gi', 900 * MI, '2Gi'],
  ['2Gi', 1700 * MI, '4Gi'],
  ['3Gi', 2600 * MI, '4Gi'],
])('a claim of %s that is filled past 80 %% is doubled, to 4Gi at most', (has, used, size) => {
  expect(decide(buildClaim(has), used).action).toMatchObject({ type: 'growClaim', size });
});

test.each([
  ['at 80 %', buildClaim('512Mi'), 0.8 * 512 * MI],
  ['before anything is known of its use', buildClaim('512Mi'), undefined],
  ['at its largest', buildClaim('4Gi'), 4000 * MI],
  ['while it grows', buildClaim('512Mi', '1Gi'), 500 * MI],
  ['of an earlier volume', buildClaim('512Mi', '512Mi', { metadata: { ...metadata, ownerReferences: [] } }), 500 * MI],
])('a claim %s is left alone', (_, claim, used) => {
  expect(decide(claim, used).action).toEqual({ type: 'none' });
});

test('while a claim grows, the volume says from what to what and why it takes its time', () => {
  const conditions = [{ type: 'FileSystemResizePending', status: 'True', message: 'Waiting for a pod' }];
  const status = { phase: 'Bound', capacity: { storage: '512Mi' }, conditions };
  const plan = decide(buildClaim('512Mi', '1Gi', { status }), 500 * MI);
  expect(plan.status).toMatchObject({ phase: 'Resizing', size: '512Mi', used: '500Mi' });
  expect(plan.conditions).toMatchObject([{ type: 'Ready', status: 'True', reason: 'Growing' }]);
  expect(plan.conditions[0]?.message).toBe('The claim grows from 512Mi to 1Gi: Waiting for a pod.');
});

test('a class that refused is asked again after an hour', () => {
  const refused = (lastTransitionTime: string) =>
    buildVolume({
      status: {
        conditions: [{ type: 'Growable', status: 'False', reason: 'GrowthRefused', message: 'no', lastTransitionTime }],
      },
    });
  expect(decide(buildClaim('512Mi'), 500 * MI, refused('2026-05-01T11:30:00Z')).action.type).toBe('none');
  expect(decide(buildClaim('512Mi'), 500 * MI, refused('2026-05-01T10:59:00Z')).action.type).toBe('growClaim');
});

test.each([
  ['Lost', 'Failed', 'ClaimLost'],
  ['Pending', 'Pending', 'ClaimPending'],
])('a claim that is %s is told', (phase, volumePhase, reason) => {
  const plan = decide(buildClaim('512Mi', '512Mi', { status: { phase } }));
  expect(plan.status.phase).toBe(volumePhase);
  expect(plan.conditions).toMatchObject([{ type: 'Ready', status: 'False', reason }]);
});

test('sizes are read as Kubernetes writes them', () => {
  expect(['512Mi', '1Gi', '1.5Gi', '1000', '1k', '2G'].map(parseQuantity)).toEqual([
    512 * MI,
    1024 * MI,
    1536 * MI,
    1000,
    1000,
    2e9,
  ]);
  expect(() => parseQuantity('big')).toThrow('not a size');
  expect([0, 1, 512 * MI, 1024 * MI, 1025 * MI].map(formatQuantity)).toEqual(['0Ki', '1Ki', '512Mi', '1Gi', '1025Mi']);
});
