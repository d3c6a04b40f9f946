import { isUtf8 } from 'node:buffer';
import { TextDecoder } from 'node:util';
import sniffEncoding from 'html-encoding-sniffer';

/**
 * Bytes as text, in the encoding that browsers would take: byte order mark, what the server declared, for HTML what the
 * page declares; else UTF-8 where it is that, and windows-1252.
 */
export function decodeText(bytes: Uint8Array, declared: string | null, isHtml: boolean): string {
  const encoding = sniffEncoding(bytes, {
    ...(declared === null ? {} : { transportLayerEncodingLabel: declared }),
    defaultEncoding: isUtf8(bytes) ? 'UTF-8' : 'windows-1252',
    xml: !isHtml,
  });
  return buildDecoder(encoding).decode(bytes);
}

function buildDecoder(encoding: string): TextDecoder {
  try {
    return new TextDecoder(encoding);
  } catch {
    // The standard knows names that stand for no encoding that could be read.
    return new TextDecoder();
  }
}
