import { z } from 'zod';
import { Id } from '../../platform/contract/common.ts';

/** Limits of names and descriptions, in characters. */
export const CharacterCreate = z
  .object({
    name: z.string().trim().min(1).max(60),
    description: z.string().max(300).optional(),
    /** addresses of images, http or https */
    images: z.array(z.string().min(1).max(2000)).min(1).max(10),
  })
  .meta({ id: 'CharacterCreate' });
export type CharacterCreate = z.infer<typeof CharacterCreate>;

/** `created_at` in Unix milliseconds. `image_keys` go into `characterReferenceImageKeys`. */
export const Character = z
  .object({
    id: z.string(),
    name: z.string(),
    description: z.string().nullable(),
    created_at: z.int(),
    image_keys: z.array(z.string()),
  })
  .meta({ id: 'Character' });
export type Character = z.infer<typeof Character>;

const TemplateKind = z.enum(['image', 'video']);

export const Template = z
  .object({
    id: z.string(),
    title: z.string(),
    description: z.string().nullable(),
    kind: TemplateKind,
    model_name: z.string(),
  })
  .meta({ id: 'Template' });
export type Template = z.infer<typeof Template>;

/** An existing `id` replaces that template. Only featured templates are listed. */
export const TemplateApply = z
  .object({
    id: z
      .string()
      .regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/, 'must be 1 to 64 letters, digits, ".", "_" or "-"')
      .optional(),
    title: z.string().trim().min(1).max(200),
    description: z.string().max(2000).nullable().optional(),
    kind: TemplateKind,
    modelName: z.string().min(1).max(200),
    featured: z.boolean().default(false),
  })
  .meta({ id: 'TemplateApply' });
export type TemplateApply = z.infer<typeof TemplateApply>;

export const Asset = z
  .object({
    id: z.string(),
    asset_id: z.string(),
    asset_s3_key: z.string(),
    /** valid for one hour */
    asset_url: z.string().nullable(),
    asset_type: z.enum(['image', 'video']),
    prompt: z.string(),
    model_name: z.string().nullable(),
    /** Unix milliseconds; of community posts */
    published_at: z.int().nullable(),
    /** Unix milliseconds; of the caller's own */
    created_at: z.int().nullable(),
    metadata: z.record(z.string(), z.unknown()).nullable(),
    source: z.enum(['community', 'history']),
  })
  .meta({ id: 'Asset' });
export type Asset = z.infer<typeof Asset>;

const MAX_NAME = 255;

export const UploadCreate = z
  .object({
    filename: z.string().min(1).max(MAX_NAME),
    contentType: z
      .string()
      .regex(/^(image|video|audio)\/[a-z0-9.+-]{1,100}$/, 'must be a type of image, video or audio'),
    sizeBytes: z.int().min(1),
  })
  .meta({ id: 'UploadCreate' });
export type UploadCreate = z.infer<typeof UploadCreate>;

/** `PUT` the bytes to `upload_url` with `headers` before `expires_at`; `s3_key` is then a reference. */
export const Upload = z
  .object({
    upload_url: z.string(),
    s3_key: z.string(),
    headers: z.record(z.string(), z.string()),
    expires_at: z.iso.datetime(),
    max_bytes: z.int(),
  })
  .meta({ id: 'Upload' });
export type Upload = z.infer<typeof Upload>;

export const Credits = z.object({ balance: z.int(), reserved: z.int() }).meta({ id: 'Credits' });
export type Credits = z.infer<typeof Credits>;

export const CreditGrant = z
  .object({
    organization: z.string().min(1).max(64),
    /** credits; a negative number takes credits back, down to a balance of 0 */
    amount: z.int().min(-1_000_000_000).max(1_000_000_000),
  })
  .meta({ id: 'CreditGrant' });
export type CreditGrant = z.infer<typeof CreditGrant>;

export const VideoModel = z
  .object({
    id: z.string(),
    object: z.literal('model'),
    aspect_ratios: z.array(z.string()),
    durations: z.array(z.string()),
    resolutions: z.array(z.string()),
    audio: z.enum(['never', 'optional', 'always']),
    formats: z.array(z.enum(['mp4', 'webm'])),
    inputs: z.object({
      start_frame: z.boolean(),
      end_frame: z.boolean(),
      ingredient_images: z.int(),
      character_images: z.int(),
      source_video: z.boolean(),
      reference_videos: z.int(),
      audio: z.boolean(),
    }),
    /** by resolution */
    credits_per_second: z.record(z.string(), z.number()),
  })
  .meta({ id: 'VideoModel' });
export type VideoModel = z.infer<typeof VideoModel>;

export const WebhookSecret = z.object({ secret: z.string() }).meta({ id: 'WebhookSecret' });

export const GenerationId = z.object({ generationId: Id });
