import { open } from 'node:fs/promises';
import { detectMediaType } from '../../platform/documents/media-type.ts';
import { InvalidReferenceError } from './error.ts';

/** Bytes read to detect a file's type; enough to skip the pictures in MP3 tags. */
const HEAD_BYTES = 1024 * 1024;

export type Sniffed = { mime: string; bytes: number };

/** Returns the size of a file, and its media type detected from its first bytes. Throws an `InvalidReferenceError`. */
export async function sniffFile(path: string): Promise<Sniffed> {
  await using file = await open(path, 'r');
  const { size } = await file.stat();
  if (size === 0) throw new InvalidReferenceError('The file is empty.');
  const head = Buffer.alloc(Math.min(size, HEAD_BYTES));
  const { bytesRead } = await file.read(head, 0, head.length, 0);
  const mime = await detectMediaType(head.subarray(0, bytesRead));
  if (mime === undefined) throw new InvalidReferenceError('The file has an unknown type.');
  return { mime, bytes: size };
}
