import { createReadStream } from 'node:fs';
import { errorText } from '../../platform/errors.ts';
import { randomToken } from '../../platform/crypto.ts';
import { newId } from '../../platform/ids.ts';
import { insertAsset } from '../store/assets.ts';
import { endReservation } from '../store/credits.ts';
import { claimGeneration, completeGeneration, saveHandle, saveProgress } from '../store/generations.ts';
import type { StoredGeneration } from '../store/generations.ts';
import type { OfferedModel } from '../deps.ts';
import { RenderError } from '../engines/engine.ts';
import type { RenderResult } from '../engines/engine.ts';
import { addEndWebhook, endWithFailure } from '../generations/end.ts';
import type { Failure } from '../generations/end.ts';
import type { RenderJob } from '../jobs/queue.ts';
import { withScratch } from '../references/inspect.ts';
import { fetchInputs } from './inputs.ts';
import type { VideoWorkerPorts } from './start.ts';

/** The render is somebody else's now, or nobody's: nothing may be written for it any more. */
export class RenderLostError extends Error {}

/** One that has brought down as many workers would bring down the next. */
const MAX_ATTEMPTS = 50;
/** Between two writes of how far a render is. */
const PROGRESS_MS = 1000;
const SLUG_BYTES = 16;
const CONTENT_TYPES = { mp4: 'video/mp4', webm: 'video/webm' } as const;

/** Where the results of an attempt are; every attempt has a place of its own, so that none writes over another's. */
export function resultPrefix(id: string, attempt?: number): string {
  return attempt === undefined ? `results/${id}/` : `results/${id}/${attempt}/`;
}

/**
 * Renders a generation and ends it: completed and settled, or failed and refunded, each in one transaction with the end
 * of its job. Throws `RenderLostError` when it is not this worker's any more, and anything else when it should be tried again.
 */
export async function runRender(ports: VideoWorkerPorts, job: RenderJob, lost: AbortSignal): Promise<void> {
  const { db, queue } = ports;
  const generation = await claimGeneration(db, job.generationId);
  if (generation === undefined) return db.transaction((tx) => queue.finishRender(tx, job));
  const model = await ports.models.find(generation.modelName);
  const failure = await attempt(ports, job, generation, model, lost);
  if (failure === undefined) return;
  const failed = await db.transaction(async (tx) => {
    const ended = await endWithFailure(tx, queue, generation.id, failure, generation.attempt);
    if (ended !== undefined) await queue.finishRender(tx, job);
    return ended;
  });
  if (failed === undefined) throw new RenderLostError('The generation was taken over.');
}

/** Undefined once the generation is completed, or why it failed. */
async function attempt(
  ports: VideoWorkerPorts,
  job: RenderJob,
  generation: StoredGeneration,
  model: OfferedModel | undefined,
  lost: AbortSignal,
): Promise<Failure | undefined> {
  if (model === undefined) return { code: 'engine_error', message: 'The model is no longer offered.' };
  if (generation.attempt > MAX_ATTEMPTS) {
    return { code: 'engine_error', message: 'The render was begun too often without coming to an end.' };
  }
  const startedAt = generation.startedAt?.getTime() ?? Date.now();
  const left = startedAt + generation.deadlineSeconds * 1000 - Date.now();
  const timeout: Failure = { code: 'timeout', message: 'The render took longer than it may.' };
  if (left <= 0) return timeout;
  const deadline = AbortSignal.timeout(left);
  const signal = AbortSignal.any([lost, deadline]);
  try {
    await withScratch(async (folder) => {
      const result = await render(ports, generation, model, folder, signal);
      await store(ports, job, generation, result, signal);
    });
    return undefined;
  } catch (error) {
    if (lost.aborted) {
      if (lost.reason instanceof RenderLostError) await stopEngine(ports, generation, model);
      throw lost.reason;
    }
    if (deadline.aborted) {
      await stopEngine(ports, generation, model);
      return timeout;
    }
    if (error instanceof RenderError) {
      ports.log.info({ generationId: generation.id, code: error.code, error: errorText(error.cause) }, 'render failed');
      return { code: error.code, message: error.message };
    }
    throw error;
  }
}

async function render(
  ports: VideoWorkerPorts,
  generation: StoredGeneration,
  { engine, capabilities }: OfferedModel,
  folder: string,
  signal: AbortSignal,
): Promise<RenderResult> {
  const { db, objects } = ports;
  const { references, resolution: _resolution, ...plan } = generation.plan;
  const inputs = await fetchInputs(objects, references, folder, signal);
  let written = 0;
  return engine.render(
    { id: generation.id, model: capabilities.name, prompt: generation.prompt, ...plan, inputs, folder },
    {
      signal,
      handle: generation.handle ?? undefined,
      onProgress(fraction) {
        const now = performance.now();
        if (now - written < PROGRESS_MS) return;
        written = now;
        // Of no importance: the next one follows.
        saveProgress(db, generation, Math.min(1, fraction)).catch(() => undefined);
      },
      async saveHandle(handle) {
        generation.handle = handle;
        if (!(await saveHandle(db, generation, handle))) throw new RenderLostError('The generation was taken over.');
      },
    },
  );
}

async function store(
  ports: VideoWorkerPorts,
  job: RenderJob,
  generation: StoredGeneration,
  result: RenderResult,
  signal: AbortSignal,
): Promise<void> {
  const { db, objects, queue } = ports;
  const { id, organizationId, plan, prompt, modelName } = generation;
  const prefix = resultPrefix(id, generation.attempt);
  const videoKey = `${prefix}video.${plan.format}`;
  const thumbnailKey = `${prefix}thumbnail.webp`;
  if (generation.attempt > 1) await forgetEarlier(ports, generation);
  const forget = () => Promise.all([videoKey, thumbnailKey].map((key) => objects.delete(key)));
  try {
    await objects.put(videoKey, createReadStream(result.file), { contentType: CONTENT_TYPES[plan.format] });
    await objects.put(thumbnailKey, createReadStream(result.thumbnail), { contentType: 'image/webp' });
    signal.throwIfAborted();
    const assetId = newId('ast');
    const completed = await db.transaction(async (tx) => {
      const slug = randomToken(SLUG_BYTES);
      const ended = await completeGeneration(tx, generation, { assetId, videoKey, thumbnailKey, slug });
      if (ended === undefined) return undefined;
      await endReservation(tx, 'settle', ended);
      await insertAsset(tx, {
        id,
        scope: organizationId,
        generationId: id,
        assetId,
        assetType: 'video',
        prompt,
        modelName,
        metadata: { duration: `${plan.durationSeconds}s`, aspect_ratio: plan.aspectRatio, resolution: plan.resolution },
        objectKey: videoKey,
      });
      await addEndWebhook(tx, queue, ended);
      await queue.finishRender(tx, job);
      return ended;
    });
    if (completed === undefined) throw new RenderLostError('The generation was taken over.');
  } catch (error) {
    // After a commit whose answer was lost the result is there: only what no row names may go.
    if (error instanceof RenderLostError || signal.aborted) await forget().catch(() => undefined);
    throw error;
  }
}

/** What attempts before this one had put into the store when they were cut off. */
async function forgetEarlier(
  { objects, log }: VideoWorkerPorts,
  { id, attempt: last }: StoredGeneration,
): Promise<void> {
  try {
    for await (const { key } of objects.list(resultPrefix(id))) {
      if (!key.startsWith(resultPrefix(id, last))) await objects.delete(key);
    }
  } catch (error) {
    log.warn({ generationId: id, error: errorText(error) }, 'results of earlier attempts are still there');
  }
}

async function stopEngine(
  { log }: VideoWorkerPorts,
  { id, handle }: StoredGeneration,
  { engine }: OfferedModel,
): Promise<void> {
  if (handle === null || engine.cancel === undefined) return;
  await engine.cancel(handle).catch((error: unknown) => {
    log.warn({ generationId: id, error: errorText(error) }, 'the engine could not be told to stop');
  });
}
