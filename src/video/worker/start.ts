import { setTimeout as sleep } from 'node:timers/promises';
import { onRenderEnded, onRendersQueued } from '../channels.ts';
import { CapstanError, errorText } from '../../platform/errors.ts';
import { listUnderWay } from '../store/generations.ts';
import type { RenderJob, WebhookJob } from '../jobs/queue.ts';
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

type ActiveRender = { job: RenderJob; lost: AbortController; done: Promise<void> };

const POLL_MS = 1000;
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

/** Runs queued renders and webhook calls. Fetches one batch at a time. */
class VideoWorker {
  readonly #ports: VideoWorkerPorts;
  readonly #options: VideoWorkerOptions;
  readonly #renders = new Map<string, ActiveRender>();
  readonly #webhooks = new Set<Promise<void>>();
  readonly #stop: AbortController;
  #draining = false;
  #fetching: Promise<void> | undefined;
  #fetchAgain = false;

  constructor(ports: VideoWorkerPorts, options: VideoWorkerOptions, stop: AbortController) {
    this.#ports = ports;
    this.#options = options;
    this.#stop = stop;
  }

  /** Fetches renders; when a fetch is in progress already, another one follows it. */
  fetchRenders(): void {
    this.#fetchAgain = true;
    if (this.#draining) return;
    this.#fetching ??= this.#fetchWhileFree()
      .catch(this.#warn('could not fetch renders'))
      .finally(() => (this.#fetching = undefined));
  }

  /** Stops a render that was cancelled. */
  cancelRender(generationId: string): void {
    this.#renders.get(generationId)?.lost.abort(new RenderLostError('The generation was cancelled.'));
  }

  /** Renews the leases of all renders, and stops those whose lease is gone. */
  async renewLeases(): Promise<void> {
    await Promise.all(
      [...this.#renders.values()].map(async ({ job, lost }) => {
        const renewed = await this.#ports.queue.renewLease(job);
        if (!renewed && this.#renders.get(job.generationId)?.job === job) {
          lost.abort(new RenderLostError('The job was cancelled or moved to another worker.'));
        }
      }),
    );
  }

  async fetchWebhooks(): Promise<void> {
    const free = MAX_WEBHOOKS - this.#webhooks.size;
    if (free <= 0 || this.#draining) return;
    for (const job of await this.#ports.queue.fetchWebhooks(free)) {
      const done: Promise<void> = this.#callWebhook(job).finally(() => this.#webhooks.delete(done));
      this.#webhooks.add(done);
    }
  }

  /** Lets renders go on for `drainMs`, then returns them to the queue. */
  async drain(): Promise<void> {
    this.#draining = true;
    await this.#fetching;
    await Promise.race([this.#waitForRenders(), sleep(this.#options.drainMs, undefined, { ref: false })]);
    this.#stop.abort();
    for (const { lost } of this.#renders.values()) lost.abort(new ShutdownError('The worker shuts down.'));
    await Promise.all([this.#waitForRenders(), ...this.#webhooks]);
  }

  async #waitForRenders(): Promise<void> {
    await Promise.all([...this.#renders.values()].map(({ done }) => done));
  }

  async #fetchWhileFree(): Promise<void> {
    do {
      this.#fetchAgain = false;
      const free = this.#options.concurrency - this.#renders.size;
      if (free <= 0 || this.#draining) return;
      for (const job of await this.#ports.queue.fetchRenders(free)) this.#startRender(job);
    } while (this.#fetchAgain);
  }

  #startRender(job: RenderJob): void {
    const lost = new AbortController();
    const render: ActiveRender = { job, lost, done: Promise.resolve() };
    this.#renders.set(job.generationId, render);
    render.done = this.#run(job, lost);
  }

  async #run(job: RenderJob, lost: AbortController): Promise<void> {
    const { log, queue } = this.#ports;
    try {
      await runRender(this.#ports, job, lost.signal);
    } catch (error) {
      if (error instanceof RenderLostError) return;
      if (!(error instanceof ShutdownError)) {
        log.error({ generationId: job.generationId, error: errorText(error) }, 'render interrupted; it is retried');
        await sleep(RETURN_DELAY_MS, undefined, { signal: this.#stop.signal }).catch(() => undefined);
      }
      await queue.returnRender(job).catch(this.#warn('could not return a render; its lease will expire'));
    } finally {
      this.#renders.delete(job.generationId);
      this.fetchRenders();
    }
  }

  async #callWebhook(job: WebhookJob): Promise<void> {
    const { log, queue } = this.#ports;
    try {
      await deliverWebhook(this.#ports, this.#options.base, job);
      await queue.finishWebhook(job);
    } catch (error) {
      log.info({ generationId: job.data.generationId, error: errorText(error) }, 'webhook delivery failed');
      await queue.failWebhook(job).catch(this.#warn('could not return a webhook; its lease will expire'));
    }
  }

  #warn(message: string): (error: unknown) => void {
    return (error) => this.#ports.log.warn({ error: errorText(error) }, message);
  }
}

/** Runs renders and webhooks from the queue, and sweeps. Resolves once it listens for new renders. */
export async function startVideoWorker(
  ports: VideoWorkerPorts,
  options: VideoWorkerOptions,
): Promise<{ close(): Promise<void> }> {
  const { db, bus, queue, log } = ports;
  const stop = new AbortController();
  const worker = new VideoWorker(ports, options, stop);

  const every = async (periodMs: number, task: string, work: () => Promise<void> | void) => {
    while (!stop.signal.aborted) {
      await sleep(periodMs * (0.8 + Math.random() * 0.4), undefined, { signal: stop.signal }).catch(() => undefined);
      if (stop.signal.aborted) return;
      await Promise.resolve(work()).catch((error: unknown) => {
        log.warn({ error: errorText(error) }, `could not ${task}`);
      });
    }
  };

  // The embedded database has one process: renders that it left unfinished can be returned at once.
  if (db.embedded) for (const { jobId } of await listUnderWay(db)) await queue.returnRender(jobId);
  const subscriptions = [
    await onRendersQueued(bus, () => worker.fetchRenders()),
    await onRenderEnded(bus, (id) => worker.cancelRender(id)),
  ];
  const loops = [
    every(POLL_MS, 'fetch renders', () => worker.fetchRenders()),
    every(POLL_MS, 'fetch webhooks', () => worker.fetchWebhooks()),
    every(HEARTBEAT_MS, 'renew the leases of renders', () => worker.renewLeases()),
    every(OVERDUE_MS, 'end overdue generations', () => endOverdue(ports)),
    every(SWEEP_MS, 'delete expired files', () => sweepObjects(ports)),
  ];
  worker.fetchRenders();

  return {
    async close() {
      subscriptions.forEach((subscription) => subscription.close());
      await worker.drain();
      await Promise.all(loops);
    },
  };
}
