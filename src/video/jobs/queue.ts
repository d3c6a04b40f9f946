// Tests: test/video/submitter.test.ts, test/video/crash.test.ts
import { randomUUID } from 'node:crypto';
import { PgBoss } from 'pg-boss';
import type { Db as BossDb } from 'pg-boss';
import type { Db, Queryable } from '../../platform/db/db.ts';
import { errorText } from '../../platform/errors.ts';
import type { Logger } from '../../platform/log.ts';

/** One claim of a job. It has no effect once another worker has claimed the job. */
export type JobAttempt = { id: string; retryCount: number };

export type RenderJob = JobAttempt & { generationId: string };
export type WebhookJob = JobAttempt & { data: WebhookData };
export type WebhookData = { url: string; organizationId: string; generationId: string; event: string };

/** Jobs of the video service: renders and webhooks. Methods with a `tx` are part of that transaction. */
export type VideoQueue = {
  addRenders(tx: Queryable, jobs: readonly { id: string; generationId: string; queueTag: number }[]): Promise<void>;
  addWebhook(tx: Queryable, data: WebhookData): Promise<void>;
  /** Lowest place first. */
  fetchRenders(count: number): Promise<RenderJob[]>;
  fetchWebhooks(count: number): Promise<WebhookJob[]>;
  /** False when the job is no longer this attempt's. */
  renewLease(job: JobAttempt): Promise<boolean>;
  finishRender(tx: Queryable, job: JobAttempt): Promise<void>;
  /** Returns a render to the queue. */
  returnRender(jobId: string | JobAttempt): Promise<void>;
  cancelRender(tx: Queryable, jobId: string): Promise<void>;
  finishWebhook(job: JobAttempt): Promise<void>;
  /** Retried later, up to a maximum number of tries. */
  failWebhook(job: JobAttempt): Promise<void>;
  close(): Promise<void>;
};

const SCHEMA = 'video_jobs';
const RENDERS = 'renders';
const WEBHOOKS = 'webhooks';
/** Seconds without a heartbeat until another worker may take a job; the library's minimum. */
const SILENCE_SECONDS = 10;
/** How often silent workers are looked for. An embedded database has no other worker than this one. */
const SUPERVISE_SECONDS = 2;
const EMBEDDED_SUPERVISE_SECONDS = 60;
/** How often jobs are looked for that wait for other jobs. None does. */
const FLOW_SECONDS = 3600;
/** An upper bound; the model's deadline ends a render much earlier. */
const RENDER_SECONDS = 86_400;
/** A high bound: `runRender` itself ends a render that was attempted too often. */
const RENDER_RETRIES = 1000;
const WEBHOOK_RETRIES = 10;
const DAY_SECONDS = 86_400;

/** Scripts of several statements need `exec`, which takes no parameters. */
const SCRIPT = /^\s*BEGIN\b/;

function adapt(db: Queryable, exec?: Db['exec']): BossDb {
  return {
    executeSql: (text, values) => {
      if (exec !== undefined && SCRIPT.test(text)) return exec(text);
      return db.query(text, values);
    },
  };
}

/**
 * A queue in the same database as the generations, so that charging and queueing are one transaction. The library has its
 * own schema. Throws the database's errors.
 */
export async function openVideoQueue({ db, log }: { db: Db; log: Logger }): Promise<VideoQueue> {
  const superviseSeconds = db.embedded ? EMBEDDED_SUPERVISE_SECONDS : SUPERVISE_SECONDS;
  const boss = new PgBoss({
    db: adapt(db, (sql) => db.exec(sql)),
    schema: SCHEMA,
    backend: db.embedded ? 'pglite' : 'postgres',
    schedule: false,
    reindex: !db.embedded,
    monitorVacuum: false,
    superviseIntervalSeconds: superviseSeconds,
    monitorIntervalSeconds: superviseSeconds,
    flowIntervalSeconds: FLOW_SECONDS,
  });
  boss.on('error', (error) => log.warn({ error: errorText(error) }, 'video queue error'));
  await boss.start();
  const retention = { retentionSeconds: 30 * DAY_SECONDS, deleteAfterSeconds: DAY_SECONDS };
  await boss.createQueue(RENDERS, {
    heartbeatSeconds: SILENCE_SECONDS,
    expireInSeconds: RENDER_SECONDS - 1,
    retryLimit: RENDER_RETRIES,
    ...retention,
  });
  await boss.createQueue(WEBHOOKS, {
    expireInSeconds: 60,
    retryLimit: WEBHOOK_RETRIES,
    retryDelay: 5,
    retryBackoff: true,
    retryDelayMax: 3600,
    ...retention,
  });
  // Fills the library's cache: a lookup inside a transaction would wait for the embedded database's only connection.
  await Promise.all([RENDERS, WEBHOOKS].map((name) => boss.touch(name, randomUUID())));

  return {
    async addRenders(tx, jobs) {
      const inserts = jobs.map(({ id, generationId, queueTag }) => ({
        id,
        data: { generationId },
        priority: -queueTag,
      }));
      await boss.insert(RENDERS, inserts, { db: adapt(tx) });
    },
    async addWebhook(tx, data) {
      await boss.insert(WEBHOOKS, [{ data }], { db: adapt(tx) });
    },
    async fetchRenders(batchSize) {
      const jobs = await boss.fetch<{ generationId: string }>(RENDERS, { batchSize });
      return jobs.map(({ id, retryCount, data }) => ({ id, retryCount, generationId: data.generationId }));
    },
    async fetchWebhooks(batchSize) {
      const jobs = await boss.fetch<WebhookData>(WEBHOOKS, { batchSize });
      return jobs.map(({ id, retryCount, data }) => ({ id, retryCount, data }));
    },
    async renewLease({ id, retryCount }) {
      const { affected } = (await boss.touch(RENDERS, { id, retryCount })) as { affected: number };
      return affected === 1;
    },
    async finishRender(tx, { id, retryCount }) {
      await boss.complete(RENDERS, { id, retryCount }, null, { db: adapt(tx) });
    },
    async returnRender(job) {
      await boss.fail(RENDERS, typeof job === 'string' ? job : { id: job.id, retryCount: job.retryCount });
    },
    async cancelRender(tx, jobId) {
      await boss.cancel(RENDERS, jobId, { db: adapt(tx) });
    },
    async finishWebhook({ id, retryCount }) {
      await boss.complete(WEBHOOKS, { id, retryCount });
    },
    async failWebhook({ id, retryCount }) {
      await boss.fail(WEBHOOKS, { id, retryCount });
    },
    close: () => boss.stop({ graceful: false }),
  };
}
