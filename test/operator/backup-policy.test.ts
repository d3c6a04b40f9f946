import { expect, test } from 'vitest';
import { pickBackupPolicy } from '../../operator/volume/backup-policy.ts';
import type { SandboxClass } from '../../src/sandbox/resources/sandbox-class.ts';
import { readConfig } from '../../src/roles/config/config.ts';

const metadata = { name: 'often', namespace: 'n', uid: 'u-1', resourceVersion: '1' };
const ofClass = (everyHours: number): SandboxClass => ({ metadata, spec: { volume: { backup: { everyHours } } } });
const options = { everyMs: 86_400_000, keep: 3, snapshotClassName: 'quick' };

test('the policy of a class replaces the one of the operator', () => {
  expect(pickBackupPolicy(options, undefined)).toEqual(options);
  expect(pickBackupPolicy(options, ofClass(6))).toEqual({ ...options, everyMs: 6 * 3_600_000 });
  expect(pickBackupPolicy(options, ofClass(0))).toBeUndefined();
  expect(pickBackupPolicy(undefined, ofClass(1))).toMatchObject({ keep: 7 });
});

test.each([
  ['0.25', 15 * 60_000],
  ['24', 86_400_000],
  ['0.0001', 60_000],
])('%s hours are between two backups, a minute at least', (hours, everyMs) => {
  expect(readConfig({ CAPSTAN_SANDBOX_BACKUP_HOURS: hours }, 'operator').backup?.everyMs).toBe(everyMs);
  expect(pickBackupPolicy(undefined, ofClass(Number(hours)))?.everyMs).toBe(everyMs);
});

test('0 hours are none', () => {
  expect(readConfig({ CAPSTAN_SANDBOX_BACKUP_HOURS: '0' }, 'operator').backup).toBeUndefined();
});
