import type { Queryable } from '../../platform/db/db.ts';
import type { EventEnvelope, EventStatus } from '../contract/events.ts';
import type { LogEvent } from '../log/event.ts';
import type { LogExtent } from '../log/extent.ts';
import type { Usage } from '../contract/usage.ts';
import { readLogEvent } from '../log/read.ts';
import { encodeJson } from '../../platform/store/json.ts';

export type EventRow = {
  session_id: string;
  sequence: number;
  id: string;
  type: string;
  turn_id: string | null;
  status: EventStatus | null;
  payload: { type: string };
  usage: Usage | null;
  internal: Record<string, unknown> | null;
  processed_at: Date | null;
  created_at: Date;
};

export function readEvent(row: EventRow): EventEnvelope {
  return {
    id: row.id,
    type: row.type,
    sessionId: row.session_id,
    sequence: row.sequence,
    turnId: row.turn_id,
    status: row.status,
    ...(row.usage === null ? {} : { usage: row.usage }),
    payload: row.payload,
    processedAt: row.processed_at?.toISOString() ?? null,
    createdAt: row.created_at.toISOString(),
  };
}

const READ_ALL = 'SELECT * FROM events WHERE session_id = $1 AND sequence > $2 ORDER BY sequence';
// One index range for each part of the extent.
const READ_EXTENT = `
SELECT * FROM events WHERE session_id = $1 AND sequence > $2 AND sequence <= $3
UNION ALL
SELECT * FROM events WHERE session_id = $1 AND sequence > $2 AND sequence > $3 AND sequence < $4 AND sequence = ANY($5::bigint[])
UNION ALL
SELECT * FROM events WHERE session_id = $1 AND sequence > $2 AND sequence > $3 AND sequence >= $4
ORDER BY sequence`;

/** Durable events past a sequence, in order, at most `limit`. */
export async function listEvents(
  db: Queryable,
  sessionId: string,
  after: number,
  limit: number,
): Promise<EventEnvelope[]> {
  const { rows } = await db.query<EventRow>(
    'SELECT * FROM events WHERE session_id = $1 AND sequence > $2 ORDER BY sequence LIMIT $3',
    [sessionId, after, limit],
  );
  return rows.map(readEvent);
}

/** One event by its id. */
export async function findEvent(db: Queryable, sessionId: string, id: string): Promise<EventEnvelope | undefined> {
  const { rows } = await db.query<EventRow>('SELECT * FROM events WHERE session_id = $1 AND id = $2', [sessionId, id]);
  return rows[0] && readEvent(rows[0]);
}

/** Replaces the payload of an event, not its position in the log. */
export async function replacePayload(
  tx: Queryable,
  sessionId: string,
  id: string,
  payload: EventEnvelope['payload'],
): Promise<EventEnvelope | undefined> {
  const { rows } = await tx.query<EventRow>(
    'UPDATE events SET payload = $3::jsonb WHERE session_id = $1 AND id = $2 RETURNING *',
    [sessionId, id, encodeJson(payload)],
  );
  return rows[0] && readEvent(rows[0]);
}

/** The session's last sequence, if the organization has it. */
export async function findLogEnd(
  db: Queryable,
  organizationId: string,
  sessionId: string,
): Promise<number | undefined> {
  const { rows } = await db.query<{ last_sequence: number }>(
    'SELECT last_sequence FROM sessions WHERE id = $1 AND organization_id = $2',
    [sessionId, organizationId],
  );
  return rows[0]?.last_sequence;
}

/** The session's last sequence and the ids of its latest `count` events; undefined when there is no such session. */
export async function findLogTail(
  db: Queryable,
  sessionId: string,
  count: number,
): Promise<{ sequence: number; ids: string[] } | undefined> {
  const { rows } = await db.query<{ last_sequence: number; ids: string[] }>(
    `SELECT last_sequence, ARRAY(SELECT e.id FROM events e WHERE e.session_id = s.id AND e.sequence > s.last_sequence - $2
       ORDER BY e.sequence) AS ids
     FROM sessions s WHERE s.id = $1`,
    [sessionId, count],
  );
  return rows[0] && { sequence: rows[0].last_sequence, ids: rows[0].ids };
}

/** The log past a sequence, for the loop: all of it, or the part within an extent. */
export async function readLog(
  db: Queryable,
  sessionId: string,
  after: number,
  extent: LogExtent | null = null,
): Promise<LogEvent[]> {
  const { rows } =
    extent === null
      ? await db.query<EventRow>(READ_ALL, [sessionId, after])
      : await db.query<EventRow>(READ_EXTENT, [sessionId, after, extent.head, extent.from, extent.also]);
  return rows.map((row) => readLogEvent(readEvent(row), row.internal));
}

/** The last sequence of each session that exists. */
export async function findLastSequences(db: Queryable, sessionIds: readonly string[]): Promise<Map<string, number>> {
  const { rows } = await db.query<{ id: string; last_sequence: number }>(
    'SELECT id, last_sequence FROM sessions WHERE id = ANY($1::text[])',
    [sessionIds],
  );
  return new Map(rows.map((row) => [row.id, row.last_sequence]));
}
