import { setTimeout as sleep } from 'node:timers/promises';
import { onRenderEnded, onRendersQueued } from '../channels.ts';
import { CapstanError, errorText } from '../../platform/errors.ts';
import { listUnderWay } from '../store/generations.ts';
import { JobRunner } from '../../platform/jobs/job-runner.ts';
import { PollGate } from '../../platform/jobs/poll-gate.ts';
import { startPeriodicTasks } from '../../platform/jobs/periodic-tasks.ts';
import type { Logger } from '../../platform/log.ts';
import type { RenderJob, VideoQueue, WebhookJob } from '../jobs/queue.ts';
import type { VideoWorkerPorts } from './ports.ts';
import { deliverWebhook } from '../webhooks/deliver.ts';
import { RenderLostError, runRender } from './run.ts';
import { endOverdue, sweepObjects } from './sweep.ts';

export type VideoWorkerOptions = {
  /** renders at once */
  concurrency: number;
  /** the service's address in webhooks */
  readonly base: string;
  /** ms that a shutdown lets renders go on */
  drainMs: number;
};

const POLL_MS = 2000;
/** The queue does not tell when a retry is due. */
const MAX_SKIP_MS = 5000;
/** A third of the silence after which the queue gives a render to another worker. */
const HEARTBEAT_MS = 3000;
const OVERDUE_MS = 10_000;
const SWEEP_MS = 300_000;
/** Wait before a render that failed here is returned to the queue, so that it is not retried in a tight loop. */
const RETURN_DELAY_MS = 1000;
const MAX_WEBHOOKS = 8;

/** The worker shuts down; another worker takes the render. */
class ShutdownError extends CapstanError<'shutdown'> {
  constructor(message: string) {
    super('shutdown', message);
  }
}

const warn = (log: Logger, message: string) => (error: unknown) => log.warn({ error: errorText(error) }, message);

/** Runs a render. One that failed here, or that a shutdown interrupted, returns to the queue. */
async function runQueuedRender(ports: VideoWorkerPorts, job: RenderJob, signal: AbortSignal): Promise<void> {
  const { log, queue } = ports;
  try {
    await runRender(ports, job, signal);
  } catch (error) {
    if (error instanceof RenderLostError) return;
    if (!(error instanceof ShutdownError)) {
      log.error({ generationId: job.generationId, error: errorText(error) }, 'render interrupted; it is retried');
      await sleep(RETURN_DELAY_MS, undefined, { signal }).catch(() => undefined);
    }
    await queue.returnRender(job).catch(warn(log, 'could not return a render; its lease will expire'));
  }
}

async function callWebhook(ports: VideoWorkerPorts, base: string, job: WebhookJob): Promise<void> {
  const { log, queue } = ports;
  try {
    await deliverWebhook(ports, base, job);
    await queue.finishWebhook(job);
  } catch (error) {
    log.info({ generationId: job.data.generationId, error: errorText(error) }, 'webhook delivery failed');
    await queue.failWebhook(job).catch(warn(log, 'could not return a webhook; its lease will expire'));
  }
}

function buildRenders(ports: VideoWorkerPorts, concurrency: number): JobRunner<RenderJob> {
  return new JobRunner({
    capacity: concurrency,
    keyOf: (job) => job.generationId,
    fetch: (free) => ports.queue.fetchRenders(free),
    run: (job, signal) => runQueuedRender(ports, job, signal),
    onFetchError: warn(ports.log, 'could not fetch renders'),
  });
}

function buildWebhooks(ports: VideoWorkerPorts, base: string): JobRunner<WebhookJob> {
  return new JobRunner({
    capacity: MAX_WEBHOOKS,
    keyOf: (job) => job.id,
    fetch: (free) => ports.queue.fetchWebhooks(free),
    run: (job) => callWebhook(ports, base, job),
    onFetchError: warn(ports.log, 'could not fetch webhooks'),
  });
}

/** Renews the leases of all renders, and stops those whose lease is gone. */
async function renewLeases(renders: JobRunner<RenderJob>, queue: VideoQueue): Promise<void> {
  await Promise.all(
    renders.jobs().map(async (job) => {
      if (await queue.renewLease(job)) return;
      renders.abort(job.generationId, new RenderLostError('The job was cancelled or moved to another worker.'), job);
    }),
  );
}

/** Runs renders and webhooks from the queue, and sweeps. Resolves once it listens for new renders. */
export async function startVideoWorker(
  ports: VideoWorkerPorts,
  options: VideoWorkerOptions,
): Promise<{ close(): Promise<void> }> {
  const { db, bus, queue, log } = ports;
  const renders = buildRenders(ports, options.concurrency);
  const webhooks = buildWebhooks(ports, options.base);

  // The embedded database has one process: renders that it left unfinished can be returned at once.
  if (db.embedded) for (const { jobId } of await listUnderWay(db)) await queue.returnRender(jobId);
  const cancelled = () => new RenderLostError('The generation was cancelled.');
  const subscriptions = [
    await onRendersQueued(bus, () => renders.fetch()),
    await onRenderEnded(bus, (id) => renders.abort(id, cancelled())),
  ];
  const openGate = () => new PollGate({ revision: db.revision, maxSkipMs: MAX_SKIP_MS });
  const tasks = startPeriodicTasks(
    [
      { name: 'fetch renders', periodMs: POLL_MS, immediately: true, gate: openGate(), run: () => renders.fetch() },
      { name: 'fetch webhooks', periodMs: POLL_MS, gate: openGate(), run: () => webhooks.fetch() },
      { name: 'renew the leases of renders', periodMs: HEARTBEAT_MS, run: () => renewLeases(renders, queue) },
      { name: 'end overdue generations', periodMs: OVERDUE_MS, run: () => endOverdue(ports) },
      { name: 'delete expired files', periodMs: SWEEP_MS, run: () => sweepObjects(ports) },
    ],
    log,
  );

  return {
    async close() {
      subscriptions.forEach((subscription) => subscription.close());
      const reason = new ShutdownError('The worker shuts down.');
      // A webhook has its own deadline and is never aborted.
      await Promise.all([renders.drain(options.drainMs, reason), webhooks.drain(options.drainMs, reason)]);
      await tasks.close();
    },
  };
}
