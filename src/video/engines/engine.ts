import { CapstanError } from '../../platform/errors.ts';

export type ModelCapabilities = {
  /** the exact `modelName` of a request, such as `local/storyboard-1` */
  name: string;
  /** of `auto`, `21:9`, `16:9`, `4:3`, `1:1`, `3:4`, `9:16` */
  aspectRatios: string[];
  /** whole seconds, the default first */
  durations: number[];
  /** such as `720p`, the default first */
  resolutions: string[];
  audio: 'never' | 'optional' | 'always';
  /** the default first */
  formats: ('mp4' | 'webm')[];
  /** what may be given beside the prompt; counts are maxima */
  inputs: {
    startFrame: boolean;
    endFrame: boolean;
    ingredientImages: number;
    characterImages: number;
    sourceVideo: boolean;
    referenceVideos: number;
    audio: boolean;
  };
  /** price by resolution */
  creditsPerSecond: Record<string, number>;
  /** from the begin of a render to the moment it is given up */
  deadlineSeconds: number;
};

/** Paths of local files by role; each has passed `probeReference`. What is not given is absent or empty. */
export type RenderInputs = {
  startFrame?: string;
  endFrame?: string;
  ingredientImages: string[];
  characterImages: string[];
  sourceVideo?: string;
  referenceVideos: string[];
  audio?: string;
};

export type RenderRequest = {
  /** of the generation; an engine that knows idempotency keys is given it as one */
  id: string;
  model: string;
  prompt: string;
  /** never `auto`: the caller has settled it */
  aspectRatio: string;
  durationSeconds: number;
  /** pixels, even */
  width: number;
  /** pixels, even */
  height: number;
  hasAudio: boolean;
  format: 'mp4' | 'webm';
  /** 0 to 2³²−1; the same request with the same seed gives the same pictures where the engine can */
  seed: number;
  inputs: RenderInputs;
  /** a scratch folder that exists and that the caller removes */
  folder: string;
};

export type RenderContext = {
  /** aborted when the job is cancelled, lost or past its deadline: `render` then throws the signal's reason */
  signal: AbortSignal;
  /** 0 to 1, never less than before; an engine that tells nothing never calls it */
  onProgress(fraction: number): void;
  /** the engine's own job id that an earlier attempt saved: `render` attaches to it instead of paying again */
  handle: string | undefined;
  /** durable before it resolves; called as soon as the engine has named its job */
  saveHandle(handle: string): Promise<void>;
};

export type RenderResult = {
  /** path inside the request's folder, of the format asked for */
  file: string;
  /** path inside the request's folder, WebP, at most 640 pixels on the longer side */
  thumbnail: string;
};

/** What renders videos. One object serves many renders at once. */
export type Engine = {
  /** the adapter: `storyboard`, `openai-videos`, `comfyui`, `fal` or `replicate` */
  kind: string;
  /** What its models can do, which is what requests are held against before they are charged. */
  models(): Promise<ModelCapabilities[]> | ModelCapabilities[];
  /** Throws a `RenderError`, or the signal's reason. */
  render(request: RenderRequest, context: RenderContext): Promise<RenderResult>;
  /** Tells the engine to stop a job that nobody attends any more. A job that has ended or is unknown is no error. */
  cancel?(handle: string): Promise<void>;
  close?(): Promise<void>;
};

export type RenderErrorCode =
  /** the engine refuses what the prompt or the pictures show */
  | 'moderation'
  | 'timeout'
  /** anything that is not the caller's doing */
  | 'engine_error'
  /** the engine cannot work with the inputs */
  | 'invalid_input';

/** Why a video could not be made. The message is one sentence fit for callers: no addresses, no ids, no keys. */
export class RenderError extends CapstanError<RenderErrorCode> {}
