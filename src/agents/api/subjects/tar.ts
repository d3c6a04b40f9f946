// Tests: test/agents/api/subjects/tar.test.ts
const BLOCK = 512;
/** What fits into the field of a header; longer names and other characters need a record of their own. */
const PLAIN_NAME = /^[\x20-\x7e]{1,100}$/;

export type TarEntry = {
  /** with `/`, relative */
  path: string;
  modifiedMs: number;
  sizeBytes: number;
  /** exactly `sizeBytes` */
  body: AsyncIterable<Uint8Array> | Iterable<Uint8Array>;
};

function octal(value: number, length: number): string {
  return `${Math.max(0, Math.floor(value))
    .toString(8)
    .padStart(length - 1, '0')}\0`;
}

function buildHeader(
  name: string,
  type: '0' | 'x',
  { sizeBytes, modifiedMs }: Omit<TarEntry, 'path' | 'body'>,
): Buffer {
  const header = Buffer.alloc(BLOCK);
  header.write(name, 0, 100, 'utf8');
  header.write(octal(0o644, 8), 100);
  header.write(octal(0, 8), 108);
  header.write(octal(0, 8), 116);
  header.write(octal(sizeBytes, 12), 124);
  header.write(octal(modifiedMs / 1000, 12), 136);
  header.write(' '.repeat(8), 148);
  header.write(type, 156);
  header.write('ustar\u000000', 257);
  const checksum = header.reduce((sum, byte) => sum + byte, 0);
  header.write(`${checksum.toString(8).padStart(6, '0')}\0 `, 148);
  return header;
}

/** `length key=value\n`, where the length counts its own digits. */
function buildRecord(key: string, value: string): Buffer {
  const size = Buffer.byteLength(` ${key}=${value}\n`);
  let length = size + String(size).length;
  if (size + String(length).length !== length) length = size + String(length).length;
  return Buffer.from(`${length} ${key}=${value}\n`);
}

function padding(sizeBytes: number): Buffer {
  return Buffer.alloc((BLOCK - (sizeBytes % BLOCK)) % BLOCK);
}

/**
 * For readers that skip the record with the whole name. One part alone: the cut may begin within a folder whose name ends
 * in two dots, which would lead them out of where they unpack.
 */
function shorten(path: string): string {
  return `long-names/${path
    .replaceAll(/[^\x20-\x7e]/g, '_')
    .replaceAll('/', '_')
    .slice(-80)}`;
}

/** Whether a path leads to a place below the folder that an archive is unpacked in. */
export function isInside(path: string): boolean {
  return !path.includes('\0') && path.split('/').every((part) => part !== '' && part !== '.' && part !== '..');
}

function* buildStart({ path, ...entry }: Omit<TarEntry, 'body'>): Generator<Uint8Array> {
  if (!PLAIN_NAME.test(path)) {
    const record = buildRecord('path', path);
    yield buildHeader('PaxHeader', 'x', { ...entry, sizeBytes: record.length });
    yield record;
    yield padding(record.length);
  }
  yield buildHeader(PLAIN_NAME.test(path) ? path : shorten(path), '0', entry);
}

/**
 * A tar archive (POSIX, pax), written as it is read. Throws when a body is not as long as its entry says, and for a path
 * that leads outside.
 */
export async function* writeTar(entries: AsyncIterable<TarEntry>): AsyncGenerator<Uint8Array> {
  for await (const { body, ...entry } of entries) {
    if (!isInside(entry.path)) throw new Error('a path leads out of the archive');
    yield* buildStart(entry);
    let left = entry.sizeBytes;
    for await (const chunk of body) {
      left -= chunk.length;
      if (left < 0) break;
      yield chunk;
    }
    if (left !== 0) throw new Error('a file changed while it was exported');
    yield padding(entry.sizeBytes);
  }
  yield Buffer.alloc(2 * BLOCK);
}
