import type { Queryable } from '../../platform/db/db.ts';
import { escapeLike } from '../../platform/store/like.ts';
import type { EventListQuery } from '../contract/event-lists.ts';
import type { EventEnvelope } from '../contract/events.ts';
import { readEvent } from './events.ts';
import type { EventRow } from './events.ts';

/** Durable events between two sequences, both exclusive, that a filter lets through; at most `limit`. */
export async function searchEvents(
  db: Queryable,
  sessionId: string,
  query: Omit<EventListQuery, 'attachments'>,
): Promise<EventEnvelope[]> {
  const { after, before, types, threadId, q } = query;
  // The payload is searched as JSON text, where quotes and line ends are escaped.
  const text = q === undefined ? null : `%${escapeLike(JSON.stringify(q).slice(1, -1))}%`;
  const { rows } = await db.query<EventRow>(
    `SELECT * FROM events WHERE session_id = $1 AND sequence > $2 AND ($3::bigint IS NULL OR sequence < $3)
       AND ($4::text[] IS NULL OR type = ANY($4)) AND ($5::text IS NULL OR payload->>'thread_id' = $5)
       AND ($6::text IS NULL OR payload::text ILIKE $6)
     ORDER BY sequence ${query.order === 'desc' ? 'DESC' : 'ASC'} LIMIT $7`,
    [sessionId, after, before ?? null, types ?? null, threadId ?? null, text, query.limit],
  );
  return rows.map(readEvent);
}
