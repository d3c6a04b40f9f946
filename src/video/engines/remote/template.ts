import { omitUndefined } from '../../../platform/records.ts';
import type { RenderRequest } from '../engine.ts';
import type { SentFiles } from './files.ts';

/** The text for each file in a template: a URL, a data URL, or the file's name at the engine. */
export type FileReferences = {
  startFrame?: string;
  endFrame?: string;
  ingredientImages: string[];
  characterImages: string[];
  sourceVideo?: string;
  referenceVideos: string[];
  audio?: string;
};

export type Values = Readonly<Record<string, unknown>>;

/** The values of a template's placeholders by name; docs/video-engines.md lists them. */
export function buildValues(request: RenderRequest, files: FileReferences, framesPerSecond: number): Values {
  const numbered = (name: string, words: string[]) =>
    Object.fromEntries(words.map((word, index) => [`${name}_${index + 1}`, word]));
  const some = (words: string[]) => (words.length === 0 ? undefined : words);
  const shorter = Math.min(request.width, request.height);
  return {
    prompt: request.prompt,
    width: request.width,
    height: request.height,
    resolution: `${shorter}p`,
    aspect_ratio: request.aspectRatio,
    seconds: request.durationSeconds,
    seconds_text: String(request.durationSeconds),
    frames: Math.round(request.durationSeconds * framesPerSecond),
    fps: framesPerSecond,
    seed: request.seed,
    has_audio: request.hasAudio,
    format: request.format,
    start_frame: files.startFrame,
    end_frame: files.endFrame,
    source_video: files.sourceVideo,
    audio: files.audio,
    ingredients: some(files.ingredientImages),
    characters: some(files.characterImages),
    reference_videos: some(files.referenceVideos),
    ...numbered('ingredient', files.ingredientImages),
    ...numbered('character', files.characterImages),
    ...numbered('reference_video', files.referenceVideos),
  };
}

const PLACEHOLDER = /\{\{\s*([a-z0-9_]+)\s*\}\}/g;

/**
 * Fills the placeholders of a template. A string that is only a placeholder becomes the value itself, such as a number; if
 * the value is missing, the field or list item is left out. Inside a longer string the value is inserted as text.
 */
export function fillTemplate(template: unknown, values: Values): unknown {
  if (typeof template === 'string') {
    const whole = /^\{\{\s*([a-z0-9_]+)\s*\}\}$/.exec(template)?.[1];
    const find = (name: string) => (Object.hasOwn(values, name) ? values[name] : undefined);
    return whole === undefined
      ? template.replaceAll(PLACEHOLDER, (_, name: string) => describe(find(name)))
      : find(whole);
  }
  if (Array.isArray(template)) {
    return template.map((item) => fillTemplate(item, values)).filter((item) => item !== undefined);
  }
  if (typeof template !== 'object' || template === null) return template;
  const filled = Object.entries(template).map(([key, value]) => [key, fillTemplate(value, values)] as const);
  return Object.fromEntries(filled.filter(([, value]) => value !== undefined));
}

function describe(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? String(value) : '';
}

/** Turns each file into its text for the template. */
export async function buildFileReferences(
  files: SentFiles,
  word: (file: NonNullable<SentFiles['audio']>) => Promise<string>,
): Promise<FileReferences> {
  const one = async (file: SentFiles['audio']) => (file === undefined ? undefined : await word(file));
  const many = (list: SentFiles['referenceVideos']) => Promise.all(list.map(word));
  const { startFrame, endFrame, sourceVideo, audio } = files;
  const [start, end, source, heard] = await Promise.all([startFrame, endFrame, sourceVideo, audio].map(one));
  return {
    ...omitUndefined({ startFrame: start, endFrame: end, sourceVideo: source, audio: heard }),
    ingredientImages: await many(files.ingredientImages),
    characterImages: await many(files.characterImages),
    referenceVideos: await many(files.referenceVideos),
  };
}
