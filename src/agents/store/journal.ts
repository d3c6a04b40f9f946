import type { Queryable } from '../../platform/db/db.ts';
import { encodeJson } from '../../platform/store/json.ts';
import { omitUndefined } from '../../platform/records.ts';
import type { EventEnvelope } from '../contract/events.ts';
import type { Appended, JournalEntry } from '../log/entry.ts';
import type { NewEvent } from '../log/event.ts';

type WrittenRow = {
  written_id: string;
  written_organization: string;
  written_base: number;
  written_at: Date;
  written_awake: boolean;
};

/**
 * Writes entries of different sessions in one statement and so in one commit. The result holds, entry by entry, what
 * was appended, or undefined where the lease was lost or the session is gone: then nothing of that entry was written.
 */
export async function writeJournal(db: Queryable, entries: readonly JournalEntry[]): Promise<(Appended | undefined)[]> {
  const { rows } = await db.query<WrittenRow>('SELECT * FROM write_journal($1::jsonb)', [encodeJson(entries)]);
  const bySession = new Map(rows.map((row) => [row.written_id, row]));
  return entries.map((entry) => {
    const row = bySession.get(entry.sessionId);
    if (row === undefined) return undefined;
    const createdAt = row.written_at.toISOString();
    return {
      organizationId: row.written_organization,
      firstSequence: row.written_base + 1,
      awake: row.written_awake,
      events: entry.events.map((event, index) =>
        buildEnvelope(entry.sessionId, event, row.written_base + 1 + index, createdAt),
      ),
    };
  });
}

function buildEnvelope(sessionId: string, event: NewEvent, sequence: number, createdAt: string): EventEnvelope {
  return {
    id: event.id,
    type: event.payload.type,
    sessionId,
    sequence,
    turnId: event.turnId,
    status: event.status,
    ...omitUndefined({ usage: event.usage }),
    payload: event.payload,
    processedAt: event.processed === true ? createdAt : null,
    createdAt,
  };
}
