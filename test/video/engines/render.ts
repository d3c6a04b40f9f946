import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Engine, RenderContext, RenderRequest, RenderResult } from '../../../src/video/engines/engine.ts';

let renders = 0;

/** A minimal request in its own folder. */
export function buildRequest(parent: string, more: Partial<RenderRequest> = {}): RenderRequest {
  renders += 1;
  const folder = join(parent, `render-${renders}`);
  mkdirSync(folder, { recursive: true });
  return {
    id: `gen_${renders}`,
    model: 'local/storyboard-1',
    prompt: 'A boat on the ocean',
    aspectRatio: '16:9',
    durationSeconds: 1,
    width: 426,
    height: 240,
    hasAudio: false,
    format: 'mp4',
    seed: 7,
    inputs: { ingredientImages: [], characterImages: [], referenceVideos: [] },
    folder,
    ...more,
  };
}

export type Watched = RenderContext & { progress: number[]; saved: string[] };

export function buildContext(more: Partial<RenderContext> = {}): Watched {
  const progress: number[] = [];
  const saved: string[] = [];
  return {
    signal: new AbortController().signal,
    onProgress: (fraction) => void progress.push(fraction),
    handle: undefined,
    saveHandle: (handle) => {
      saved.push(handle);
      return Promise.resolve();
    },
    ...more,
    progress,
    saved,
  };
}

export async function render(
  engine: Engine,
  request: RenderRequest,
  context = buildContext(),
): Promise<RenderResult & { context: Watched }> {
  return { ...(await engine.render(request, context)), context };
}

type Stream = {
  codec_name: string;
  codec_type: string;
  width: number;
  height: number;
  pix_fmt: string;
  avg_frame_rate: string;
  nb_read_frames: string;
  color_space: string;
  channels: number;
  /** seconds, where the container tells */
  duration?: string;
};

/** The properties of a file by ffprobe: every frame is decoded and counted. */
export function inspect(file: string) {
  const args = ['-v', 'error', '-count_frames', '-show_streams', '-show_format', '-of', 'json', file];
  const { streams, format } = JSON.parse(execFileSync('ffprobe', args, { encoding: 'utf8' })) as {
    streams: Stream[];
    format: { duration: string; format_name: string; tags?: Record<string, string> };
  };
  return {
    video: streams.find((stream) => stream.codec_type === 'video'),
    audio: streams.find((stream) => stream.codec_type === 'audio'),
    count: streams.length,
    seconds: Number(format.duration),
    container: format.format_name,
    tags: format.tags ?? {},
  };
}

/** The types of the boxes of an MP4, in their order. */
export function listBoxes(file: string): string[] {
  const bytes = readFileSync(file);
  const types: string[] = [];
  for (let at = 0; at + 8 <= bytes.length; at += bytes.readUInt32BE(at) || bytes.length) {
    types.push(bytes.toString('latin1', at + 4, at + 8));
  }
  return types;
}

/** A frame as raw RGB. `where` is `first`, `last` or seconds. */
export function readFrame(
  file: string,
  where: 'first' | 'last' | number,
): { data: Buffer; width: number; height: number } {
  const { video } = inspect(file);
  const frames = Number(video?.nb_read_frames);
  const index = where === 'first' ? 0 : where === 'last' ? frames - 1 : Math.round(where * 24);
  const data = execFileSync(
    'ffmpeg',
    [
      '-v',
      'error',
      '-i',
      file,
      '-vf',
      `select='eq(n,${index})'`,
      '-frames:v',
      '1',
      '-f',
      'rawvideo',
      '-pix_fmt',
      'rgb24',
      '-',
    ],
    { maxBuffer: 64 * 1024 * 1024 },
  );
  return { data, width: video?.width ?? 0, height: video?.height ?? 0 };
}

/** The mean colour of a part of a frame; the part in fractions of it. */
export function meanColor(
  frame: { data: Buffer; width: number; height: number },
  part: { left: number; top: number; right: number; bottom: number } = { left: 0, top: 0, right: 1, bottom: 1 },
): [red: number, green: number, blue: number] {
  const sums: [number, number, number] = [0, 0, 0];
  let count = 0;
  for (let y = Math.floor(part.top * frame.height); y < Math.floor(part.bottom * frame.height); y += 1) {
    for (let x = Math.floor(part.left * frame.width); x < Math.floor(part.right * frame.width); x += 1) {
      const at = (y * frame.width + x) * 3;
      sums[0] += frame.data[at] ?? 0;
      sums[1] += frame.data[at + 1] ?? 0;
      sums[2] += frame.data[at + 2] ?? 0;
      count += 1;
    }
  }
  return [sums[0] / count, sums[1] / count, sums[2] / count];
}

/** How far apart two frames are: the mean of the differences of their channels, 0 to 255. */
export function compareFrames(first: { data: Buffer }, second: { data: Buffer }): number {
  let sum = 0;
  for (let at = 0; at < first.data.length; at += 1) sum += Math.abs((first.data[at] ?? 0) - (second.data[at] ?? 0));
  return sum / first.data.length;
}

/** The mean loudness of a file's audio, in dB below full. */
export function measureLoudness(file: string): number {
  const text = execFileSync('sh', ['-c', 'ffmpeg -i "$0" -af volumedetect -f null - 2>&1', file], { encoding: 'utf8' });
  return Number(/mean_volume: (-?[\d.]+|-inf)/.exec(text)?.[1]);
}
