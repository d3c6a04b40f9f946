import { DbUnavailableError } from '../../platform/db/db.ts';
import type { Db } from '../../platform/db/db.ts';
import type { Appended, JournalEntry } from '../log/entry.ts';
import { writeJournal } from '../store/journal.ts';

type Waiting = {
  entry: JournalEntry;
  resolve: (appended: Appended | undefined) => void;
  reject: (error: unknown) => void;
};

/** Groups appends of many sessions into one commit: those that arrive during a commit share the next one. */
export type Appender = { append(entry: JournalEntry): Promise<Appended | undefined> };

const MAX_BATCH = 64;

export function openAppender(db: Db): Appender {
  let waiting: Waiting[] = [];
  let flushing = false;

  const flush = async () => {
    flushing = true;
    while (waiting.length > 0) {
      const batch = takeBatch();
      try {
        const results = await writeJournal(
          db,
          batch.map(({ entry }) => entry),
        );
        batch.forEach(({ resolve }, index) => resolve(results[index]));
      } catch (error) {
        await retryAlone(db, batch, error);
      }
    }
    flushing = false;
  };

  // A statement changes each session once, so a second entry of a session goes into the next statement.
  const takeBatch = (): Waiting[] => {
    const seen = new Set<string>();
    const batch: Waiting[] = [];
    const rest: Waiting[] = [];
    for (const item of waiting) {
      const fits = batch.length < MAX_BATCH && !seen.has(item.entry.sessionId);
      seen.add(item.entry.sessionId);
      (fits ? batch : rest).push(item);
    }
    waiting = rest;
    return batch;
  };

  return {
    append(entry) {
      return new Promise((resolve, reject) => {
        waiting.push({ entry, resolve, reject });
        if (!flushing) {
          flushing = true;
          // Lets the appends of this tick of the event loop join.
          setImmediate(() => void flush());
        }
      });
    },
  };
}

/**
 * One bad entry must not fail those that shared its statement. Where the database went away the statement may have been
 * committed: then nothing is written again, and whoever takes the session up finds out from the log.
 */
async function retryAlone(db: Db, batch: readonly Waiting[], error: unknown): Promise<void> {
  if (batch.length === 1 || error instanceof DbUnavailableError) {
    for (const item of batch) item.reject(error);
    return;
  }
  for (const item of batch) {
    try {
      const [appended] = await writeJournal(db, [item.entry]);
      item.resolve(appended);
    } catch (alone) {
      item.reject(alone);
    }
  }
}
