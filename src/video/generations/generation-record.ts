import { omitUndefined } from '../../platform/records.ts';
import type { Generation } from '../contract/generations.ts';
import { countAhead } from '../store/generations.ts';
import type { StoredGeneration } from '../store/generations.ts';
import type { VideoPorts } from '../deps.ts';

/** How long a result's URL is valid. */
export const ADDRESS_SECONDS = 3600;

const PHASES = { queued: 'queued', generating: 'rendering', completed: 'completed', failed: 'failed' } as const;

/** A URL that is valid for one hour; relative URLs of the store are resolved against `base`. */
export async function signResult(
  { objects }: Pick<VideoPorts, 'objects'>,
  base: string,
  key: string,
  fileName?: string,
): Promise<string> {
  const address = await objects.sign({
    method: 'GET',
    key,
    expiresInSeconds: ADDRESS_SECONDS,
    ...omitUndefined({ fileName }),
  });
  return new URL(address, base).href;
}

async function describeResult(
  ports: Pick<VideoPorts, 'objects'>,
  base: string,
  generation: StoredGeneration,
): Promise<Partial<Generation>> {
  const { videoKey, thumbnailKey, slug, expired, plan, id } = generation;
  const share = { share_url: slug === null ? null : `${base}/s/${slug}` };
  if (expired || videoKey === null || thumbnailKey === null) {
    return { video_url: null, thumbnail_url: null, ...share, expired: true };
  }
  const [video, thumbnail] = await Promise.all([
    signResult(ports, base, videoKey, `${id}.${plan.format}`),
    signResult(ports, base, thumbnailKey),
  ]);
  return { video_url: video, thumbnail_url: thumbnail, ...share };
}

/** Builds the records that callers see. `base` is the service's base URL, without a trailing slash. */
export async function buildGenerations(
  ports: Pick<VideoPorts, 'db' | 'objects'>,
  base: string,
  generations: readonly StoredGeneration[],
): Promise<Generation[]> {
  const queued = generations.filter(({ state }) => state === 'queued').map(({ queueTag }) => queueTag);
  const ahead = await countAhead(ports.db, queued);
  return Promise.all(
    generations.map(async (generation) => {
      const { state, plan, completedAt, error } = generation;
      const position = state === 'queued' ? { queue_position: ahead.get(generation.queueTag) ?? 0 } : {};
      const result = state === 'completed' ? await describeResult(ports, base, generation) : {};
      return {
        id: generation.id,
        status: state === 'queued' ? 'generating' : state,
        template_id: generation.templateId,
        created_at: generation.createdAt.toISOString(),
        ...result,
        ...(state === 'completed' && completedAt !== null ? { completed_at: completedAt.toISOString() } : {}),
        ...(state === 'failed' ? { error: error ?? 'engine_error: The generation failed.' } : {}),
        phase: PHASES[state],
        ...position,
        progress: generation.progress,
        asset_id: generation.assetId,
        asset_s3_key: generation.expired ? null : generation.videoKey,
        model_name: generation.modelName,
        prompt: generation.prompt,
        aspect_ratio: plan.aspectRatio,
        duration: `${plan.durationSeconds}s`,
        resolution: plan.resolution,
        width: plan.width,
        height: plan.height,
        has_audio: plan.hasAudio,
        format: plan.format,
        seed: plan.seed,
        credits_charged: state === 'failed' ? 0 : generation.credits,
      } satisfies Generation;
    }),
  );
}
