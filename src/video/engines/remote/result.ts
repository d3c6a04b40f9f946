import { createWriteStream } from 'node:fs';
import { join } from 'node:path';
import { Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { EgressError } from '../../../platform/egress/error.ts';
import type { Egress } from '../../../platform/egress/egress.ts';
import { probeClip } from '../../media/clip.ts';
import type { VideoFacts } from '../../media/clip.ts';
import { InvalidReferenceError } from '../../media/error.ts';
import { buildInputArguments, findDemuxer } from '../../media/formats.ts';
import { runMedia } from '../../media/run.ts';
import { RenderError } from '../engine.ts';
import type { RenderRequest, RenderResult } from '../engine.ts';
import { DOWNLOAD_FACTOR } from './transport.ts';
import type { Transport } from './transport.ts';

/** Where a result is: a path below the engine's base URL, or a URL from the engine. */
export type ResultPlace = { path: string } | { url: string };

export type ResultOptions = {
  transport: Transport;
  egress: Egress;
  maxBytes: number;
  timeoutMs: number;
  signal: AbortSignal;
};

const LIMITS = { cpuSeconds: 120, memoryBytes: 4 * 1024 ** 3, outputBytes: 2 * 1024 ** 3, wallMs: 180_000 };
const ATTEMPTS = 3;

/**
 * Fetches a result and normalizes it: the requested container with the index in front, no audio unless requested, no
 * metadata, and a thumbnail. URLs from the engine go through the egress guard. Throws a `RenderError`, or the signal's
 * reason.
 */
export async function fetchResult(
  place: ResultPlace,
  request: RenderRequest,
  options: ResultOptions,
): Promise<RenderResult> {
  const raw = join(request.folder, 'received');
  for (let tries = 1; ; tries += 1) {
    try {
      await download(place, raw, options);
      break;
    } catch (error) {
      options.signal.throwIfAborted();
      if (error instanceof RenderError || tries >= ATTEMPTS) throw describeDownload(error);
    }
  }
  return await finishResult(raw, request, options.signal);
}

async function download(place: ResultPlace, target: string, options: ResultOptions): Promise<void> {
  const { signal, maxBytes } = options;
  const timeoutMs = options.timeoutMs * DOWNLOAD_FACTOR;
  const response =
    'path' in place
      ? await options.transport.open(place.path, signal)
      : await options.egress.fetch(place.url, { signal, maxBytes, timeoutMs });
  if (!response.ok) throw new Error(`The result was answered with status ${response.status}.`);
  const type = response.headers.get('content-type') ?? '';
  if (/^(text\/|application\/(json|xml|xhtml))/i.test(type)) {
    await response.body?.cancel();
    throw new RenderError('engine_error', 'The engine sent something that is not a video.');
  }
  let bytes = 0;
  const bound = new Transform({
    transform(chunk: Uint8Array, _encoding, done) {
      bytes += chunk.byteLength;
      const fault = new RenderError('engine_error', 'The video from the engine is too large.');
      if (bytes > maxBytes) done(fault);
      else done(null, chunk);
    },
  });
  if (response.body === null) throw new RenderError('engine_error', 'The engine sent nothing.');
  await pipeline(Readable.fromWeb(response.body as never), bound, createWriteStream(target), { signal });
}

async function finishResult(raw: string, request: RenderRequest, signal: AbortSignal): Promise<RenderResult> {
  try {
    const facts = (await probeClip(raw, 'video', signal)) as VideoFacts;
    const input = buildInputArguments(raw, findDemuxer(facts.mime, 'video') ?? '');
    const result = {
      file: join(request.folder, `video.${request.format}`),
      thumbnail: join(request.folder, 'video.webp'),
    };
    const size = facts.width >= facts.height ? `${Math.min(640, facts.width)}:-2` : `-2:${Math.min(640, facts.height)}`;
    const bare = ['-map_metadata', '-1', '-map_chapters', '-1'];
    const streams = ['-map', '0:v:0', ...(request.hasAudio ? ['-map', '0:a:0?'] : []), '-c', 'copy'];
    const front = request.format === 'mp4' ? ['-movflags', '+faststart'] : [];
    const args = [
      ['-v', 'error', '-nostdin', '-y', ...input],
      [...streams, ...bare, ...front, '-f', request.format, `file:${result.file}`],
      ['-map', '0:v:0', '-ss', String(facts.seconds / 2), '-frames:v', '1', '-vf', `scale=${size}`],
      ['-c:v', 'libwebp', '-quality', '82', ...bare, '-f', 'webp', `file:${result.thumbnail}`],
    ].flat();
    await runMedia({ program: 'ffmpeg', args, reads: [raw], writes: request.folder, limits: LIMITS, signal });
    return result;
  } catch (error) {
    signal.throwIfAborted();
    const message =
      error instanceof InvalidReferenceError
        ? 'The engine sent something that is not a video.'
        : 'The video from the engine could not be processed.';
    throw new RenderError('engine_error', message, { cause: error });
  }
}

function describeDownload(error: unknown): RenderError {
  if (error instanceof RenderError) return error;
  if (error instanceof EgressError && error.code === 'refused') {
    return new RenderError('engine_error', 'The engine named an address for its result that is not allowed.', {
      cause: error,
    });
  }
  const large = error instanceof EgressError && error.code === 'too_large';
  const message = large ? 'The video from the engine is too large.' : 'The result could not be fetched.';
  return new RenderError('engine_error', message, { cause: error });
}
