import type { Example } from '../../platform/contract/examples/example.ts';
import { LATER, TIME } from '../../platform/contract/examples/example.ts';
import { VIDEO_ERROR_STATUS, publicVideoCode } from './errors.ts';
import type { VideoError, VideoErrorCode } from './errors.ts';

const GENERATION = 'gen_01kg9ek0m1n2p3q4r5s6t7v8wa';
const ASSET = 'ast_01kg9ek0m1n2p3q4r5s6t7v8wb';
const CHARACTER = 'chr_01kg9ek0m1n2p3q4r5s6t7v8wc';
const REQUEST_ID = 'req_01kg9ek0m1n2p3q4r5s6t7v8wd';
const KEY = 'uploads/upl_01kg9ek0m1n2p3q4r5s6t7v8we/harbour.png';
const MILLISECONDS = 1_769_851_800_000;
const PROMPT = 'A lighthouse at night, waves below';
const MODEL = 'local/storyboard-1';

const MESSAGES: Record<VideoErrorCode, string> = {
  validation_error: 'prompt: is required',
  unsupported_model: 'modelName: there is no such model.',
  unsupported_parameter: 'duration: the model offers 5s, 1s, 2s, 3s, 4s, 6s, 8s, 10s.',
  invalid_reference: 'startFrameKey: The image is damaged.',
  unauthorized: 'The API key is missing, invalid or revoked.',
  insufficient_credits: 'The generation costs 40 credits; the balance is 12.',
  forbidden: 'The API key lacks the scope templates:read.',
  not_found: 'No such generation.',
  method_not_allowed: 'The path has no such method.',
  conflict: 'The generation has ended.',
  payload_too_large: 'The request body must be at most 1048576 bytes.',
  range_not_satisfiable: 'The object has 100 bytes.',
  rate_limited: 'The allowance of requests is exhausted.',
  server_error: 'The request failed unexpectedly.',
  unavailable: 'The database cannot be reached.',
  storage_full: 'The storage is full: nothing can be written until space is freed.',
  free_tier_paused: 'Generation is paused for the time being.',
};

/** The codes of one status, with an example body for each. Codes that look the same to callers are merged. */
export function listVideoErrorExamples(
  codes: Iterable<VideoErrorCode>,
  status: number,
): Record<string, { value: VideoError }> {
  const ofStatus = [...codes].filter((code) => VIDEO_ERROR_STATUS[code] === status);
  return Object.fromEntries(
    ofStatus.map((code) => {
      const more = code === 'insufficient_credits' ? { required: 40, balance: 12 } : {};
      const error = publicVideoCode(code);
      return [error, { value: { error, message: MESSAGES[code], request_id: REQUEST_ID, ...more } }];
    }),
  );
}

/** The options of the example request. */
const wanted = {
  model_name: MODEL,
  prompt: PROMPT,
  aspect_ratio: '16:9',
  duration: '5s',
  resolution: '720p',
  width: 1280,
  height: 720,
  has_audio: true,
  format: 'mp4',
  seed: 7,
} as const;
const completed = {
  id: GENERATION,
  status: 'completed',
  template_id: null,
  created_at: TIME,
  completed_at: LATER,
  video_url: 'https://video.example.com/objects/results/video.mp4?expires=1769855404&signature=…',
  share_url: 'https://video.example.com/s/V1StGXR8_Z5jdHi6B-myT1',
  thumbnail_url: 'https://video.example.com/objects/results/thumbnail.webp?expires=1769855404&signature=…',
  phase: 'completed',
  progress: 1,
  asset_id: ASSET,
  asset_s3_key: `results/${GENERATION}/1/video.mp4`,
  ...wanted,
  credits_charged: 5,
} as const;
const { completed_at: _completedAt, share_url: _share, ...withoutShare } = completed;
const cancelled = {
  id: GENERATION,
  status: 'failed',
  template_id: null,
  created_at: TIME,
  error: 'cancelled: The caller cancelled the generation.',
  phase: 'failed',
  progress: 0.25,
  asset_id: null,
  asset_s3_key: null,
  ...wanted,
  credits_charged: 0,
};
const asset = {
  id: ASSET,
  asset_id: ASSET,
  asset_s3_key: completed.asset_s3_key,
  asset_url: completed.video_url,
  asset_type: 'video',
  prompt: PROMPT,
  model_name: MODEL,
  published_at: MILLISECONDS,
  created_at: null,
  metadata: { duration: '5s', aspect_ratio: '16:9' },
  source: 'community',
};
const character = {
  id: CHARACTER,
  name: 'Ada',
  description: 'A keeper of the light',
  created_at: MILLISECONDS,
  image_keys: [KEY],
};
const template = {
  id: 'harbour',
  title: 'A harbour at dawn',
  description: 'Slow and wide',
  kind: 'video',
  model_name: MODEL,
};
const page = (limit: number, ...data: unknown[]) => ({
  data,
  pagination: { offset: 0, limit, has_more: false, next_cursor: null },
});

/** Examples by operation id. */
export const VIDEO_EXAMPLES: Readonly<Record<string, Example>> = {
  createGenerations: {
    body: { prompt: PROMPT, modelName: MODEL, aspectRatio: '16:9', duration: '5s', hasAudio: true },
    answers: {
      202: {
        data: {
          generations: [{ id: GENERATION, asset_id: null, request_id: null, status: 'queued' }],
          endpoint_id: MODEL,
          variant: 'text-to-video',
          metadata: { model_name: MODEL, selected_model_name: MODEL, credits_charged: 5, num_generations: 1 },
        },
      },
    },
  },
  listGenerations: { answers: { 200: page(50, completed) } },
  getGeneration: { answers: { 200: completed } },
  cancelGeneration: { answers: { 200: cancelled } },
  unshareGeneration: { answers: { 200: { ...withoutShare, share_url: null } } },
  publishGeneration: { answers: { 201: { data: asset } } },
  withdrawGeneration: { answers: { 200: completed } },
  createUpload: {
    body: { filename: 'harbour.png', contentType: 'image/png', sizeBytes: 81_234 },
    answers: {
      201: {
        data: {
          upload_url: `https://video.example.com/objects/${KEY}?expires=1769852700&signature=…`,
          s3_key: KEY,
          headers: { 'content-type': 'image/png' },
          expires_at: LATER,
          max_bytes: 20_971_520,
        },
      },
    },
  },
  createCharacter: {
    body: { name: 'Ada', description: 'A keeper of the light', images: ['https://example.com/ada.png'] },
    answers: { 201: { data: character } },
  },
  listCharacters: { answers: { 200: page(50, character) } },
  listTemplates: { query: { q: 'harbour' }, answers: { 200: page(50, template) } },
  getTemplate: { answers: { 200: { data: template } } },
  applyTemplate: {
    body: { id: 'harbour', title: 'A harbour at dawn', kind: 'video', modelName: MODEL, featured: true },
    answers: { 201: { data: template } },
  },
  searchAssets: { query: { q: 'lighthouse' }, answers: { 200: page(24, asset) } },
  getCredits: { answers: { 200: { data: { balance: 995, reserved: 5 } } } },
  grantCredits: {
    body: { organization: 'acme', amount: 500 },
    answers: { 200: { data: { balance: 1500, reserved: 0 } } },
  },
};
