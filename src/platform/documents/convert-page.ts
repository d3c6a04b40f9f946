import { DocumentError } from './error.ts';
import type { DocumentText, PageSource } from './job.ts';
import { runInThread } from './threads.ts';

/**
 * A page as text: HTML as Markdown of what it is about, text as it is, long JSON in lines. Of HTML that takes too long
 * or too much memory only the words are given. Throws a `DocumentError`, or the reason of the signal.
 */
export async function convertPage(page: PageSource, signal?: AbortSignal): Promise<DocumentText> {
  try {
    return await runInThread({ kind: 'page', page, tree: true }, signal);
  } catch (error) {
    const hasWords = page.mimeType === 'text/html' && error instanceof DocumentError;
    if (!hasWords) throw error;
    return await runInThread({ kind: 'page', page, tree: false }, signal);
  }
}
