import type { VideoEnginesConfig } from './contract/engines.ts';
import type { Lifecycle } from '../platform/lifecycle.ts';
import { buildModels } from './deps.ts';
import type { VideoPorts } from './deps.ts';
import { openEngines } from './engines/open-engines.ts';
import { buildSubmitter } from './generations/submitter.ts';
import { openVideoQueue } from './jobs/queue.ts';
import type { VideoSettings } from './settings.ts';
import { startVideoWorker } from './worker/start.ts';

type Backends = Omit<VideoPorts, 'queue' | 'submitter' | 'models' | 'settings'>;

export type VideoOptions = {
  engines: VideoEnginesConfig;
  settings: VideoSettings;
  /** renders at once */
  concurrency: number;
  /** base URL in webhooks */
  readonly base: string;
  /** ms that a shutdown lets renders go on */
  drainMs: number;
};

/** Opens the queue and the engines, without a worker. */
export async function openVideoPorts(
  backends: Backends,
  options: Pick<VideoOptions, 'engines' | 'settings'>,
  lifecycle: Lifecycle,
): Promise<VideoPorts> {
  const queue = lifecycle.use('video queue', await openVideoQueue(backends));
  const engines = openEngines(options.engines, backends);
  lifecycle.onClose('video engines', async () => {
    for (const engine of engines) await engine.close?.();
  });
  const { settings } = options;
  const submitter = buildSubmitter({ ...backends, queue, settings });
  return { ...backends, queue, submitter, models: buildModels(engines), settings };
}

/** Opens the queue and the engines, and starts a worker. */
export async function openVideo(backends: Backends, options: VideoOptions, lifecycle: Lifecycle): Promise<VideoPorts> {
  const ports = await openVideoPorts(backends, options, lifecycle);
  lifecycle.use('video worker', await startVideoWorker(ports, options));
  return ports;
}
