import { randomBytes } from 'node:crypto';
import sharp from 'sharp';
import { describe, expect, it } from 'vitest';
import { drawPdf, prepareImage } from '../../../src/platform/documents/draw.ts';
import { buildPdf } from '../../support/documents.ts';

const paint = (width: number, height: number, background: string) =>
  sharp({ create: { width, height, channels: 3, background } });

/** A BMP of 24 bits a pixel in one colour. */
function buildBmp(width: number, height: number, [r, g, b]: readonly [number, number, number]): Buffer {
  const row = Math.ceil((width * 3) / 4) * 4;
  const head = Buffer.alloc(54);
  head.write('BM');
  head.writeUInt32LE(54 + row * height, 2);
  head.writeUInt32LE(54, 10);
  head.writeUInt32LE(40, 14);
  head.writeInt32LE(width, 18);
  head.writeInt32LE(height, 22);
  head.writeUInt16LE(1, 26);
  head.writeUInt16LE(24, 28);
  head.writeUInt32LE(row * height, 34);
  const line = Buffer.alloc(row);
  for (let at = 0; at < width; at += 1) line.set([b, g, r], at * 3);
  return Buffer.concat([head, ...Array.from({ length: height }, () => line)]);
}

async function pixelAt(bytes: Uint8Array, left: number, top: number): Promise<number[]> {
  const { data } = await sharp(bytes)
    .extract({ left, top, width: 1, height: 1 })
    .removeAlpha()
    .raw()
    .toBuffer({ resolveWithObject: true });
  return [...data];
}

describe('pages of a PDF', () => {
  it('are drawn in their colours, in the size that models look at', async () => {
    const red = Buffer.from('1 0 0 rg 0 0 612 792 re f', 'latin1');
    const { pageCount, pictures } = await drawPdf(buildPdf(['', 'two', 'three'], { streams: [red] }), 2);
    expect(pageCount).toBe(3);
    expect(pictures.map(({ mediaType, height }) => [mediaType, height])).toEqual([
      ['image/jpeg', 1568],
      ['image/jpeg', 1568],
    ]);
    const [first, second] = pictures;
    if (first === undefined || second === undefined) throw new Error('no pages');
    const [r = 0, g = 255, b = 255] = await pixelAt(first.bytes, 600, 800);
    expect([r > 240, g < 20, b < 20]).toEqual([true, true, true]);
    expect((await sharp(second.bytes).stats()).isOpaque).toBe(true);
    expect(Math.min(...(await pixelAt(second.bytes, 5, 5)))).toBeGreaterThan(250);
    expect((await sharp(second.bytes).stats()).channels[0]?.min).toBeLessThan(60);
  });

  it('of a damaged one are refused', async () => {
    await expect(drawPdf(Buffer.from('%PDF-1.7 nothing'), 5)).rejects.toMatchObject({ code: 'broken' });
  });
});

describe('an image', () => {
  it.each(['png', 'jpeg', 'webp', 'gif'] as const)('stays as it is where models take it: %s', async (format) => {
    const bytes = await paint(30, 20, 'blue').toFormat(format).toBuffer();
    const picture = await prepareImage(bytes);
    expect(picture).toMatchObject({ mediaType: `image/${format}`, width: 30, height: 20 });
    expect(Buffer.from(picture.bytes)).toEqual(bytes);
  });

  it('of a kind that models do not take is encoded anew', async () => {
    const picture = await prepareImage(buildBmp(8, 4, [255, 128, 0]));
    expect(picture).toMatchObject({ mediaType: 'image/jpeg', width: 8, height: 4 });
    const [r = 0, g = 0, b = 255] = await pixelAt(picture.bytes, 3, 2);
    expect([r > 240, Math.abs(g - 128) < 20, b < 20]).toEqual([true, true, true]);
  });

  it('with too long a side is made smaller', async () => {
    const picture = await prepareImage(await paint(9000, 20, 'green').png().toBuffer());
    expect([picture.width, picture.height]).toEqual([7900, 18]);
  });

  it('over 5 MiB comes down to 4', async () => {
    const bytes = await sharp(randomBytes(2000 * 1500 * 3), { raw: { width: 2000, height: 1500, channels: 3 } })
      .png()
      .toBuffer();
    expect(bytes.length).toBeGreaterThan(5 * 1024 * 1024);
    const picture = await prepareImage(bytes);
    expect(picture.mediaType).toBe('image/jpeg');
    expect(picture.bytes.length).toBeLessThanOrEqual(4 * 1024 * 1024);
  });

  it('with too many pixels is refused', async () => {
    const bytes = await paint(16_000, 16_000, 'white').png().toBuffer();
    await expect(prepareImage(bytes)).rejects.toMatchObject({ code: 'too_large' });
  });

  it('is detected from its bytes', async () => {
    await expect(prepareImage(Buffer.from('no image at all'))).rejects.toMatchObject({ code: 'unsupported' });
    const cut = (await paint(64, 64, 'red').png().toBuffer()).subarray(0, 45);
    await expect(prepareImage(cut)).rejects.toMatchObject({ code: 'broken' });
  });
});
