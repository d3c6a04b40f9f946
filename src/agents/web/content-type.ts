import { detectMediaType } from '../../platform/documents/media-type.ts';
import { isDocumentType } from '../../platform/documents/formats.ts';
import type { PageSource } from '../../platform/documents/job.ts';

/** The kind of a body: a document or a page of this type, or an unsupported type. */
export type BodyType =
  | { kind: 'document'; mimeType: string }
  | { kind: 'page'; mimeType: PageSource['mimeType']; charset: string | null }
  | { kind: 'other'; mimeType: string };

/** Content with these prefixes is text, even if a binary signature also matches. */
const TEXTUAL = /^text\/|[/+](?:xml|json)$|^application\/(?:rtf|postscript|javascript|x-sh)/;
const HTML_TYPES = ['text/html', 'application/xhtml+xml'];
const HTML_HEAD = /^\s*(?:<!--(?:(?!-->)[^])*-->\s*)*(?:<\?xml[^>]*>\s*)?<(?:!doctype\s+html|html|head|body)\b/i;
const HEAD = 1024;

/** Detected from the content if it is unambiguous, else from the declared type, else HTML by its first bytes. */
export async function findBodyType(bytes: Uint8Array, contentType: string | null): Promise<BodyType> {
  const { declared, charset } = parseContentType(contentType ?? '');
  const seen = (await detectMediaType(bytes)) ?? '';
  for (const mimeType of [seen, declared]) if (isDocumentType(mimeType)) return { kind: 'document', mimeType };
  if (seen !== '' && !TEXTUAL.test(seen)) return { kind: 'other', mimeType: seen };
  if (/[/+]json$/.test(declared)) return { kind: 'page', mimeType: 'application/json', charset };
  const isHtml = HTML_TYPES.includes(declared) || (declared !== 'text/plain' && looksLikeHtml(bytes));
  return { kind: 'page', mimeType: isHtml ? 'text/html' : 'text/plain', charset };
}

function parseContentType(header: string): { declared: string; charset: string | null } {
  const declared = header.split(';', 1)[0]?.trim().toLowerCase() ?? '';
  return { declared, charset: /;\s*charset\s*=\s*["']?([^\s"';]+)/i.exec(header)?.[1] ?? null };
}

function looksLikeHtml(bytes: Uint8Array): boolean {
  return HTML_HEAD.test(Buffer.from(bytes.subarray(0, HEAD)).toString('latin1'));
}
