import { z } from 'zod';
import { omitUndefined } from '../../platform/records.ts';
import { InvalidReferenceError } from './error.ts';
import { buildInputArguments, findDemuxer, isCodecAllowed } from './formats.ts';
import { MediaRunError, runMedia } from './run.ts';
import type { MediaRun } from './run.ts';
import { sniffFile } from './sniff.ts';

type Bounds = { maxBytes: number; maxSeconds: number };
const BOUNDS: Record<'video' | 'audio', Bounds> = {
  video: { maxBytes: 512 * 1024 ** 2, maxSeconds: 120 },
  audio: { maxBytes: 64 * 1024 ** 2, maxSeconds: 600 },
};
const MIN_SECONDS = 0.1;
const MAX_STREAMS = 8;
const MIN_SIDE = 16;
const MAX_SIDE = 4096;
const MAX_PIXELS = 4096 * 2304;
const MAX_RATE = 240;
const MAX_CHANNELS = 8;
const MAX_SAMPLE_RATE = 192_000;
/** Time limit for reading the headers and one second of a file; a small machine needs a second. */
const LIMITS = { cpuSeconds: 30, memoryBytes: 2 * 1024 ** 3, outputBytes: 1024 ** 2, wallMs: 60_000 };

export type VideoFacts = {
  kind: 'video';
  mime: string;
  bytes: number;
  /** as displayed, after rotation */
  width: number;
  height: number;
  seconds: number;
  framesPerSecond: number;
  hasAudio: boolean;
};
export type AudioFacts = {
  kind: 'audio';
  mime: string;
  bytes: number;
  seconds: number;
  channels: number;
  sampleRate: number;
};

const number = z.coerce.number().optional().catch(undefined);
const Probe = z.object({
  streams: z
    .array(
      z.object({
        codec_type: z.string().optional(),
        codec_name: z.string().optional(),
        width: number,
        height: number,
        r_frame_rate: z.string().optional(),
        avg_frame_rate: z.string().optional(),
        channels: number,
        sample_rate: number,
        duration: number,
        disposition: z.object({ attached_pic: number }).optional(),
        side_data_list: z.array(z.object({ rotation: number })).optional(),
      }),
    )
    .default([]),
  format: z.object({ duration: number }).default({}),
});
type Stream = z.infer<typeof Probe>['streams'][number];

/** Probes a video or an audio file. Throws an `InvalidReferenceError`. */
export async function probeClip(
  path: string,
  kind: 'video' | 'audio',
  signal?: AbortSignal,
): Promise<VideoFacts | AudioFacts> {
  const { mime, bytes } = await sniffFile(path);
  const demuxer = findDemuxer(mime, kind);
  if (demuxer === undefined) {
    const kinds = kind === 'video' ? 'a video: MP4, MOV, WebM or MKV' : 'audio: MP3, WAV, M4A, AAC, Ogg or FLAC';
    throw new InvalidReferenceError(`The file must be ${kinds}.`);
  }
  const { maxBytes } = BOUNDS[kind];
  if (bytes > maxBytes) throw new InvalidReferenceError(`The file is larger than ${maxBytes / 1024 ** 2} MiB.`);
  const input = buildInputArguments(path, demuxer);
  const run = { reads: [path], limits: LIMITS, ...omitUndefined({ signal }) };

  const entries = ['-v', 'error', '-show_streams', '-show_format', '-of', 'json', ...input];
  const answer = await runMedia({ ...run, program: 'ffprobe', args: entries }).catch(refuse);
  const { streams, format } = Probe.parse(JSON.parse(answer));
  const facts = { ...describe(kind, streams, format.duration), mime, bytes };
  const played = await measure({ ...run, input, map: kind === 'video' ? '0:v:0' : '0:a:0' });
  if (played < facts.seconds * 0.9 - 1) throw new InvalidReferenceError('The file is cut short.');
  return facts;
}

function describe(kind: 'video' | 'audio', streams: Stream[], duration: number | undefined) {
  const videos = streams.filter((stream) => stream.codec_type === 'video' && stream.disposition?.attached_pic !== 1);
  const audios = streams.filter((stream) => stream.codec_type === 'audio');
  const [video, audio] = [videos[0], audios[0]];
  checkStreams(streams);
  checkCodecs(videos, 'video');
  checkCodecs(audios, 'audio');
  audios.forEach(checkAudio);
  videos.forEach(checkVideo);
  const seconds = duration ?? (kind === 'video' ? video : audio)?.duration ?? 0;
  checkSeconds(seconds, BOUNDS[kind].maxSeconds);
  if (kind === 'audio') {
    if (audio === undefined) throw new InvalidReferenceError('The file contains no audio.');
    return { kind: 'audio' as const, seconds, channels: audio.channels ?? 0, sampleRate: audio.sample_rate ?? 0 };
  }
  if (video === undefined) throw new InvalidReferenceError('The file contains no video.');
  const [width = 0, height = 0] = isTurned(video) ? [video.height, video.width] : [video.width, video.height];
  const framesPerSecond = readRate(video.avg_frame_rate) || readRate(video.r_frame_rate);
  return { kind: 'video' as const, seconds, width, height, framesPerSecond, hasAudio: audio !== undefined };
}

function checkStreams(streams: readonly Stream[]): void {
  if (streams.length > MAX_STREAMS) throw new InvalidReferenceError(`The file has over ${MAX_STREAMS} streams.`);
  if (streams.some((stream) => stream.codec_type === 'subtitle' || stream.codec_type === 'attachment')) {
    throw new InvalidReferenceError('The file contains subtitles or attachments, which are not accepted.');
  }
}

function checkSeconds(seconds: number, maxSeconds: number): void {
  if (!(seconds >= MIN_SECONDS)) throw new InvalidReferenceError('The file has no duration, or almost none.');
  if (seconds > maxSeconds) throw new InvalidReferenceError(`The file is longer than ${maxSeconds} seconds.`);
}

function checkCodecs(streams: Stream[], kind: 'video' | 'audio'): void {
  const codec = streams.map((stream) => stream.codec_name ?? '').find((name) => !isCodecAllowed(name, kind));
  if (codec !== undefined) throw new InvalidReferenceError(`The file's ${kind} codec is not supported.`);
}

function checkVideo(stream: Stream): void {
  const { width = 0, height = 0 } = stream;
  if (Math.min(width, height) < MIN_SIDE) {
    throw new InvalidReferenceError(`The video is less than ${MIN_SIDE} pixels wide or high.`);
  }
  if (Math.max(width, height) > MAX_SIDE || width * height > MAX_PIXELS) {
    throw new InvalidReferenceError('The frames of the video are larger than 4K.');
  }
  if (readRate(stream.avg_frame_rate) > MAX_RATE) {
    throw new InvalidReferenceError(`The video has over ${MAX_RATE} frames per second.`);
  }
}

function checkAudio({ channels = 0, sample_rate: rate = 0 }: Stream): void {
  if (channels < 1 || channels > MAX_CHANNELS) {
    throw new InvalidReferenceError(`The audio must have 1 to ${MAX_CHANNELS} channels.`);
  }
  if (rate < 1 || rate > MAX_SAMPLE_RATE) {
    throw new InvalidReferenceError(`The audio has over ${MAX_SAMPLE_RATE} samples per second, or none.`);
  }
}

/** Reads the whole stream and decodes its first second; returns the time of the last packet, in seconds. */
async function measure(run: Omit<MediaRun, 'program' | 'args'> & { input: string[]; map: string }): Promise<number> {
  const { input, map, ...rest } = run;
  let seconds = 0;
  const onLine = (line: string) => {
    const time = /^out_time_us=(\d+)/.exec(line)?.[1];
    if (time !== undefined) seconds = Math.max(seconds, Number(time) / 1_000_000);
  };
  const args = [
    ['-v', 'error', '-nostdin', '-progress', 'pipe:1', '-nostats', ...input],
    ['-map', map, '-c', 'copy', '-f', 'null', '-'],
    ['-map', map, '-t', '1', '-f', 'null', '-'],
  ].flat();
  await runMedia({ ...rest, program: 'ffmpeg', args, onLine }).catch(refuse);
  return seconds;
}

function isTurned(stream: Stream): boolean {
  return (stream.side_data_list ?? []).some(({ rotation = 0 }) => Math.abs(rotation) % 180 === 90);
}

/** Parses a rate such as `30000/1001`; 0 if it is missing. */
function readRate(text: string | undefined): number {
  const [above = 0, below = 1] = (text ?? '').split('/').map(Number);
  const rate = above / below;
  return Number.isFinite(rate) ? rate : 0;
}

function refuse(error: unknown): never {
  if (!(error instanceof MediaRunError) || error.code === 'missing') throw error;
  const message =
    error.code === 'timeout' ? 'The file takes too long to read.' : 'The file is damaged or has another format.';
  throw new InvalidReferenceError(message, { cause: error });
}
