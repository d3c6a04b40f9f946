import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { inflate } from 'node:zlib';
import { InvalidReferenceError } from './error.ts';

/** Larger colour profiles and texts are treated as decompression bombs. */
const MAX_CHUNK_BYTES = 4 * 1024 * 1024;
const MAX_CHUNKS = 100_000;
/** Finds the start of the compressed part, after the zero-terminated texts before it. */
const COMPRESSED: Readonly<Record<string, number>> = { iCCP: 1, zTXt: 1, iTXt: 3 };

/** Checks the compressed metadata of a PNG. Throws an `InvalidReferenceError` for decompression bombs. */
export async function checkPngChunks(path: string): Promise<void> {
  const file = await readFile(path);
  let at = 8;
  for (let chunks = 0; at + 12 <= file.length; chunks += 1) {
    if (chunks > MAX_CHUNKS) throw new InvalidReferenceError('The image is damaged.');
    const size = file.readUInt32BE(at);
    const type = file.toString('latin1', at + 4, at + 8);
    const body = file.subarray(at + 8, at + 8 + size);
    if (type in COMPRESSED) await checkInflated(skipTexts(type, body));
    at += size + 12;
  }
}

function skipTexts(type: string, body: Buffer): Buffer {
  // iTXt: keyword, two bytes of flags, language, keyword again; the others: keyword, one byte for the method.
  let at = body.indexOf(0) + 1 + (type === 'iTXt' ? 2 : 1);
  if (type === 'iTXt') {
    if (body[at - 2] === 0) return Buffer.alloc(0);
    for (let texts = 1; texts < (COMPRESSED[type] ?? 1); texts += 1) at = body.indexOf(0, at) + 1;
  }
  return body.subarray(at);
}

async function checkInflated(compressed: Buffer): Promise<void> {
  try {
    if (compressed.length > 0) await promisify(inflate)(compressed, { maxOutputLength: MAX_CHUNK_BYTES });
  } catch (error) {
    // Data that does not inflate is left to the decoder.
    if (!(error instanceof RangeError)) return;
    throw new InvalidReferenceError('The image contains texts or a colour profile of many megabytes.', {
      cause: error,
    });
  }
}
