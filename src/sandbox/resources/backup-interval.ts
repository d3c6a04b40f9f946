// Tests: test/operator/backup-policy.test.ts
const HOUR_MS = 3_600_000;
/** Names of snapshots end in the second, and each one is work for the storage. */
const MIN_MS = 60_000;

/** Milliseconds between two backups, at least a minute. 0 hours: undefined, there are none. */
export function readBackupInterval(hours: number): number | undefined {
  return hours === 0 ? undefined : Math.max(MIN_MS, Math.round(hours * HOUR_MS));
}
