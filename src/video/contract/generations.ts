import { z } from 'zod';
import { Timestamp } from '../../platform/contract/common.ts';

/** Whole seconds followed by `s`: `5s`. */
const Text = z.string().min(1).max(100);
const Key = z.string().min(1).max(500);
const Keys = z.array(Key).max(16);

export const GenerationCreate = z
  .object({
    prompt: z.string().trim().min(1).max(5000),
    modelName: z.string().min(1).max(200),
    /** `auto`, `21:9`, `16:9`, `4:3`, `1:1`, `3:4`, `9:16`; default `auto` */
    aspectRatio: Text.optional(),
    /** seconds, such as `5s`; default: the model's first */
    duration: Text.optional(),
    /** such as `720p`, the shorter side; default: the model's first */
    resolution: Text.optional(),
    /** number of videos, each with its own seed */
    count: z.int().min(1).max(4).optional(),
    hasAudio: z.boolean().optional(),
    startFrameKey: Key.optional(),
    endFrameKey: Key.optional(),
    ingredientImageKeys: Keys.optional(),
    characterReferenceImageKeys: Keys.optional(),
    sourceVideoKey: Key.optional(),
    referenceVideoKeys: Keys.optional(),
    audioKey: Key.optional(),
    templateId: z.string().min(1).max(100).optional(),
    /** `mp4` or `webm`; default: the model's first */
    format: Text.optional(),
    /** the same request and seed give the same pictures if the model supports it */
    seed: z.int().min(0).max(4_294_967_295).optional(),
    /** called once a generation has ended; see docs/video.md for its signature */
    webhookUrl: z
      .url({ protocol: /^https?$/ })
      .max(2000)
      .refine((url) => !/^https?:\/\/[^/?#]*@/i.test(url), 'must not contain credentials')
      .optional(),
  })
  .meta({ id: 'GenerationCreate' });
export type GenerationCreate = z.infer<typeof GenerationCreate>;

/** Keys of references by purpose. */
export const ReferenceKeys = z.object({
  startFrame: Key.optional(),
  endFrame: Key.optional(),
  ingredientImages: z.array(Key),
  characterImages: z.array(Key),
  sourceVideo: Key.optional(),
  referenceVideos: z.array(Key),
  audio: Key.optional(),
});
export type ReferenceKeys = z.infer<typeof ReferenceKeys>;

/** A submission with all defaults applied, as it is stored and rendered. */
export type RenderPlan = {
  aspectRatio: string;
  durationSeconds: number;
  resolution: string;
  width: number;
  height: number;
  hasAudio: boolean;
  format: 'mp4' | 'webm';
  seed: number;
  references: ReferenceKeys;
};

export const GenerationSubmitted = z
  .object({
    data: z.object({
      generations: z.array(
        z.object({
          id: z.string(),
          asset_id: z.string().nullable(),
          request_id: z.string().nullable(),
          status: z.string().nullable(),
        }),
      ),
      endpoint_id: z.string().nullable(),
      variant: z.string().nullable(),
      metadata: z.object({
        model_name: z.string(),
        selected_model_name: z.string(),
        credits_charged: z.int(),
        num_generations: z.int(),
      }),
    }),
  })
  .meta({ id: 'GenerationSubmitted' });
export type GenerationSubmitted = z.infer<typeof GenerationSubmitted>;

/** `video_url` is valid for one hour; null after the video was deleted. */
export const Generation = z
  .object({
    id: z.string(),
    status: z.enum(['generating', 'completed', 'failed']),
    template_id: z.string().nullable(),
    created_at: Timestamp.nullable(),
    video_url: z.string().nullable().optional(),
    share_url: z.string().nullable().optional(),
    thumbnail_url: z.string().nullable().optional(),
    completed_at: Timestamp.optional(),
    error: z.string().optional(),
    expired: z.literal(true).optional(),
    phase: z.enum(['queued', 'rendering', 'completed', 'failed']),
    /** while queued: the number of generations ahead of this one */
    queue_position: z.int().optional(),
    /** 0 to 1 */
    progress: z.number(),
    asset_id: z.string().nullable(),
    asset_s3_key: z.string().nullable(),
    model_name: z.string(),
    prompt: z.string(),
    aspect_ratio: z.string(),
    duration: z.string(),
    resolution: z.string(),
    width: z.int(),
    height: z.int(),
    has_audio: z.boolean(),
    format: z.enum(['mp4', 'webm']),
    seed: z.int(),
    credits_charged: z.int(),
  })
  .meta({ id: 'Generation' });
export type Generation = z.infer<typeof Generation>;
