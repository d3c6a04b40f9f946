import { lookup } from 'mime-types';
import type { ConversionPort } from '../tools/ports.ts';
import { convertDocument } from '../../platform/documents/convert.ts';
import { prepareImage } from '../../platform/documents/draw.ts';
import { DocumentError } from '../../platform/documents/error.ts';
import { isDocumentType } from '../../platform/documents/formats.ts';
import { EgressError } from '../../platform/egress/error.ts';
import type { Egress } from '../../platform/egress/egress.ts';

const FETCH_BYTES = 50 * 1024 * 1024;
const FETCH_MS = 30_000;

export function buildConversion(egress: Egress): ConversionPort {
  return {
    findType(path) {
      const type = lookup(path);
      return type !== false && isDocumentType(type) ? type : undefined;
    },
    readDocument: (bytes, mimeType, signal) =>
      catchDocumentErrors(async () => ({ text: (await convertDocument(bytes, mimeType, signal)).text })),
    readImage: (given, signal) =>
      catchDocumentErrors(async () => {
        const { mediaType, bytes } = await prepareImage(given, signal);
        return { image: { type: 'image', mediaType, data: Buffer.from(bytes).toString('base64') } };
      }),
    fetchImage: (url, signal) =>
      catchDocumentErrors(async () => {
        const init = { maxBytes: FETCH_BYTES, timeoutMs: FETCH_MS, headers: { accept: 'image/*' }, signal };
        const response = await egress.fetch(url, init);
        if (!response.ok) {
          await response.body?.cancel().catch(() => undefined);
          return { fault: `The server answered ${response.status}.` };
        }
        return { bytes: new Uint8Array(await response.arrayBuffer()) };
      }),
  };
}

async function catchDocumentErrors<T>(work: () => Promise<T | { fault: string }>): Promise<T | { fault: string }> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof DocumentError || error instanceof EgressError) return { fault: error.message };
    throw error;
  }
}
