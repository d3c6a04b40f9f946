import type { Db } from '../../platform/db/db.ts';
import { errorText } from '../../platform/errors.ts';
import { Ticker } from '../../platform/jobs/ticker.ts';
import type { Logger } from '../../platform/log.ts';
import { addUsage } from '../../platform/store/usage.ts';
import type { UsageCounts, UsageRef } from '../../platform/store/usage.ts';

/** Maximum delay until usage is in the database. */
const FLUSH_MS = 1000;
/** Maximum pending rows. More are dropped and logged while the database is unavailable. */
const MAX_ROWS = 10_000;

export type UsageRecorder = {
  add(ref: UsageRef, counts: UsageCounts): void;
  /** Writes pending rows. */
  close(): Promise<void>;
};

type Row = { ref: UsageRef; counts: UsageCounts };

function sum(total: UsageCounts, counts: UsageCounts): void {
  const { latencies, ...sums } = counts;
  for (const [name, value] of Object.entries(sums) as [keyof typeof sums, number][]) total[name] += value;
  total.latencies = total.latencies.map((count, index) => count + (latencies[index] ?? 0));
}

/** Sums usage in memory and adds it to the database about once a second. */
export function openUsageRecorder({ db, log }: { db: Db; log: Logger }): UsageRecorder {
  let rows = new Map<string, Row>();
  let dropped = 0;
  let writing: Promise<void> | undefined;

  function add(ref: UsageRef, counts: UsageCounts): void {
    const id = JSON.stringify([ref.organizationId, ref.hour, ref.keyId, ref.name, ref.userId]);
    const row = rows.get(id);
    if (row !== undefined) sum(row.counts, counts);
    else if (rows.size < MAX_ROWS) rows.set(id, { ref, counts: { ...counts } });
    else dropped += 1;
    ticker.start();
  }

  async function write(): Promise<void> {
    const batch = [...rows.values()];
    rows = new Map();
    try {
      await addUsage(
        db,
        batch.map(({ ref, counts }) => ({ ...ref, ...counts })),
      );
      if (dropped > 0) log.error({ dropped }, 'usage was dropped while the database was unavailable');
      dropped = 0;
    } catch (error) {
      log.warn({ error: errorText(error), rows: batch.length }, 'could not write usage; retrying');
      for (const { ref, counts } of batch) add(ref, counts);
    }
  }

  const ticker = new Ticker(FLUSH_MS, () => {
    if (rows.size === 0) return false;
    writing ??= write().finally(() => {
      writing = undefined;
    });
    return true;
  });
  return {
    add,
    async close() {
      ticker.stop();
      await writing;
      if (rows.size > 0) await write();
    },
  };
}
