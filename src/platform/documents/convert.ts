import { DocumentError } from './error.ts';
import { isDocumentType } from './formats.ts';
import type { DocumentText } from './job.ts';
import { MAX_DOCUMENT_BYTES } from './limits.ts';
import { runInThread } from './threads.ts';

/**
 * A document as text: PDF by page, DOCX as Markdown, XLSX as CSV by sheet. It is read in a thread with bounds on time
 * and memory, so that a hostile one harms nobody else. Throws a `DocumentError`, or the reason of the signal.
 */
export async function convertDocument(
  bytes: Uint8Array,
  mimeType: string,
  signal?: AbortSignal,
): Promise<DocumentText> {
  if (!isDocumentType(mimeType)) {
    throw new DocumentError('unsupported', `Documents of the type ${mimeType} cannot be read.`);
  }
  if (bytes.length > MAX_DOCUMENT_BYTES) {
    throw new DocumentError('too_large', `The document is over ${MAX_DOCUMENT_BYTES} bytes.`);
  }
  return runInThread({ kind: 'text', mimeType, bytes }, signal);
}
