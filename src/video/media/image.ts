import { stat } from 'node:fs/promises';
import sharp from 'sharp';
import type { Metadata, Sharp } from 'sharp';
import { InvalidReferenceError } from './error.ts';
import { IMAGE_FORMATS } from './formats.ts';
import { checkPngChunks } from './png.ts';
import { sniffFile } from './sniff.ts';

export const MAX_IMAGE_BYTES = 20 * 1024 * 1024;
const MAX_PIXELS = 50_000_000;
const MIN_SIDE = 16;
const MAX_SIDE = 16_384;
/** Time limit for decoding and encoding one image. */
const SECONDS = 20;

export type ImageFacts = { kind: 'image'; mime: string; bytes: number; width: number; height: number };

/** Reads only the first frame, within the limits, and rejects truncated files. */
const OPEN = { limitInputPixels: MAX_PIXELS, failOn: 'truncated', sequentialRead: true, pages: 1 } as const;

/** Probes an image; `width` and `height` are as displayed. Throws an `InvalidReferenceError`. */
export async function probeImage(path: string, signal?: AbortSignal): Promise<ImageFacts> {
  const { mime, bytes } = await sniffFile(path);
  const format = IMAGE_FORMATS[mime];
  if (format === undefined) {
    throw new InvalidReferenceError('The file must be an image: JPEG, PNG, WebP, GIF or AVIF.');
  }
  if (bytes > MAX_IMAGE_BYTES) {
    throw new InvalidReferenceError(`The image is larger than ${MAX_IMAGE_BYTES / 1024 ** 2} MiB.`);
  }
  signal?.throwIfAborted();
  if (format === 'png') await checkPngChunks(path);
  const image = sharp(path, OPEN).timeout({ seconds: SECONDS });
  const metadata = await image.metadata().catch(refuse);
  checkMetadata(metadata, format);
  signal?.throwIfAborted();
  // Decodes the whole image, because an undecodable one must not be charged for.
  await image.stats().catch(refuse);
  const { width, height } = metadata.autoOrient;
  return { kind: 'image', mime, bytes, width, height };
}

function checkMetadata({ format, width, height }: Metadata, expected: string): void {
  // A file that starts like one format and decodes as another is an attempt to deceive.
  if (format !== expected) throw new InvalidReferenceError('The image is damaged.');
  if (Math.max(width, height) > MAX_SIDE) {
    throw new InvalidReferenceError(`The image is more than ${MAX_SIDE} pixels wide or high.`);
  }
  if (Math.min(width, height) < MIN_SIDE) {
    throw new InvalidReferenceError(`The image is less than ${MIN_SIDE} pixels wide or high.`);
  }
}

/**
 * Converts an image to JPEG, or to PNG if it has transparency: upright, in sRGB, and without metadata such as EXIF with
 * locations and names. No side is longer than `maxSide` pixels.
 * Throws an `InvalidReferenceError`.
 */
export async function normalizeImage(
  source: string,
  target: string,
  options: { maxSide?: number; signal?: AbortSignal } = {},
): Promise<ImageFacts> {
  await probeImage(source, options.signal);
  const side = options.maxSide ?? 4096;
  const image = openImage(source).resize({ width: side, height: side, fit: 'inside', withoutEnlargement: true });
  const opaque = (await sharp(source, OPEN).stats().catch(refuse)).isOpaque;
  const encoded = opaque ? image.jpeg({ quality: 92, chromaSubsampling: '4:4:4' }) : image.png();
  const { width, height } = await encoded.toFile(target).catch(refuse);
  const { size } = await stat(target);
  return { kind: 'image', mime: opaque ? 'image/jpeg' : 'image/png', bytes: size, width, height };
}

/** An image that has passed `probeImage`, upright and in sRGB. */
export function openImage(path: string): Sharp {
  return sharp(path, OPEN).timeout({ seconds: SECONDS }).autoOrient().toColourspace('srgb');
}

function refuse(error: unknown): never {
  const text = error instanceof Error ? error.message : '';
  if (/pixel limit/i.test(text)) {
    throw new InvalidReferenceError(`The image has over ${MAX_PIXELS / 1_000_000} megapixels.`, { cause: error });
  }
  throw new InvalidReferenceError('The image is damaged or has an unsupported format.', { cause: error });
}
