import type { Pod } from '../../src/platform/kubernetes/types.ts';
import { omitUndefined } from '../../src/platform/records.ts';
import { measureElapsed } from '../runtime/clock.ts';

const FIRST_DELAY_MS = 10_000;
const MAX_DELAY_MS = 5 * 60_000;

export type Failures = {
  failures?: number | undefined;
  failedPodUid?: string | undefined;
  lastFailureAt?: string | undefined;
};

/** Counts this pod's end, once however often it is reconciled. */
export function countFailure(before: Failures, pod: Pod, now: Date): Failures {
  if (before.failedPodUid === pod.metadata.uid) return pickFailures(before);
  return { failures: (before.failures ?? 0) + 1, failedPodUid: pod.metadata.uid, lastFailureAt: now.toISOString() };
}

export function pickFailures({ failures, failedPodUid, lastFailureAt }: Failures): Failures {
  return {
    ...omitUndefined({ failures, failedPodUid, lastFailureAt }),
  };
}

/** Milliseconds until the next pod may start: 0 after the first failure, then 10 s, 20 s and so on up to 5 minutes. */
export function decideDelay({ failures = 0, lastFailureAt }: Failures, now: Date): number {
  if (failures < 2 || lastFailureAt === undefined) return 0;
  const delay = Math.min(MAX_DELAY_MS, FIRST_DELAY_MS * 2 ** (failures - 2));
  return Math.max(0, delay - measureElapsed(lastFailureAt, now));
}
