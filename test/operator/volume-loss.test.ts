import { expect, test } from 'vitest';
import { decideLoss, isLossOpen } from '../../operator/volume/loss.ts';
import { LOSS_ACCEPTED_ANNOTATION, RESTORE_ANNOTATION } from '../../src/platform/kubernetes/resource.ts';
import type { Claim } from '../../src/platform/kubernetes/types.ts';
import type { Volume, VolumeStatus } from '../../src/sandbox/resources/volume.ts';

const metadata = { name: 'vol-1', namespace: 'n', uid: 'u-1', resourceVersion: '1' };

const buildVolume = (status: VolumeStatus, annotations: Record<string, string> = {}): Volume => ({
  metadata: { ...metadata, annotations },
  spec: {
    organizationId: 'org_1',
    agentId: 'agt_1',
    subjectId: 'ada',
    publicKey: 'A'.repeat(43),
    initialSize: '512Mi',
    maxSize: '4Gi',
  },
  status,
});

const buildClaim = (volumeName: string | undefined, phase = 'Bound'): Claim => ({
  metadata: { ...metadata, uid: 'c-1' },
  spec: volumeName === undefined ? {} : { volumeName },
  status: { phase },
});

test('the first disk is recorded, and no claim yet is no loss', () => {
  expect(decideLoss(buildVolume({}), undefined, 'halt')).toEqual({ disk: undefined });
  expect(decideLoss(buildVolume({}), buildClaim('pv-1'), 'halt')).toEqual({ disk: 'pv-1' });
});

test('a new volume takes over the disk that it names', () => {
  const brought = buildVolume({}, { [RESTORE_ANNOTATION]: 'pv-1' });
  expect(decideLoss(brought, undefined, 'halt')).toEqual({ disk: undefined, restoreDisk: 'pv-1' });
  expect(decideLoss(brought, buildClaim('pv-1'), 'halt')).toEqual({ disk: 'pv-1' });
});

test('a claim that is gone halts until exactly this loss is confirmed', () => {
  const gone = decideLoss(buildVolume({ disk: 'pv-1' }), undefined, 'halt');
  expect(gone).toMatchObject({
    lostDisk: 'pv-1',
    condition: { type: 'FilesLost', status: 'True', reason: 'ClaimDeleted', touch: true },
    halt: { reason: 'FilesLost', message: expect.stringContaining('files-lost-accepted=pv-1') },
  });
  const later = (annotations: Record<string, string>) =>
    decideLoss(buildVolume({ lostDisk: 'pv-1' }, annotations), undefined, 'halt');
  expect(later({}).condition).not.toHaveProperty('touch');
  expect(later({ [LOSS_ACCEPTED_ANNOTATION]: 'pv-0' }).halt).toBeDefined();
  expect(later({ [LOSS_ACCEPTED_ANNOTATION]: 'pv-1' }).halt).toBeUndefined();
  expect(later({ [RESTORE_ANNOTATION]: 'pv-1' })).toMatchObject({ restoreDisk: 'pv-1', lostDisk: 'pv-1' });
  expect(later({ [RESTORE_ANNOTATION]: 'pv-1' })).not.toHaveProperty('halt');
});

test('an empty disk that replaces the lost one is reported for good, with both names', () => {
  expect(decideLoss(buildVolume({ disk: 'pv-1' }), undefined, 'recreate')).not.toHaveProperty('halt');
  const replaced = decideLoss(buildVolume({ lostDisk: 'pv-1' }), buildClaim('pv-2'), 'recreate');
  expect(replaced).toMatchObject({ disk: 'pv-2', lostDisk: 'pv-1', condition: { status: 'True' } });
  expect(replaced.condition?.message).toMatch(/pv-1.*pv-2/);
  const unseen = decideLoss(buildVolume({ disk: 'pv-1' }), buildClaim('pv-2'), 'halt');
  expect(unseen).toMatchObject({ disk: 'pv-2', lostDisk: 'pv-1', condition: { status: 'True', touch: true } });
  const lasting = decideLoss(buildVolume({ disk: 'pv-2', lostDisk: 'pv-1' }), buildClaim('pv-2'), 'halt');
  expect(lasting.condition).toMatchObject({ status: 'True' });
  expect(lasting.condition).not.toHaveProperty('touch');
});

test('a disk that is bound again, or whose storage is gone', () => {
  const restored = decideLoss(buildVolume({ lostDisk: 'pv-1' }), buildClaim('pv-1'), 'halt');
  expect(restored).toMatchObject({ disk: 'pv-1', condition: { status: 'False', reason: 'FilesRestored' } });
  expect(restored.lostDisk).toBeUndefined();
  const lost = decideLoss(buildVolume({ disk: 'pv-1' }), buildClaim('pv-1', 'Lost'), 'halt');
  expect(lost).toMatchObject({ disk: 'pv-1', lostDisk: 'pv-1', condition: { status: 'True', reason: 'DiskLost' } });
});

test('a loss is open until it is confirmed', () => {
  const condition = { type: 'FilesLost', status: 'True', reason: 'ClaimDeleted', message: '' } as const;
  const status = { lostDisk: 'pv-1', conditions: [{ ...condition, lastTransitionTime: '2026-01-01T00:00:00Z' }] };
  expect(isLossOpen(buildVolume(status))).toBe(true);
  expect(isLossOpen(buildVolume(status, { [LOSS_ACCEPTED_ANNOTATION]: 'pv-1' }))).toBe(false);
  expect(isLossOpen(buildVolume({ disk: 'pv-1' }))).toBe(false);
});
