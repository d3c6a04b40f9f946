import { readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { omitUndefined } from '../../../platform/records.ts';
import { probeClip } from '../../media/clip.ts';
import { InvalidReferenceError } from '../../media/error.ts';
import { buildInputArguments, findDemuxer } from '../../media/formats.ts';
import { runMedia } from '../../media/run.ts';
import { RenderError } from '../engine.ts';
import type { RenderRequest } from '../engine.ts';

/** A caller's file, prepared for an engine. */
export type SentFile = { path: string; name: string; mime: string };

export type SentFiles = {
  startFrame?: SentFile;
  endFrame?: SentFile;
  ingredientImages: SentFile[];
  characterImages: SentFile[];
  sourceVideo?: SentFile;
  referenceVideos: SentFile[];
  audio?: SentFile;
};

const LIMITS = { cpuSeconds: 60, memoryBytes: 2 * 1024 ** 3, outputBytes: 1024 ** 3, wallMs: 120_000 };

/**
 * Copies a request's files without metadata such as locations and names, because the engine is a third party. Throws a
 * `RenderError`, or the signal's reason.
 */
export async function prepareFiles(request: RenderRequest, signal: AbortSignal): Promise<SentFiles> {
  const { inputs, folder } = request;
  const image = async (path: string, name: string): Promise<SentFile> => {
    const target = join(folder, `sent-${name}`);
    const { normalizeImage } = await import('../../media/image.ts');
    const { mime } = await normalizeImage(path, target, { maxSide: 2048, signal });
    return { path: target, mime, name: `${name}.${mime === 'image/png' ? 'png' : 'jpg'}` };
  };
  const clip = async (path: string, kind: 'video' | 'audio', name: string): Promise<SentFile> => {
    const facts = await probeClip(path, kind, signal);
    const demuxer = findDemuxer(facts.mime, kind) ?? '';
    const form = kind === 'video' && demuxer === 'matroska' ? 'webm' : kind === 'video' ? 'mp4' : 'wav';
    const target = join(folder, `sent-${name}.${form}`);
    const codecs = kind === 'video' ? ['-c', 'copy', '-map', '0:v:0', '-map', '0:a:0?'] : ['-map', '0:a:0'];
    const args = [
      ['-v', 'error', '-nostdin', '-y', ...buildInputArguments(path, demuxer), ...codecs],
      ['-map_metadata', '-1', '-map_chapters', '-1', '-f', form === 'webm' ? 'matroska' : form, `file:${target}`],
    ].flat();
    await runMedia({ program: 'ffmpeg', args, reads: [path], writes: folder, limits: LIMITS, signal });
    return { path: target, name: basename(target).replace('sent-', ''), mime: `${kind}/${form}` };
  };
  const all = (paths: string[], name: string) =>
    Promise.all(paths.map((path, index) => image(path, `${name}-${index + 1}`)));
  try {
    const [startFrame, endFrame, sourceVideo, audio, ingredientImages, characterImages, referenceVideos] =
      await Promise.all([
        inputs.startFrame === undefined ? undefined : image(inputs.startFrame, 'start-frame'),
        inputs.endFrame === undefined ? undefined : image(inputs.endFrame, 'end-frame'),
        inputs.sourceVideo === undefined ? undefined : clip(inputs.sourceVideo, 'video', 'source-video'),
        inputs.audio === undefined ? undefined : clip(inputs.audio, 'audio', 'audio'),
        all(inputs.ingredientImages, 'ingredient'),
        all(inputs.characterImages, 'character'),
        Promise.all(inputs.referenceVideos.map((path, at) => clip(path, 'video', `reference-video-${at + 1}`))),
      ]);
    return {
      ...omitUndefined({ startFrame, endFrame, sourceVideo, audio }),
      ingredientImages,
      characterImages,
      referenceVideos,
    };
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof InvalidReferenceError) {
      throw new RenderError('invalid_input', error.message, { cause: error });
    }
    throw new RenderError('engine_error', 'The references could not be prepared.', { cause: error });
  }
}

export async function readBlob({ path, mime }: SentFile): Promise<Blob> {
  return new Blob([await readFile(path)], { type: mime });
}

export async function readDataUrl({ path, mime }: SentFile): Promise<string> {
  return `data:${mime};base64,${(await readFile(path)).toString('base64')}`;
}
