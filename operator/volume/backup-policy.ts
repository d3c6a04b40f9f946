// Tests: test/operator/backup-policy.test.ts
import { readBackupInterval } from '../../src/sandbox/resources/backup-interval.ts';
import type { SandboxClass } from '../../src/sandbox/resources/sandbox-class.ts';

/** How often the files of a volume are copied to a VolumeSnapshot, and how many copies are kept. */
export type BackupPolicy = { everyMs: number; keep: number; snapshotClassName?: string | undefined };

/** Of all volumes, for one term of leadership. */
export class Backups {
  /** names of volumes whose snapshot is not ready; a bound on what the storage does at the same time */
  readonly running = new Set<string>();
  /** the cluster has no VolumeSnapshots; asked again at this time */
  missingUntilMs = 0;
}

/** The policy of a class replaces the operator's. Undefined: no backups. */
export function pickBackupPolicy(
  options: BackupPolicy | undefined,
  sandboxClass: SandboxClass | undefined,
): BackupPolicy | undefined {
  const own = sandboxClass?.spec.volume?.backup;
  if (own === undefined) return options;
  const { everyHours, keep = options?.keep ?? 7, snapshotClassName = options?.snapshotClassName } = own;
  const everyMs = readBackupInterval(everyHours);
  return everyMs === undefined ? undefined : { everyMs, keep, snapshotClassName };
}
