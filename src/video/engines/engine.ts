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
  /** accepted inputs besides the prompt; numbers are maximum counts */
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
  /** maximum duration of a render */
  deadlineSeconds: number;
};

/** Paths of local files by role; each has passed `probeReference`. */
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
  /** id of the generation; also the idempotency key at engines that support one */
  id: string;
  model: string;
  prompt: string;
  /** never `auto` */
  aspectRatio: string;
  durationSeconds: number;
  /** pixels, even */
  width: number;
  /** pixels, even */
  height: number;
  hasAudio: boolean;
  format: 'mp4' | 'webm';
  /** 0 to 2³²−1; the same request and seed give the same video if the engine supports it */
  seed: number;
  inputs: RenderInputs;
  /** a scratch folder that exists and that the caller removes */
  folder: string;
};

export type RenderContext = {
  /** aborted when the job is cancelled, lost or past its deadline; `render` then throws the signal's reason */
  signal: AbortSignal;
  /** 0 to 1, never decreasing; not called by engines without progress */
  onProgress(fraction: number): void;
  /** the engine's job id, saved by an earlier attempt: `render` attaches to that job instead of paying again */
  handle: string | undefined;
  /** called as soon as the engine's job has an id; resolves when the id is stored */
  saveHandle(handle: string): Promise<void>;
};

export type RenderResult = {
  /** path inside the request's folder, of the format asked for */
  file: string;
  /** path inside the request's folder, WebP, at most 640 pixels on the longer side */
  thumbnail: string;
};

/** Renders videos. One engine runs many renders at once. */
export type Engine = {
  /** the adapter: `storyboard`, `openai-videos`, `comfyui`, `fal` or `replicate` */
  kind: string;
  /** The capabilities of its models. Requests are checked against them before they are charged. */
  models(): Promise<ModelCapabilities[]> | ModelCapabilities[];
  /** Throws a `RenderError`, or the signal's reason. */
  render(request: RenderRequest, context: RenderContext): Promise<RenderResult>;
  /** Cancels an abandoned job at the engine. A finished or unknown job is not an error. */
  cancel?(handle: string): Promise<void>;
  close?(): Promise<void>;
};

export type RenderErrorCode =
  /** the engine rejects the content of the prompt or the references */
  | 'moderation'
  | 'timeout'
  /** any other failure that the caller did not cause */
  | 'engine_error'
  /** the engine cannot work with the inputs */
  | 'invalid_input';

/** Why a video could not be made. The message is one sentence fit for callers: no addresses, no ids, no keys. */
export class RenderError extends CapstanError<RenderErrorCode> {}
