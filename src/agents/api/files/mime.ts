import { lookup } from 'mime-types';
import { detectMediaType, hasSignature } from '../../../platform/documents/media-type.ts';
import type { FileEntry } from '../../../sandbox/protocol/executor.ts';
import { baseName } from './paths.ts';

/** Written as text, though their names do not begin with `text/`. */
const TEXTUAL =
  /^text\/|^application\/(.*\+)?(json|xml|yaml|toml|javascript|ecmascript|x-sh|sql|graphql|x-httpd-php|rtf)$|^image\/svg\+xml$/;

/**
 * By the first bytes; the name decides only what bytes cannot: which kind of text it is, or which of the binary types
 * that have no signature.
 */
export async function decideMimeType(entry: FileEntry): Promise<string | null> {
  if (entry.type === 'directory') return null;
  if (entry.special !== null) return `inode/${entry.special}`;
  const head = Buffer.from(entry.head ?? '', 'base64');
  const named = lookup(baseName(entry.path)) || undefined;
  const isText = entry.text ?? (head.length > 0 && !head.includes(0));
  return isText ? decideTextType(head, named) : decideBinaryType(head, named);
}

async function decideTextType(head: Buffer, named: string | undefined): Promise<string> {
  if (named !== undefined && TEXTUAL.test(named)) return named;
  const sniffed = head.length === 0 ? undefined : await detectMediaType(head);
  return sniffed ?? 'text/plain';
}

async function decideBinaryType(head: Buffer, named: string | undefined): Promise<string> {
  const sniffed = await detectMediaType(head);
  if (sniffed !== undefined) return sniffed;
  if (named === undefined || TEXTUAL.test(named) || (await hasSignature(named))) return 'application/octet-stream';
  return named;
}
