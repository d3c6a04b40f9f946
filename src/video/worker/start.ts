import { setTimeout as sleep } from 'node:timers/promises';
import { onRenderEnded, onRendersQueued } from '../channels.ts';
import type { Bus } from '../../platform/bus/bus.ts';
import type { Db } from '../../platform/db/db.ts';
import type { Objects } from '../../platform/objects/objects.ts';
import type { Egress } from '../../platform/egress/egress.ts';
import { errorText } from '../../platform/errors.ts';
import type { Logger } from '../../platform/log.ts';
import type { MasterKeys } from '../../platform/master-key.ts';
import { listUnderWay } from '../store/generations.ts';
import type { Models, VideoSettings } from '../deps.ts';
import type { RenderJob, VideoQueue, WebhookJob } from '../jobs/queue.ts';
import { deliverWebhook } from '../webhooks/deliver.ts';
import { RenderLostError, runRender } from './run.ts';
import { endOverdue, sweepObjects } from './sweep.ts';

export type VideoWorkerPorts = {
  db: Db;
  bus: Bus;
  objects: Objects;
  egress: Egress;
  masterKeys: MasterKeys;
  queue: VideoQueue;
  models: Models;
  settings: VideoSettings;
  log: Logger;
};

export type VideoWorkerOptions = {
  /** renders at once */
  concurrency: number;
  /** the service's address in webhooks */
  readonly base: string;
  /** ms that a shutdown lets renders go on */
  drainMs: number;
};

type Running = { job: RenderJob; lost: AbortController; done: Promise<void> };

const POLL_MS = 1000;
/** A third of the silence after which the queue gives a render to others. */
const KEEP_MS = 3000;
const OVERDUE_MS = 10_000;
const SWEEP_MS = 300_000;
/** Before a render that met trouble of our own goes back, lest it spins. */
const PAUSE_MS = 1000;
const WEBHOOKS_AT_ONCE = 8;

/** The role ends; renders go on elsewhere. */
class ShutdownError extends Error {}

/** Takes renders from the queue and ends them, calls webhooks, and sweeps. Resolves when it listens. */
export async function startVideoWorker(
  ports: VideoWorkerPorts,
  options: VideoWorkerOptions,
): Promise<{ close(): Promise<void> }> {
  const { db, bus, queue, log } = ports;
  const running = new Map<string, Running>();
  const calls = new Set<Promise<void>>();
  const stop = new AbortController();
  let draining = false;
  let fetching: Promise<void> | undefined;
  let again = false;

  const warn = (what: string) => (error: unknown) => log.warn({ error: errorText(error) }, what);

  const run = async (job: RenderJob, lost: AbortController) => {
    try {
      await runRender(ports, job, lost.signal);
    } catch (error) {
      if (error instanceof RenderLostError) return;
      if (!(error instanceof ShutdownError)) {
        log.error({ generationId: job.generationId, error: errorText(error) }, 'a render could not go on');
        await sleep(PAUSE_MS, undefined, { signal: stop.signal }).catch(() => undefined);
      }
      await queue.returnRender(job).catch(warn('a render was not given back; its lease will run out'));
    } finally {
      running.delete(job.generationId);
      look();
    }
  };

  const start = (job: RenderJob) => {
    const lost = new AbortController();
    const entry: Running = { job, lost, done: Promise.resolve() };
    running.set(job.generationId, entry);
    entry.done = run(job, lost);
  };

  const fetchRenders = async () => {
    do {
      again = false;
      const free = options.concurrency - running.size;
      if (free <= 0 || draining) return;
      (await queue.fetchRenders(free)).forEach(start);
    } while (again);
  };

  /** One look at a time; what is queued meanwhile is looked for once more. */
  const look = () => {
    again = true;
    if (draining) return;
    fetching ??= fetchRenders()
      .catch(warn('could not look for renders'))
      .finally(() => (fetching = undefined));
  };

  const keep = async () => {
    await Promise.all(
      [...running.values()].map(async ({ job, lost }) => {
        if (!(await queue.keep(job)) && running.get(job.generationId)?.job === job) {
          lost.abort(new RenderLostError('The job has gone to another worker, or was cancelled.'));
        }
      }),
    );
  };

  const call = async (job: WebhookJob) => {
    try {
      await deliverWebhook(ports, options.base, job);
      await queue.finishWebhook(job);
    } catch (error) {
      log.info({ generationId: job.data.generationId, error: errorText(error) }, 'a webhook was not taken');
      await queue.failWebhook(job).catch(warn('a webhook was not given back'));
    }
  };

  const callWebhooks = async () => {
    const free = WEBHOOKS_AT_ONCE - calls.size;
    if (free <= 0 || draining) return;
    for (const job of await queue.fetchWebhooks(free)) {
      const done: Promise<void> = call(job).finally(() => calls.delete(done));
      calls.add(done);
    }
  };

  const every = async (periodMs: number, what: string, work: () => Promise<void> | void) => {
    while (!stop.signal.aborted) {
      await sleep(periodMs * (0.8 + Math.random() * 0.4), undefined, { signal: stop.signal }).catch(() => undefined);
      if (stop.signal.aborted) return;
      await Promise.resolve(work()).catch(warn(`could not ${what}`));
    }
  };

  // What was under way when the embedded database's one process ended can go on at once.
  if (db.embedded) for (const { jobId } of await listUnderWay(db)) await queue.returnRender(jobId);
  const subscriptions = [
    await onRendersQueued(bus, look),
    await onRenderEnded(bus, (id) => running.get(id)?.lost.abort(new RenderLostError('The generation was cancelled.'))),
  ];
  const loops = [
    every(POLL_MS, 'look for renders', look),
    every(POLL_MS, 'call webhooks', callWebhooks),
    every(KEEP_MS, 'keep renders', keep),
    every(OVERDUE_MS, 'end overdue generations', () => endOverdue(ports)),
    every(SWEEP_MS, 'sweep', () => sweepObjects(ports)),
  ];
  look();

  return {
    async close() {
      subscriptions.forEach((subscription) => subscription.close());
      draining = true;
      await fetching;
      const renders = () => Promise.all([...running.values()].map(({ done }) => done));
      await Promise.race([renders(), sleep(options.drainMs, undefined, { ref: false })]);
      stop.abort();
      for (const { lost } of running.values()) lost.abort(new ShutdownError('The role ends.'));
      await Promise.all([renders(), ...calls]);
      await Promise.all(loops);
    },
  };
}
