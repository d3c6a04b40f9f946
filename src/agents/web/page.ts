import { convertDocument } from '../../platform/documents/convert.ts';
import { convertPage } from '../../platform/documents/convert-page.ts';
import { DocumentError } from '../../platform/documents/error.ts';
import type { Egress } from '../../platform/egress/egress.ts';
import { findEgressError } from '../../platform/egress/error.ts';
import { findBodyType } from './content-type.ts';

/** `refused` tells of an address that may not be asked. */
export type PageAnswer = { title: string; text: string } | { fault: string; refused: boolean };

/** Of one page: bytes after decompression, and time from the first byte asked to the last one had. */
export type PageLimits = { maxBytes: number; timeoutMs: number };

const LIMITS: PageLimits = { maxBytes: 10 * 1024 * 1024, timeoutMs: 30_000 };
const HEADERS = {
  'user-agent': 'Mozilla/5.0 (compatible; Capstan)',
  accept: 'text/html,application/xhtml+xml,text/markdown,text/plain;q=0.9,application/json;q=0.9,*/*;q=0.8',
};

/** What stands at an address, as text. Throws the signal's reason only. */
export async function readPage(
  egress: Egress,
  url: string,
  signal: AbortSignal,
  limits: PageLimits = LIMITS,
): Promise<PageAnswer> {
  try {
    return await fetchText(egress, url, signal, limits);
  } catch (error) {
    signal.throwIfAborted();
    const refusal = findEgressError(error);
    if (refusal !== undefined) return { fault: refusal.message, refused: refusal.code === 'refused' };
    if (error instanceof DocumentError) return { fault: error.message, refused: false };
    throw error;
  }
}

async function fetchText(egress: Egress, url: string, signal: AbortSignal, limits: PageLimits): Promise<PageAnswer> {
  const response = await egress.fetch(url, { headers: HEADERS, ...limits, signal });
  if (!response.ok) {
    await response.body?.cancel().catch(() => undefined);
    return { fault: `The server answered with status ${response.status}.`, refused: false };
  }
  const bytes = new Uint8Array(await response.arrayBuffer());
  const type = await findBodyType(bytes, response.headers.get('content-type'));
  if (type.kind === 'other') return { fault: describeOther(type.mimeType), refused: false };
  const { text, title } =
    type.kind === 'document'
      ? await convertDocument(bytes, type.mimeType, signal)
      : await convertPage({ bytes, mimeType: type.mimeType, charset: type.charset, url: response.url }, signal);
  if (text.trim() !== '') return { title: title ?? '', text };
  return {
    fault: 'There is no text in it. It may show some only in a browser, which runs its scripts.',
    refused: false,
  };
}

function describeOther(mimeType: string): string {
  const hint = mimeType.startsWith('image/') ? ' vision_analyze can look at it.' : '';
  return `It is of the type ${mimeType}, which is not text.${hint}`;
}
