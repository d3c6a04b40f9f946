import { z } from 'zod';

const baseUrl = z.url({ protocol: /^https?$/ }).transform((url) => url.replace(/(?<!\/)\/+$/, ''));
const text = z.string().min(1).max(500);
const seconds = z.number().positive().max(86_400);

export const ASPECT_RATIOS = ['21:9', '16:9', '4:3', '1:1', '3:4', '9:16'] as const;
/** Named by the shorter side. */
export const RESOLUTIONS = ['480p', '720p', '1080p', '1440p', '2160p'] as const;

const some = <T extends z.ZodType>(item: T) => z.array(item).min(1);
const images = z.int().min(0).max(16).default(0);

/** The capabilities of an engine's model. Requests are checked against them before they are charged. */
const Capabilities = {
  /** the engine's name for it; callers write `<engine>/<id>` */
  id: text,
  aspectRatios: some(z.enum(ASPECT_RATIOS)).default(['16:9', '9:16']),
  /** whole seconds, the default first */
  durations: some(z.int().min(1).max(120)).default([4, 8, 12]),
  /** the default first */
  resolutions: some(z.enum(RESOLUTIONS)).default(['720p']),
  audio: z.enum(['never', 'optional', 'always']).default('never'),
  inputs: z
    .strictObject({
      startFrame: z.boolean().default(false),
      endFrame: z.boolean().default(false),
      ingredientImages: images,
      characterImages: images,
      sourceVideo: z.boolean().default(false),
      referenceVideos: images,
      audio: z.boolean().default(false),
    })
    .prefault({}),
  /** one price, or one by resolution */
  creditsPerSecond: z.union([z.number().min(0), z.record(z.enum(RESOLUTIONS), z.number().min(0))]).default(1),
  /** maximum duration of a render */
  deadlineSeconds: seconds.default(1800),
  format: z.enum(['mp4', 'webm']).default('mp4'),
};

/**
 * JSON in the engine's format with placeholders for a request's values, such as `{{prompt}}`, `{{width}}` and
 * `{{start_frame}}`. docs/video-engines.md lists them.
 */
const Template = z.record(z.string(), z.unknown());

const Key = { apiKey: z.string().min(1).optional(), apiKeyEnv: z.string().min(1).optional() };

const Waiting = {
  /** between two polls of a job */
  pollSeconds: z.number().min(0.01).max(300).default(5),
  /** of one request to the engine; a result may take ten times as long */
  timeoutSeconds: seconds.default(60),
  /** of a result */
  maxBytes: z
    .int()
    .min(1)
    .default(1024 ** 3),
};

export const OpenAiVideosConfig = z.strictObject({
  type: z.literal('openai-videos'),
  /** with the version segment */
  baseUrl,
  ...Key,
  ...Waiting,
  /**
   * `openai`: multipart with the fields of that API. `vllm-omni`: multipart with its fields for size, frames, seed,
   * sound and references. `json`: JSON without files.
   */
  dialect: z.enum(['openai', 'vllm-omni', 'json']).default('openai'),
  framesPerSecond: z.int().min(1).max(120).default(24),
  /** absent: read from `GET /models`, each with the default capabilities */
  models: some(z.strictObject(Capabilities)).optional(),
});

export const ComfyUiConfig = z.strictObject({
  type: z.literal('comfyui'),
  baseUrl,
  ...Key,
  ...Waiting,
  models: some(
    z
      .strictObject({
        ...Capabilities,
        /** a workflow in the API format, with placeholders */
        workflow: Template.optional(),
        /** path of a JSON file that contains it */
        workflowFile: z.string().min(1).optional(),
        framesPerSecond: z.number().positive().max(120).default(24),
      })
      .refine(({ workflow, workflowFile }) => (workflow === undefined) !== (workflowFile === undefined), {
        path: ['workflow'],
        message: 'either workflow or workflowFile',
      }),
  ),
});

const Templated = {
  ...Capabilities,
  /** the body's input, with placeholders; a field whose placeholder has no value is left out */
  input: Template,
  framesPerSecond: z.number().positive().max(120).default(24),
};

export const FalConfig = z.strictObject({
  type: z.literal('fal'),
  baseUrl: baseUrl.default('https://queue.fal.run'),
  ...Key,
  ...Waiting,
  models: some(z.strictObject({ ...Templated, output: text.default('video.url') })),
});

export const ReplicateConfig = z.strictObject({
  type: z.literal('replicate'),
  baseUrl: baseUrl.default('https://api.replicate.com/v1'),
  ...Key,
  ...Waiting,
  /** `id` is `owner/name`; with `version`, that version of it */
  models: some(z.strictObject({ ...Templated, version: text.optional() })),
});

/** `video.engines` of capstan.yaml: engines by the prefix of their models' names. */
export const VideoEnginesConfig = z.record(
  z
    .string()
    .regex(/^[a-z0-9][a-z0-9-]{0,62}$/, 'must be lower-case letters, digits and hyphens')
    .refine((name) => name !== 'local', 'is the name of the built-in engine'),
  z
    .discriminatedUnion('type', [OpenAiVideosConfig, ComfyUiConfig, FalConfig, ReplicateConfig])
    .refine(({ apiKey, apiKeyEnv }) => apiKey === undefined || apiKeyEnv === undefined, {
      path: ['apiKeyEnv'],
      message: 'either apiKey or apiKeyEnv',
    }),
);
export type VideoEnginesConfig = z.infer<typeof VideoEnginesConfig>;
export type VideoEngineConfig = VideoEnginesConfig[string];
