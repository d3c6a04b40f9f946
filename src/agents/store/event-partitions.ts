import type { Db } from '../../platform/db/db.ts';
import { ensureMonthlyPartitions } from '../../platform/store/partitions.ts';

/** Creates the missing partitions of the event log; see `ensureMonthlyPartitions`. */
export function ensureEventPartitions(db: Db, now: Date): Promise<string[]> {
  return ensureMonthlyPartitions(db, 'events', now);
}
