import { PDFiumLibrary } from '@hyzyla/pdfium';
import sharp from 'sharp';
import { DocumentError } from './error.ts';
import type { PagePictures, Picture } from './job.ts';

/** Of the longer side in pixels: what models look at without scaling it down. */
const SIDE = 1568;
const QUALITY = 80;

/** The first pages of a PDF as JPEG. */
export async function drawPages(bytes: Uint8Array, maxPages: number): Promise<PagePictures> {
  const library = await PDFiumLibrary.init();
  try {
    const pdf = await library.loadDocument(bytes);
    const pageCount = pdf.getPageCount();
    const pictures: Picture[] = [];
    for (let index = 0; index < Math.min(pageCount, maxPages); index += 1) {
      const page = pdf.getPage(index);
      const { originalWidth, originalHeight } = page.getOriginalSize();
      const scale = SIDE / Math.max(originalWidth, originalHeight, 1);
      const { data, width, height } = await page.render({ scale, render: encode });
      pictures.push({ mediaType: 'image/jpeg', bytes: data, width, height });
    }
    pdf.destroy();
    return { pageCount, pictures };
  } catch (cause) {
    throw new DocumentError('broken', 'The PDF is damaged or encrypted and cannot be shown.', { cause });
  } finally {
    library.destroy();
  }
}

async function encode({ data, width, height }: { data: Uint8Array; width: number; height: number }) {
  const jpeg = await sharp(data, { raw: { width, height, channels: 4 } })
    .flatten({ background: 'white' })
    .jpeg({ quality: QUALITY })
    .toBuffer();
  return Uint8Array.from(jpeg);
}
