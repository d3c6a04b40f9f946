import { getDocumentProxy, getMeta } from 'unpdf';
import { DocumentError } from './error.ts';
import type { DocumentText } from './job.ts';
import { MAX_PAGES, MAX_TEXT_CHARACTERS } from './limits.ts';

type TextItem = { str?: string; hasEOL?: boolean };

/** The text of each page under a heading with its number. Pages that are only pictures have none. */
export async function readPdf(bytes: Uint8Array): Promise<DocumentText> {
  let pdf;
  try {
    pdf = await getDocumentProxy(bytes, { verbosity: 0 });
  } catch (cause) {
    const isEncrypted = cause instanceof Error && cause.name === 'PasswordException';
    throw isEncrypted
      ? new DocumentError('encrypted', 'The PDF is encrypted and needs a password.')
      : new DocumentError('broken', 'The PDF is damaged and cannot be read.', { cause });
  }
  const { info } = await getMeta(pdf);
  const title: unknown = info['Title'];
  const pages = pdf.numPages;
  const texts: string[] = [];
  let characters = 0;
  let number = 1;
  for (; number <= Math.min(pages, MAX_PAGES) && characters <= MAX_TEXT_CHARACTERS; number += 1) {
    const text = await readPage(pdf, number);
    characters += text.length;
    texts.push(pages === 1 ? text : `## Page ${number}\n\n${text}`.trimEnd());
  }
  if (characters === 0 || texts.every((text) => /^(?:## Page \d+)?$/.test(text))) {
    return {
      text: `[The PDF has ${pages} page${pages === 1 ? '' : 's'} and no text: pages may be scanned pictures.]`,
      title: null,
    };
  }
  if (number <= pages) texts.push(`[Pages ${number} to ${pages} are left out.]`);
  return { text: texts.join('\n\n'), title: typeof title === 'string' && title.trim() !== '' ? title.trim() : null };
}

// One broken page does not cost the others.
async function readPage(pdf: Awaited<ReturnType<typeof getDocumentProxy>>, number: number): Promise<string> {
  try {
    const page = await pdf.getPage(number);
    const { items } = await page.getTextContent();
    page.cleanup();
    return (items as TextItem[])
      .map(({ str = '', hasEOL }) => (hasEOL === true ? `${str}\n` : str))
      .join('')
      .trim();
  } catch {
    return '[This page is damaged and cannot be read.]';
  }
}
