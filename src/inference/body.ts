import { pipeline } from 'node:stream';
import type { Readable } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';

/** The body in plain bytes. We ask for no compression, but some proxies compress whatever passes. */
export function decodeBody(body: Readable, headers: Record<string, string | string[] | undefined>): Readable {
  const encoding = String(headers['content-encoding'] ?? '').toLowerCase();
  const decoder =
    encoding === 'gzip' || encoding === 'x-gzip'
      ? createGunzip()
      : encoding === 'br'
        ? createBrotliDecompress()
        : encoding === 'deflate'
          ? createInflate()
          : undefined;
  if (decoder === undefined) return body;
  // An error on either side ends both; whoever reads the decoder sees it.
  return pipeline(body, decoder, () => {});
}

/** The beginning of a body as text, at most `limit` bytes; the rest is not read. */
export async function readText(body: Readable, limit: number): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of body as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    size += chunk.length;
    if (size >= limit) break;
  }
  return Buffer.concat(chunks).subarray(0, limit).toString('utf8');
}
