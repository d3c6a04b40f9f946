import mammoth from 'mammoth';
import { findTitle, joinParts, readParts } from './archive.ts';
import { DocumentError } from './error.ts';
import type { DocumentText } from './job.ts';
import { buildMarkdown } from './markdown.ts';

/** Markdown, tables included; pictures are left out. */
export async function readDocx(bytes: Uint8Array): Promise<DocumentText> {
  const parts = readParts(bytes, (name) => /\.(?:xml|rels)$/i.test(name));
  let html: string;
  try {
    const buffer = Buffer.from(joinParts(parts));
    html = (
      await mammoth.convertToHtml({ buffer }, { convertImage: mammoth.images.imgElement(async () => ({ src: '' })) })
    ).value;
  } catch (cause) {
    throw new DocumentError('broken', 'The document is damaged, or no Word document.', { cause });
  }
  return { text: buildMarkdown(html), title: findTitle(parts) };
}
