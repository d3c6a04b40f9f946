import { open } from 'node:fs/promises';
import { fileTypeFromBuffer } from 'file-type';
import { InvalidReferenceError } from './error.ts';

/** Past this a file does not say what it is any more; covers pictures inside of MP3 tags. */
const HEAD_BYTES = 1024 * 1024;

export type Sniffed = { mime: string; bytes: number };

/** The size of a file, and its media type by its first bytes. Throws an `InvalidReferenceError`. */
export async function sniffFile(path: string): Promise<Sniffed> {
  await using file = await open(path, 'r');
  const { size } = await file.stat();
  if (size === 0) throw new InvalidReferenceError('The file is empty.');
  const head = Buffer.alloc(Math.min(size, HEAD_BYTES));
  const { bytesRead } = await file.read(head, 0, head.length, 0);
  const type = await fileTypeFromBuffer(head.subarray(0, bytesRead)).catch(() => undefined);
  if (type === undefined) throw new InvalidReferenceError('The file is of no known kind.');
  return { mime: type.mime, bytes: size };
}
