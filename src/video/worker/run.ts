// Tests: test/video/renders.test.ts, test/video/crash.test.ts
import { createReadStream } from 'node:fs';
import { CapstanError, errorText } from '../../platform/errors.ts';
import { randomToken } from '../../platform/crypto.ts';
import { newId } from '../../platform/ids.ts';
import type { CauseOptions } from '../../platform/errors.ts';
import { insertAsset } from '../store/assets.ts';
import { endReservation } from '../store/credits.ts';
import { claimGeneration, completeGeneration, saveHandle, saveProgress } from '../store/generations.ts';
import type { StoredGeneration } from '../store/generations.ts';
import type { OfferedModel } from '../deps.ts';
import { RenderError } from '../engines/engine.ts';
import type { RenderResult } from '../engines/engine.ts';
import { addEndWebhook, endWithFailure } from '../generations/end-generation.ts';
import type { Failure } from '../generations/end-generation.ts';
import type { RenderJob } from '../jobs/queue.ts';
import { withScratch } from '../references/inspect.ts';
import { fetchInputs } from './inputs.ts';
import type { VideoWorkerPorts } from './ports.ts';

/** Another worker has the render, or it was cancelled: this worker must write nothing for it any more. */
export class RenderLostError extends CapstanError<'render_lost'> {
  constructor(message: string, options: CauseOptions = {}) {
    super('render_lost', message, options);
  }
}

/** A render that has crashed so many workers would crash the next one too. */
const MAX_ATTEMPTS = 50;
/** Between two writes of the progress. */
const PROGRESS_MS = 1000;
const MODEL_GONE: Failure = { code: 'engine_error', message: 'The model is no longer offered.' };
const SLUG_BYTES = 16;
const CONTENT_TYPES = { mp4: 'video/mp4', webm: 'video/webm' } as const;

/** A render that this worker has claimed. */
type Claim = { job: RenderJob; generation: StoredGeneration; model: OfferedModel };

/** The prefix of an attempt's results. Each attempt has its own, so that none overwrites another's. */
export function resultPrefix(id: string, attempt?: number): string {
  return attempt === undefined ? `results/${id}/` : `results/${id}/${attempt}/`;
}

/**
 * Renders a generation and ends it: completed and settled, or failed and refunded, each in one transaction with the end
 * of its job. Throws `RenderLostError` when it is no longer this worker's, and anything else when it should be retried.
 */
export async function runRender(ports: VideoWorkerPorts, job: RenderJob, lost: AbortSignal): Promise<void> {
  const { db, queue } = ports;
  const generation = await claimGeneration(db, job.generationId);
  if (generation === undefined) return db.transaction((tx) => queue.finishRender(tx, job));
  const model = await ports.models.find(generation.modelName);
  const failure = model === undefined ? MODEL_GONE : await tryRender(ports, { job, generation, model }, lost);
  if (failure === undefined) return;
  const failed = await db.transaction(async (tx) => {
    const ended = await endWithFailure(tx, queue, generation, failure);
    if (ended !== undefined) await queue.finishRender(tx, job);
    return ended;
  });
  if (failed === undefined) throw new RenderLostError('Another worker took the generation over.');
}

/** Undefined once the generation is completed, or why it failed. */
async function tryRender(ports: VideoWorkerPorts, claim: Claim, lost: AbortSignal): Promise<Failure | undefined> {
  const { generation } = claim;
  if (generation.attempt > MAX_ATTEMPTS) {
    return { code: 'engine_error', message: 'The render was started too often without finishing.' };
  }
  const startedAt = generation.startedAt?.getTime() ?? Date.now();
  const left = startedAt + generation.deadlineSeconds * 1000 - Date.now();
  const timeout: Failure = { code: 'timeout', message: 'The render took longer than it may.' };
  if (left <= 0) return timeout;
  const deadline = AbortSignal.timeout(left);
  const signal = AbortSignal.any([lost, deadline]);
  try {
    await withScratch(async (folder) => {
      const result = await renderVideo(ports, claim, folder, signal);
      await storeResult(ports, claim, result, signal);
    });
    return undefined;
  } catch (error) {
    if (lost.aborted) {
      if (lost.reason instanceof RenderLostError) await stopEngine(ports, claim);
      throw lost.reason;
    }
    if (deadline.aborted) {
      await stopEngine(ports, claim);
      return timeout;
    }
    if (error instanceof RenderError) {
      ports.log.info({ generationId: generation.id, code: error.code, error: errorText(error.cause) }, 'render failed');
      return { code: error.code, message: error.message };
    }
    throw error;
  }
}

async function renderVideo(
  ports: VideoWorkerPorts,
  { generation, model: { engine, capabilities } }: Claim,
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
        // A lost write does not matter: the next one follows.
        saveProgress(db, generation, Math.min(1, fraction)).catch(() => undefined);
      },
      async saveHandle(handle) {
        generation.handle = handle;
        if (!(await saveHandle(db, generation, handle)))
          throw new RenderLostError('Another worker took the generation over.');
      },
    },
  );
}

async function storeResult(
  ports: VideoWorkerPorts,
  { job, generation }: Claim,
  result: RenderResult,
  signal: AbortSignal,
): Promise<void> {
  const { db, objects, queue } = ports;
  const { id, organizationId, plan, prompt, modelName } = generation;
  const prefix = resultPrefix(id, generation.attempt);
  const videoKey = `${prefix}video.${plan.format}`;
  const thumbnailKey = `${prefix}thumbnail.webp`;
  if (generation.attempt > 1) await deleteEarlierResults(ports, generation);
  const deleteResult = () => Promise.all([videoKey, thumbnailKey].map((key) => objects.delete(key)));
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
    if (completed === undefined) throw new RenderLostError('Another worker took the generation over.');
  } catch (error) {
    // If the response to the commit was lost, the result exists: delete only objects that no row names.
    if (error instanceof RenderLostError || signal.aborted) await deleteResult().catch(() => undefined);
    throw error;
  }
}

/** Deletes the objects of interrupted attempts. */
async function deleteEarlierResults(
  { objects, log }: VideoWorkerPorts,
  { id, attempt: last }: StoredGeneration,
): Promise<void> {
  try {
    for await (const { key } of objects.list(resultPrefix(id))) {
      if (!key.startsWith(resultPrefix(id, last))) await objects.delete(key);
    }
  } catch (error) {
    log.warn({ generationId: id, error: errorText(error) }, 'could not delete the results of earlier attempts');
  }
}

async function stopEngine(
  { log }: VideoWorkerPorts,
  { generation: { id, handle }, model: { engine } }: Claim,
): Promise<void> {
  if (handle === null || engine.cancel === undefined) return;
  await engine.cancel(handle).catch((error: unknown) => {
    log.warn({ generationId: id, error: errorText(error) }, 'could not cancel the job at the engine');
  });
}
