import { Readable, pipeline } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import { readChunks } from './exchange.ts';
import type { Exchange } from './exchange.ts';

const DECODERS: Record<string, () => NodeJS.ReadWriteStream & AsyncIterable<unknown>> = {
  gzip: createGunzip,
  'x-gzip': createGunzip,
  br: createBrotliDecompress,
  deflate: createInflate,
};

/** The decompressed body. Requests ask for no compression, but some proxies compress anyway. */
export function decodeBody(answer: Exchange): AsyncIterable<Uint8Array> {
  const decoder = DECODERS[String(answer.headers['content-encoding'] ?? '').toLowerCase()]?.();
  if (decoder === undefined) return readChunks(answer);
  // An error on either side closes both streams and reaches the reader of the decoder.
  pipeline(Readable.from(readChunks(answer)), decoder, () => {});
  return decoder as AsyncIterable<Uint8Array>;
}

/** The first `limit` bytes of a body as text; the rest is not read. */
export async function readText(body: AsyncIterable<Uint8Array>, limit: number): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body) {
    chunks.push(chunk);
    size += chunk.length;
    if (size >= limit) break;
  }
  return Buffer.concat(chunks).subarray(0, limit).toString('utf8');
}
