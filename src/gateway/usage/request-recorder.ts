import type { Db } from '../../platform/db/db.ts';
import { errorText } from '../../platform/errors.ts';
import { Ticker } from '../../platform/jobs/ticker.ts';
import type { Logger } from '../../platform/log.ts';
import { addRequests } from '../store/requests.ts';
import type { NewRequest } from '../store/requests.ts';

/** Maximum delay until a record is in the database. */
const FLUSH_MS = 1000;
/** Maximum pending records. More are dropped while the database is unavailable. */
const MAX_PENDING = 10_000;
const BATCH = 1000;

export type RequestLog = {
  add(record: NewRequest): void;
  /** Writes pending records. */
  close(): Promise<void>;
};

/** Keeps a record of each call, written about once a second. */
export function openRequestLog({ db, log }: { db: Db; log: Logger }): RequestLog {
  let pending: NewRequest[] = [];
  let writing: Promise<void> | undefined;

  async function write(): Promise<void> {
    while (pending.length > 0) {
      const batch = pending.slice(0, BATCH);
      pending = pending.slice(BATCH);
      try {
        await addRequests(db, batch);
      } catch (error) {
        log.warn({ error: errorText(error), records: batch.length }, 'could not write the request log; retrying');
        pending = [...batch, ...pending].slice(0, MAX_PENDING);
        return;
      }
    }
  }

  const ticker = new Ticker(FLUSH_MS, () => {
    if (pending.length === 0) return false;
    writing ??= write().finally(() => {
      writing = undefined;
    });
    return true;
  });
  return {
    add(record) {
      if (pending.length < MAX_PENDING) pending.push(record);
      ticker.start();
    },
    async close() {
      ticker.stop();
      await writing;
      await write();
    },
  };
}
