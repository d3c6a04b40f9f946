import type { Queryable } from '../../platform/db/db.ts';
import type { Subject } from './approvals.ts';

/** How many messages of a subject are scanned, from the newest or the oldest. */
const MAX_LOOKED_THROUGH = 3000;
/** This many matches mean a word in every thirtieth message, for which the index would read thousands of rows. */
const ENOUGH = 100;
/** Matches that are ranked, of each of the two ways to them, at most. */
const MAX_CANDIDATES = 250;
/** Characters of one message in an answer. */
const MAX_TEXT = 2000;
const HEADLINE =
  'StartSel=>>>, StopSel=<<<, MaxFragments=2, MinWords=8, MaxWords=30, FragmentDelimiter=" … ", HighlightAll=false';

export type SessionFacts = {
  sessionId: string;
  title: string | null;
  model: string;
  source: 'conversation' | 'automation';
  startedAt: string;
  lastActive: string;
  messageCount: number;
};
export type Message = { id: number; role: 'user' | 'assistant'; text: string; when: string };

type FactsRow = {
  id: string;
  title: string | null;
  model_name: string;
  automation_id: string | null;
  created_at: Date;
  last_activity_at: Date;
  messages: number;
};
type MessageRow = { session_id: string; sequence: number; role: 'user' | 'assistant'; text: string; created_at: Date };

const FACTS = `s.id, s.title, v.model_name, s.automation_id, s.created_at, s.last_activity_at,
  (SELECT count(*) FROM message_words w WHERE w.session_id = s.id) AS messages`;
const SESSIONS = `sessions s JOIN agent_versions v ON v.id = s.agent_version_id`;
const OWN = 's.organization_id = $1 AND s.agent_id = $2 AND s.subject_id = $3';

function params({ organizationId, agentId, subjectId }: Subject): string[] {
  return [organizationId, agentId, subjectId];
}

function readFacts(row: FactsRow): SessionFacts {
  return {
    sessionId: row.id,
    title: row.title,
    model: row.model_name,
    source: row.automation_id === null ? 'conversation' : 'automation',
    startedAt: row.created_at.toISOString(),
    lastActive: row.last_activity_at.toISOString(),
    messageCount: row.messages,
  };
}

function readMessage(row: MessageRow): Message {
  return { id: row.sequence, role: row.role, text: row.text, when: row.created_at.toISOString() };
}

/**
 * What a caller of search writes, as PostgreSQL takes it: `words*` become prefixes, NOT becomes `-`, AND is implied.
 */
export function readSearchText(source: string): { text: string; prefixes: string } {
  const prefixes: string[] = [];
  const parts = source.split('"').map((part, index) => {
    // Every second part stands between quotes and is left alone.
    if (index % 2 === 1) return part;
    return part
      .replaceAll(/(?<![\p{L}\p{N}_])([\p{L}\p{N}_]+)\*/gu, (_match, word: string) => {
        prefixes.push(`'${word}':*`);
        return ' ';
      })
      .replaceAll(/\bNOT\s+/g, '-')
      .replaceAll(/\bAND\b/g, ' ');
  });
  return { text: parts.join('"'), prefixes: prefixes.join(' & ') };
}

export type FoundHit = {
  session: SessionFacts;
  messageId: number;
  role: 'user' | 'assistant';
  snippet: string;
};

/** The end of the subject's messages at which the scan starts. */
const FROM_END = { relevance: 'DESC', newest: 'DESC', oldest: 'ASC' };
const ORDER = { relevance: 'b.rank DESC, b.session_id DESC', newest: 'b.session_id DESC', oldest: 'b.session_id' };

/** The best matching message of each session of this subject, and how many sessions there are to be searched. */
export async function searchMessages(
  db: Queryable,
  subject: Subject,
  search: {
    text: string;
    limit: number;
    sort: keyof typeof ORDER;
    roles: readonly string[];
    exclude: string;
  },
): Promise<{ hits: FoundHit[]; sessions: number }> {
  const { text, prefixes } = readSearchText(search.text);
  const query = `(websearch_to_tsquery('english', $4) && to_tsquery('english', $5))`;
  const wanted = 'w.role = ANY($6::text[]) AND w.session_id <> $7';
  // The index of words narrows down to the subject by itself; another one beside it would gather all its messages.
  const own = 'w.agent_id IS NOT DISTINCT FROM $2 AND w.subject_id IS NOT DISTINCT FROM $3';
  const end = FROM_END[search.sort];
  // The messages next to the wanted end, one by one, find common words at once; the index finds those that are rare.
  const [{ rows }, count] = await Promise.all([
    db.query<FactsRow & { sequence: number; role: 'user' | 'assistant'; snippet: string | null }>(
      `WITH near AS MATERIALIZED (
         SELECT w.session_id, w.sequence, w.role, w.words FROM (
           SELECT * FROM message_words w WHERE w.agent_id = $2 AND w.subject_id = $3
           ORDER BY w.session_id ${end}, w.sequence ${end} LIMIT ${MAX_LOOKED_THROUGH}) w
         WHERE w.words @@ ${query} AND numnode(${query}) > 0 AND ${wanted} LIMIT ${MAX_CANDIDATES}
       ), found AS MATERIALIZED (
         SELECT w.session_id, w.sequence, w.role, w.words FROM message_words w
         WHERE (SELECT count(*) FROM near) < ${ENOUGH}
           AND w.words @@ (('''' || subject_lexeme($2, $3) || '''')::tsquery && ${query}) AND numnode(${query}) > 0
           AND ${own} AND ${wanted} LIMIT ${MAX_CANDIDATES}
       ), candidates AS (
         SELECT c.session_id, c.sequence, c.role, ts_rank_cd(c.words, ${query}) AS rank
         FROM (SELECT * FROM near UNION ALL SELECT * FROM found) c
       ), best AS (
         SELECT DISTINCT ON (c.session_id) c.* FROM candidates c ORDER BY c.session_id, c.rank DESC, c.sequence DESC
       ), chosen AS (
         SELECT ${FACTS}, b.sequence, b.role, row_number() OVER (ORDER BY ${ORDER[search.sort]}) AS place
         FROM best b JOIN ${SESSIONS} ON s.id = b.session_id
         WHERE ${OWN} ORDER BY place LIMIT $8
       )
       SELECT c.*, (SELECT ts_headline('english', left(message_text(e.payload), 100000), ${query}, '${HEADLINE}')
         FROM events e WHERE e.session_id = c.id AND e.sequence = c.sequence) AS snippet
       FROM chosen c ORDER BY c.place`,
      [...params(subject), text, prefixes, search.roles, search.exclude, search.limit],
    ),
    db.query<{ total: number }>(`SELECT count(*) AS total FROM sessions s WHERE ${OWN} AND s.id <> $4`, [
      ...params(subject),
      search.exclude,
    ]),
  ]);
  const hits = rows.map((row) => ({
    session: readFacts(row),
    messageId: row.sequence,
    role: row.role,
    snippet: row.snippet ?? '',
  }));
  return { hits, sessions: count.rows[0]!.total };
}

/** Numbers the messages of these sessions and keeps those that `wanted` (over `n`, `total` and `hit`) chooses. */
function selectMessages(wanted: string): string {
  return `WITH asked AS (
      SELECT s.id, a.hit FROM unnest($4::text[], $5::bigint[]) AS a (id, hit) JOIN sessions s ON s.id = a.id WHERE ${OWN}
    ), numbered AS (
      SELECT w.session_id, w.sequence, w.role, a.hit,
        row_number() OVER (PARTITION BY w.session_id ORDER BY w.sequence) AS n,
        count(*) OVER (PARTITION BY w.session_id) AS total
      FROM asked a JOIN message_words w ON w.session_id = a.id
    ), placed AS (
      SELECT m.*, max(CASE WHEN m.sequence <= m.hit THEN m.n END) OVER (PARTITION BY m.session_id) AS hit_n
      FROM numbered m
    )
    SELECT p.session_id, p.sequence, p.role, left(message_text(e.payload), ${MAX_TEXT}) AS text, e.created_at, p.n, p.total,
      p.hit_n
    FROM placed p JOIN events e ON e.session_id = p.session_id AND e.sequence = p.sequence
    WHERE ${wanted} ORDER BY p.session_id, p.sequence`;
}
const AROUND = selectMessages('abs(p.n - p.hit_n) <= $6::int OR p.n <= $7::int OR p.n > p.total - $8::int');

export type MessageView = { messages: Message[]; before: number; after: number };

/** Messages around one of each session, and at both ends of it, in order; nothing of another subject's. */
export async function readMessages(
  db: Queryable,
  subject: Subject,
  places: readonly { sessionId: string; messageId: number }[],
  show: { window: number; first: number; last: number },
): Promise<Map<string, MessageView>> {
  const views = new Map<string, MessageView>();
  if (places.length === 0) return views;
  const { rows } = await db.query<MessageRow & { n: number; total: number; hit_n: number | null }>(AROUND, [
    ...params(subject),
    places.map(({ sessionId }) => sessionId),
    places.map(({ messageId }) => messageId),
    show.window,
    show.first,
    show.last,
  ]);
  for (const row of rows) {
    const place = row.hit_n ?? 0;
    const view = views.get(row.session_id) ?? { messages: [], before: place - 1, after: row.total - place };
    view.messages.push(readMessage(row));
    views.set(row.session_id, view);
  }
  return views;
}

export async function findSessionFacts(
  db: Queryable,
  subject: Subject,
  sessionId: string,
): Promise<SessionFacts | undefined> {
  const { rows } = await db.query<FactsRow>(`SELECT ${FACTS} FROM ${SESSIONS} WHERE ${OWN} AND s.id = $4`, [
    ...params(subject),
    sessionId,
  ]);
  return rows[0] && readFacts(rows[0]);
}

/** The latest sessions with the beginning of their first message. */
export async function listRecentSessions(
  db: Queryable,
  subject: Subject,
  limit: number,
  exclude: string,
): Promise<(SessionFacts & { preview: string })[]> {
  const { rows } = await db.query<FactsRow & { preview: string | null }>(
    `SELECT ${FACTS}, (
       SELECT left(message_text(e.payload), 200) FROM events e
       WHERE e.session_id = s.id AND e.type = 'user.message' ORDER BY e.sequence LIMIT 1) AS preview
     FROM ${SESSIONS} WHERE ${OWN} AND s.id <> $4 ORDER BY s.id DESC LIMIT $5`,
    [...params(subject), exclude, limit],
  );
  return rows.map((row) => ({ ...readFacts(row), preview: row.preview ?? '' }));
}
