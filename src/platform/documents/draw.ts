import { DocumentError } from './error.ts';
import type { PagePictures, Picture } from './job.ts';
import { MAX_DOCUMENT_BYTES } from './limits.ts';
import { runInThread } from './threads.ts';

/** The first pages of a PDF as images that models take. Throws a `DocumentError`, or the reason of the signal. */
export async function drawPdf(bytes: Uint8Array, maxPages: number, signal?: AbortSignal): Promise<PagePictures> {
  checkSize(bytes, 'document');
  return runInThread({ kind: 'pages', bytes, maxPages }, signal);
}

/**
 * An image as models take it: PNG, JPEG, WebP or GIF of at most 5 MiB and 7,900 pixels a side. Anything else that can
 * be decoded is encoded anew. Throws a `DocumentError`, or the reason of the signal.
 */
export async function prepareImage(bytes: Uint8Array, signal?: AbortSignal): Promise<Picture> {
  checkSize(bytes, 'image');
  return runInThread({ kind: 'picture', bytes }, signal);
}

function checkSize(bytes: Uint8Array, what: string): void {
  if (bytes.length > MAX_DOCUMENT_BYTES) {
    throw new DocumentError('too_large', `The ${what} is over ${MAX_DOCUMENT_BYTES} bytes.`);
  }
}
