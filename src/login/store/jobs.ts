import type { Db } from '../../platform/db/db.ts';

export type JobClaim = 'taken' | 'too-many' | 'under-way';

/**
 * Claims a job: at most `limit` concurrent jobs of an organization across all replicas, not counting those that wait for
 * an answer, and one per key. A claim holds until it is released, `holdMs` at most.
 */
export function claimLoginJob(
  db: Db,
  job: { id: string; organizationId: string; key: string | null; limit: number; holdMs: number },
): Promise<JobClaim> {
  return db.transaction(async (tx) => {
    // Locking the organization's row serializes its claims, so that two cannot both be the last one.
    await tx.query('SELECT id FROM organizations WHERE id = $1 FOR UPDATE', [job.organizationId]);
    // one that lasts longer than any can is from before the clock was set back
    await tx.query(
      `DELETE FROM login_jobs WHERE organization_id = $1
         AND (expires_at <= now() OR expires_at > now() + interval '6 hours')`,
      [job.organizationId],
    );
    const { rows } = await tx.query<{ count: number; same: boolean | null }>(
      `SELECT count(*) FILTER (WHERE NOT waiting) AS count, bool_or(key = $2) AS same
       FROM login_jobs WHERE organization_id = $1`,
      [job.organizationId, job.key],
    );
    const [found] = rows;
    if (found?.same === true) return 'under-way';
    if ((found?.count ?? 0) >= job.limit) return 'too-many';
    await tx.query(
      `INSERT INTO login_jobs (id, organization_id, key, expires_at)
       VALUES ($1, $2, $3, now() + $4::float8 * interval '1 millisecond')`,
      [job.id, job.organizationId, job.key, job.holdMs],
    );
    return 'taken';
  });
}

export async function releaseLoginJob(db: Db, organizationId: string, id: string): Promise<void> {
  await db.query('DELETE FROM login_jobs WHERE id = $1 AND organization_id = $2', [id, organizationId]);
}

/** Marks a job as waiting for an answer; false when `limit` jobs of the organization wait already. */
export function markLoginJobWaiting(db: Db, organizationId: string, id: string, limit: number): Promise<boolean> {
  return db.transaction(async (tx) => {
    await tx.query('SELECT id FROM organizations WHERE id = $1 FOR UPDATE', [organizationId]);
    const { rows } = await tx.query(
      `UPDATE login_jobs SET waiting = true WHERE id = $1 AND organization_id = $2
         AND (SELECT count(*) FROM login_jobs WHERE organization_id = $2 AND waiting AND expires_at > now()) < $3
       RETURNING id`,
      [id, organizationId, limit],
    );
    return rows.length > 0;
  });
}

/** Marks a job as running again. It may exceed the limit for a while, since it can no longer be rejected. */
export async function resumeLoginJob(db: Db, organizationId: string, id: string): Promise<void> {
  await db.query('UPDATE login_jobs SET waiting = false WHERE id = $1 AND organization_id = $2', [id, organizationId]);
}

export async function isLoginUnderWay(db: Db, organizationId: string, key: string): Promise<boolean> {
  const { rows } = await db.query(
    'SELECT 1 FROM login_jobs WHERE organization_id = $1 AND key = $2 AND expires_at > now()',
    [organizationId, key],
  );
  return rows.length > 0;
}

export async function clearLoginJobs(db: Db): Promise<void> {
  await db.query('DELETE FROM login_jobs');
}
