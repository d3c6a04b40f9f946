import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import sharp from 'sharp';
import type { Sharp } from 'sharp';
import { openImage } from '../../media/image.ts';
import type { Drawing } from './landscape.ts';

/** An overlay picture: raw RGBA in a file, which ffmpeg reads once without decoding. */
export type Sprite = { path: string; width: number; height: number };
export type SpriteFolder = { folder: string; signal: AbortSignal };

const CLEAR = { r: 0, g: 0, b: 0, alpha: 0 };

export async function makeSprite(to: SpriteFolder, name: string, image: Sharp): Promise<Sprite> {
  to.signal.throwIfAborted();
  const { data, info } = await image.ensureAlpha().raw().toBuffer({ resolveWithObject: true });
  const path = join(to.folder, `${name}.rgba`);
  await writeFile(path, data);
  return { path, width: info.width, height: info.height };
}

export function drawSprite(to: SpriteFolder, name: string, { svg }: Drawing): Promise<Sprite> {
  return makeSprite(to, name, sharp(Buffer.from(svg)));
}

/** Scales a caller's picture to fill a frame and keeps its most salient part. */
export function makeFrame(to: SpriteFolder, name: string, path: string, size: { width: number; height: number }) {
  const filled = openImage(path).resize({ ...size, fit: 'cover', position: 'attention' });
  return makeSprite(to, name, filled.flatten({ background: '#000000' }));
}

/** A caller's picture as a card with a light rim: rounded for things, a circle for characters. */
export async function makeTile(
  to: SpriteFolder,
  name: string,
  path: string,
  shape: { side: number; round: boolean; accent: string },
): Promise<Sprite> {
  const { side } = shape;
  const rim = Math.max(2, Math.round(side / 40));
  const inner = side - 2 * rim;
  const radius = shape.round ? inner / 2 : Math.round(inner / 12);
  const plate = (size: number, r: number, fill: string) =>
    Buffer.from(
      `<svg xmlns="http://www.w3.org/2000/svg" width="${size}" height="${size}"><rect width="${size}" height="${size}" rx="${r}" fill="${fill}"/></svg>`,
    );
  const picture = await openImage(path)
    .resize({ width: inner, height: inner, fit: 'cover', position: 'attention' })
    .ensureAlpha()
    .composite([{ input: plate(inner, radius, '#ffffff'), blend: 'dest-in' }])
    .png({ compressionLevel: 1 })
    .toBuffer();
  const back = sharp({ create: { width: side, height: side, channels: 4, background: CLEAR } }).composite([
    { input: plate(side, radius + rim, shape.round ? shape.accent : '#ffffff') },
    { input: picture, left: rim, top: rim },
  ]);
  return makeSprite(to, name, sharp(await back.png({ compressionLevel: 1 }).toBuffer()));
}

/** The rim below a moving picture. */
export function drawRim(to: SpriteFolder, name: string, size: { width: number; height: number }): Promise<Sprite> {
  const { width, height } = size;
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}"><rect width="${width}" height="${height}" rx="${Math.round(height / 30)}" fill="#ffffff"/></svg>`;
  return drawSprite(to, name, { svg, width, height });
}
