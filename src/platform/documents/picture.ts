import { decode } from 'bmp-ts';
import sharp from 'sharp';
import type { Sharp } from 'sharp';
import { DocumentError } from './error.ts';
import { detectMediaType } from './media-type.ts';
import type { Picture } from './job.ts';

/** What models take as it is, up to these bounds. */
const TAKEN = ['image/png', 'image/jpeg', 'image/webp', 'image/gif'];
const MAX_BYTES = 5 * 1024 * 1024;
const MAX_SIDE = 7900;
/** Steps of size and quality, tried in order until the image is small enough. */
const TARGET_BYTES = 4 * 1024 * 1024;
const ATTEMPTS = [
  { side: MAX_SIDE, quality: 85 },
  { side: 4096, quality: 85 },
  { side: 2560, quality: 80 },
  { side: 1568, quality: 75 },
];
const MAX_PIXELS = 100_000_000;
const OPEN = { limitInputPixels: MAX_PIXELS, failOn: 'none' } as const;

/** An image as models take it: as it is where it may be, else encoded anew and smaller. Told by its bytes. */
export async function preparePicture(bytes: Uint8Array): Promise<Picture> {
  const type = (await detectMediaType(bytes)) ?? 'unknown';
  if (!type.startsWith('image/')) throw new DocumentError('unsupported', 'This is not an image.');
  const open = (): Sharp => (type === 'image/bmp' ? openBmp(bytes) : sharp(bytes, OPEN));
  try {
    const { width, height } = await open().metadata();
    if (TAKEN.includes(type) && bytes.length <= MAX_BYTES && Math.max(width, height) <= MAX_SIDE) {
      // Reads it to the end: what cannot be decoded would fail the whole model call.
      await open().stats();
      return { mediaType: type, bytes, width, height };
    }
    return await encode(open);
  } catch (cause) {
    if (cause instanceof DocumentError) throw cause;
    if (cause instanceof Error && /pixel limit/i.test(cause.message)) throw tooManyPixels();
    throw new DocumentError('broken', `The image (${type}) is damaged, or of a kind that cannot be read.`, { cause });
  }
}

function tooManyPixels(): DocumentError {
  return new DocumentError('too_large', `The image has over ${MAX_PIXELS / 1_000_000} megapixels.`);
}

function openBmp(bytes: Uint8Array): Sharp {
  const head = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (head.length > 26 && Math.abs(head.readInt32LE(18) * head.readInt32LE(22)) > MAX_PIXELS) throw tooManyPixels();
  const { width, height, data } = decode(head, { toRGBA: true });
  // Most writers leave the fourth byte of a pixel at zero without meaning it to be seen through.
  for (let alpha = 3; alpha < data.length; alpha += 4) data[alpha] = 255;
  return sharp(data, { raw: { width, height, channels: 4 } });
}

async function encode(open: () => Sharp): Promise<Picture> {
  let smallest: Picture | undefined;
  for (const { side, quality } of ATTEMPTS) {
    const { data, info } = await open()
      .rotate()
      .resize({ width: side, height: side, fit: 'inside', withoutEnlargement: true })
      .flatten({ background: 'white' })
      .jpeg({ quality })
      .toBuffer({ resolveWithObject: true });
    smallest = { mediaType: 'image/jpeg', bytes: data, width: info.width, height: info.height };
    if (data.length <= TARGET_BYTES) return smallest;
  }
  if (smallest === undefined) throw new Error('There is always an attempt.');
  return smallest;
}
