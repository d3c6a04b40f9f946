import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { InvalidReferenceError } from '../../media/error.ts';
import { MediaRunError, runMedia } from '../../media/run.ts';
import { RenderError } from '../engine.ts';
import type { Engine, ModelCapabilities, RenderContext, RenderRequest, RenderResult } from '../engine.ts';
import { FRAMES_PER_SECOND, buildGraph } from './graph.ts';

export const STORYBOARD_MODEL = 'local/storyboard-1';

const CAPABILITIES: ModelCapabilities = {
  name: STORYBOARD_MODEL,
  aspectRatios: ['auto', '16:9', '9:16', '1:1', '4:3', '3:4', '21:9'],
  durations: [5, 1, 2, 3, 4, 6, 8, 10],
  resolutions: ['720p', '1080p', '480p'],
  audio: 'optional',
  formats: ['mp4', 'webm'],
  inputs: {
    startFrame: true,
    endFrame: true,
    ingredientImages: 4,
    characterImages: 4,
    sourceVideo: true,
    referenceVideos: 3,
    audio: true,
  },
  creditsPerSecond: { '480p': 1, '720p': 1, '1080p': 1 },
  deadlineSeconds: 600,
};

const MEMORY_BYTES = 6 * 1024 ** 3;
const OUTPUT_BYTES = 512 * 1024 ** 2;
const MAX_THREADS = 4;

/**
 * The built-in engine, which needs only ffmpeg. It draws a procedural preview of a prompt, an animated storyboard; it
 * is not a generative model. The same request and seed give the same bytes with the same version of ffmpeg.
 */
export function openStoryboard(): Engine {
  return { kind: 'storyboard', models: () => [CAPABILITIES], render };
}

async function render(request: RenderRequest, context: RenderContext): Promise<RenderResult> {
  const { signal } = context;
  // On first use: the image library adds noticeably to the start of a role.
  const { listRead, makePlan } = await import('./plan.ts');
  try {
    const plan = await makePlan(request, signal);
    const result = {
      file: join(request.folder, `video.${request.format}`),
      thumbnail: join(request.folder, 'video.webp'),
    };
    await runMedia({
      program: 'ffmpeg',
      args: buildRenderArguments(request, buildGraph(plan), result),
      reads: listRead(request.inputs),
      writes: request.folder,
      limits: buildRenderLimits(request),
      signal,
      onLine: buildProgress(request, context),
    });
    signal.throwIfAborted();
    return result;
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    throw describeError(error);
  }
}

/** ffmpeg's arguments for a request: inputs, graph, the video, and a picture of its middle. */
export function buildRenderArguments(
  request: Pick<RenderRequest, 'durationSeconds' | 'hasAudio' | 'format'>,
  graph: { inputs: string[]; filter: string },
  result: RenderResult,
): string[] {
  const { durationSeconds, hasAudio, format } = request;
  const exact = ['-map_metadata', '-1', '-map_chapters', '-1', '-fflags', '+bitexact', '-flags', '+bitexact'];
  const threads = String(Math.min(MAX_THREADS, availableParallelism()));
  return [
    ['-hide_banner', '-v', 'error', '-nostdin', '-y', '-progress', 'pipe:1', '-nostats'],
    graph.inputs,
    ['-filter_complex_threads', threads, '-filter_complex', graph.filter],
    // Not by `-frames:v`: ffmpeg 5 then ends the sound, too, at half of the time.
    ['-map', '[video]', '-r', String(FRAMES_PER_SECOND)],
    ['-colorspace', 'bt709', '-color_primaries', 'bt709', '-color_trc', 'bt709', '-color_range', 'tv'],
    ['-threads', threads, ...VIDEO[format]],
    hasAudio ? ['-map', '[audio]', ...AUDIO[format]] : ['-an'],
    ['-t', String(durationSeconds), ...exact, `file:${result.file}`],
    [
      '-map',
      '[thumbnail]',
      '-frames:v',
      '1',
      '-c:v',
      'libwebp',
      '-quality',
      '82',
      ...exact,
      `file:${result.thumbnail}`,
    ],
  ].flat();
}

const VIDEO = {
  mp4: [
    ['-c:v', 'libx264', '-preset', 'veryfast', '-crf', '21', '-profile:v', 'high', '-pix_fmt', 'yuv420p'],
    ['-g', '48', '-movflags', '+faststart'],
  ].flat(),
  webm: [
    ['-c:v', 'libvpx-vp9', '-deadline', 'realtime', '-cpu-used', '8', '-row-mt', '1', '-crf', '33', '-b:v', '0'],
    ['-pix_fmt', 'yuv420p', '-g', '48'],
  ].flat(),
};
const AUDIO = { mp4: ['-c:a', 'aac', '-b:a', '128k'], webm: ['-c:a', 'libopus', '-b:a', '96k'] };

/** Many times the duration of a render, and short enough to end one that hangs. */
function buildRenderLimits({ width, height, durationSeconds }: RenderRequest) {
  const cpuSeconds = 60 + (durationSeconds * 20 * width * height) / (1280 * 720);
  const wallMs = CAPABILITIES.deadlineSeconds * 1000;
  return { cpuSeconds, wallMs, memoryBytes: MEMORY_BYTES, outputBytes: OUTPUT_BYTES };
}

function buildProgress({ durationSeconds }: RenderRequest, context: RenderContext): (line: string) => void {
  let known = 0;
  return (line) => {
    const frame = Number(/^frame=\s*(\d+)/.exec(line)?.[1] ?? 0);
    const fraction = Math.min(1, frame / (durationSeconds * FRAMES_PER_SECOND));
    if (fraction <= known) return;
    known = fraction;
    context.onProgress(fraction);
  };
}

function describeError(error: unknown): RenderError {
  if (error instanceof RenderError) return error;
  if (error instanceof InvalidReferenceError) return new RenderError('invalid_input', error.message, { cause: error });
  if (!(error instanceof MediaRunError)) {
    return new RenderError('engine_error', 'The video could not be drawn.', { cause: error });
  }
  if (error.code === 'missing') return new RenderError('engine_error', error.message, { cause: error });
  return error.code === 'timeout'
    ? new RenderError('timeout', 'Rendering took longer than it may.', { cause: error })
    : new RenderError('engine_error', 'The renderer failed.', { cause: error });
}
