import { decodeText } from './charset.ts';
import { DocumentError } from './error.ts';
import { readHtmlText } from './html-text.ts';
import { readHtml } from './html.ts';
import type { DocumentText, PageSource } from './job.ts';

/** JSON past this is laid out in lines, so that parts of it can be read. */
const LONG_JSON = 5000;
/** Data URLs in a text, which are useless to a reader and would fill the context. */
const DATA_URL = /data:[\w.+-]+\/[\w.+-]+(?:;[\w=.-]+)*;base64,[\w+/=-]{40,}/g;

/** What a page, a text or JSON says, as Markdown or as it is. Without `tree`, of HTML only the words. */
export function readPage(page: PageSource, tree: boolean): DocumentText {
  const isHtml = page.mimeType === 'text/html';
  const source = decodeText(page.bytes, page.charset, isHtml);
  if (!isHtml && source.slice(0, 10_000).includes('\0')) {
    throw new DocumentError('unsupported', 'It is no text, and no document that can be read.');
  }
  const { text, title } = isHtml ? readHtmlPage(source, page.url, tree) : { text: source, title: null };
  const shown = page.mimeType === 'application/json' ? layOut(text) : text;
  return { text: shown.replaceAll(DATA_URL, '[data left out]').replaceAll(/\r\n?/g, '\n').trim(), title };
}

function readHtmlPage(source: string, url: string | null, tree: boolean): DocumentText {
  if (!tree) return readHtmlText(source);
  try {
    return readHtml(source, url);
  } catch {
    // Libraries fail on pages that were crafted to break them.
    return readHtmlText(source);
  }
}

function layOut(text: string): string {
  if (text.length <= LONG_JSON) return text;
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}
