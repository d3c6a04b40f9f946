import type { Queryable } from '../../platform/db/db.ts';
import { readPage } from '../../platform/store/pages.ts';
import type { Keyset, PageOf, PageRequest } from '../../platform/store/pages.ts';
import type { NewGeneration } from './submits.ts';

export type GenerationState = 'queued' | 'generating' | 'completed' | 'failed';

export type StoredGeneration = NewGeneration & {
  organizationId: string;
  state: GenerationState;
  queueTag: number;
  attempt: number;
  handle: string | null;
  progress: number;
  error: string | null;
  assetId: string | null;
  videoKey: string | null;
  thumbnailKey: string | null;
  slug: string | null;
  expired: boolean;
  createdAt: Date;
  startedAt: Date | null;
  completedAt: Date | null;
};

const COLUMNS = `id, organization_id AS "organizationId", job_id AS "jobId", state, model_name AS "modelName", variant, prompt,
  template_id AS "templateId", request AS plan, credits, deadline_seconds AS "deadlineSeconds",
  webhook_url AS "webhookUrl", queue_tag AS "queueTag", attempt, handle, progress, error, asset_id AS "assetId",
  video_key AS "videoKey", thumbnail_key AS "thumbnailKey", slug, expired, created_at AS "createdAt",
  started_at AS "startedAt", completed_at AS "completedAt"`;

export async function findGeneration(
  db: Queryable,
  organizationId: string,
  id: string,
): Promise<StoredGeneration | undefined> {
  const { rows } = await db.query<StoredGeneration>(
    `SELECT ${COLUMNS} FROM generations WHERE id = $1 AND organization_id = $2`,
    [id, organizationId],
  );
  return rows[0];
}

/** By the slug of its public page. */
export async function findSharedGeneration(db: Queryable, slug: string): Promise<StoredGeneration | undefined> {
  const { rows } = await db.query<StoredGeneration>(`SELECT ${COLUMNS} FROM generations WHERE slug = $1`, [slug]);
  return rows[0];
}

const NEWEST_FIRST: Keyset = { name: 'generations', keys: [{ sql: 'id', type: 'text' }], direction: 'DESC' };

/** Newest first. Throws `validation_error` for a bad cursor. */
export async function listGenerations(
  db: Queryable,
  organizationId: string,
  page: PageRequest,
  states: readonly GenerationState[],
): Promise<PageOf<StoredGeneration>> {
  const from = 'FROM generations WHERE organization_id = $1 AND state = ANY($2::text[])';
  const params = [organizationId, states];
  return readPage(db, { columns: COLUMNS, from, params, keyset: NEWEST_FIRST, counted: false }, page);
}

/** Counts the generations ahead of each of these queue positions, up to 1,000. */
export async function countAhead(db: Queryable, queueTags: readonly number[]): Promise<Map<number, number>> {
  if (queueTags.length === 0) return new Map();
  const { rows } = await db.query<{ tag: number; ahead: number }>(
    `SELECT t.tag, (SELECT count(*) FROM (
       SELECT 1 FROM generations WHERE state = 'queued' AND queue_tag < t.tag LIMIT 1000) AS before) AS ahead
     FROM unnest($1::bigint[]) AS t (tag)`,
    [queueTags.map(String)],
  );
  return new Map(rows.map(({ tag, ahead }) => [tag, ahead]));
}

/** Starts an attempt unless the generation has ended. Earlier attempts can no longer end the generation. */
export async function claimGeneration(db: Queryable, id: string): Promise<StoredGeneration | undefined> {
  const { rows } = await db.query<StoredGeneration>(
    `WITH claimed AS (
       UPDATE generations SET state = 'generating', attempt = attempt + 1, started_at = coalesce(started_at, now())
       WHERE id = $1 AND state IN ('queued', 'generating') RETURNING *),
     clock AS (
       UPDATE video_clock v SET tag = c.queue_tag FROM claimed c WHERE v.tag < c.queue_tag)
     SELECT ${COLUMNS} FROM claimed`,
    [id],
  );
  return rows[0];
}

/** An attempt may write until another attempt starts or the generation ends. */
export type Attempt = { id: string; attempt: number };
const HELD = `id = $1 AND attempt = $2 AND state = 'generating'`;

export async function saveHandle(db: Queryable, { id, attempt }: Attempt, handle: string): Promise<boolean> {
  const { rowCount } = await db.query(`UPDATE generations SET handle = $3 WHERE ${HELD}`, [id, attempt, handle]);
  return rowCount === 1;
}

export async function saveProgress(db: Queryable, { id, attempt }: Attempt, progress: number): Promise<void> {
  await db.query(`UPDATE generations SET progress = greatest(progress, $3) WHERE ${HELD}`, [id, attempt, progress]);
}

export type Result = { assetId: string; videoKey: string; thumbnailKey: string; slug: string };

/** Undefined if the attempt no longer holds the generation. */
export async function completeGeneration(
  tx: Queryable,
  { id, attempt }: Attempt,
  result: Result,
): Promise<StoredGeneration | undefined> {
  const { rows } = await tx.query<StoredGeneration>(
    `UPDATE generations SET state = 'completed', progress = 1, asset_id = $3, video_key = $4, thumbnail_key = $5,
       slug = $6, completed_at = now() WHERE ${HELD} RETURNING ${COLUMNS}`,
    [id, attempt, result.assetId, result.videoKey, result.thumbnailKey, result.slug],
  );
  return rows[0];
}

/** With `attempt`, only while that attempt holds the generation; without, in every state that is not final. */
export async function failGeneration(
  tx: Queryable,
  id: string,
  error: string,
  attempt?: number,
): Promise<StoredGeneration | undefined> {
  const { rows } = await tx.query<StoredGeneration>(
    `UPDATE generations SET state = 'failed', error = $2, completed_at = now()
     WHERE id = $1 AND state IN ('queued', 'generating') AND ($3::integer IS NULL OR attempt = $3)
     RETURNING ${COLUMNS}`,
    [id, error, attempt ?? null],
  );
  return rows[0];
}

/** Up to 100 overdue generations: a minute past their deadline, or queued for `queueHours`. */
export async function listOverdue(db: Queryable, queueHours: number): Promise<string[]> {
  const { rows } = await db.query<{ id: string }>(
    `SELECT id FROM generations WHERE state IN ('queued', 'generating') AND (
       started_at + deadline_seconds * interval '1 second' + interval '1 minute' < now()
       OR (state = 'queued' AND created_at < now() - $1 * interval '1 hour'))
     ORDER BY created_at LIMIT 100`,
    [queueHours],
  );
  return rows.map(({ id }) => id);
}

/** The embedded database belongs to one process, so renders that it lists at start are not running anywhere. */
export async function listUnderWay(db: Queryable): Promise<{ jobId: string }[]> {
  const { rows } = await db.query<{ jobId: string }>(
    `SELECT job_id AS "jobId" FROM generations WHERE state = 'generating'`,
  );
  return rows;
}

/** Revokes the public page. */
export async function dropSlug(db: Queryable, organizationId: string, id: string): Promise<void> {
  await db.query('UPDATE generations SET slug = NULL WHERE id = $1 AND organization_id = $2', [id, organizationId]);
}

/** Marks up to 100 expired results as deleted and returns them. They are hidden; their objects may be deleted. */
export async function expireResults(
  db: Queryable,
  retentionDays: number,
): Promise<{ id: string; organizationId: string }[]> {
  const { rows } = await db.query<{ id: string; organizationId: string }>(
    `WITH old AS (
       UPDATE generations SET expired = true, slug = NULL WHERE id IN (
         SELECT id FROM generations WHERE state = 'completed' AND NOT expired
           AND completed_at < now() - $1 * interval '1 day' ORDER BY completed_at LIMIT 100 FOR UPDATE SKIP LOCKED)
       RETURNING id, organization_id),
     assets AS (DELETE FROM video_assets WHERE generation_id IN (SELECT id FROM old))
     SELECT id, organization_id AS "organizationId" FROM old`,
    [retentionDays],
  );
  return rows;
}
