import { unzipSync, zipSync } from 'fflate';
import { DocumentError } from './error.ts';
import { MAX_INFLATED_BYTES } from './limits.ts';

const OLE = [0xd0, 0xcf, 0x11, 0xe0];
const MAX_PARTS = 10_000;

/**
 * The parts of an office document that `wanted` names, inflated. A part is never inflated beyond the size that the
 * archive's directory gives, and these sizes are checked first, so that a small archive cannot fill the memory.
 */
export function readParts(bytes: Uint8Array, wanted: (name: string) => boolean): Record<string, Uint8Array> {
  if (OLE.every((byte, index) => bytes[index] === byte)) {
    throw new DocumentError('encrypted', 'The document is encrypted, or in the format before Office Open XML.');
  }
  let inflated = 0;
  let parts = 0;
  try {
    return unzipSync(bytes, {
      filter: ({ name, originalSize }) => {
        parts += 1;
        if (parts > MAX_PARTS) throw new DocumentError('too_large', `The document has over ${MAX_PARTS} parts.`);
        if (!wanted(name)) return false;
        inflated += originalSize;
        if (inflated > MAX_INFLATED_BYTES) {
          throw new DocumentError('too_large', `The document is over ${MAX_INFLATED_BYTES} bytes when unpacked.`);
        }
        return true;
      },
    });
  } catch (cause) {
    if (cause instanceof DocumentError) throw cause;
    throw new DocumentError('broken', 'The document is damaged: it is no readable archive.', { cause });
  }
}

/** Repacks the parts into an archive with correct sizes. */
export function joinParts(parts: Record<string, Uint8Array>): Uint8Array {
  return zipSync(parts, { level: 0 });
}

const ENTITIES: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

/** The title in the document's properties. */
export function findTitle(parts: Record<string, Uint8Array>): string | null {
  const core = parts['docProps/core.xml'];
  if (core === undefined) return null;
  const title = /<dc:title>([^<]*)<\/dc:title>/.exec(Buffer.from(core).toString('utf8'))?.[1]?.trim() ?? '';
  return title === '' ? null : title.replaceAll(/&(amp|lt|gt|quot|apos);/g, (_, name: string) => ENTITIES[name] ?? '');
}
