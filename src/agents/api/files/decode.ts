/** Characters decoded at a time: a multiple of four, so that pieces of base64 decode on their own. */
const STEP = 256 * 1024;

type Encoding = 'utf-8' | 'base64';

/** Whether it is base64 with its padding and nothing else. */
export function checkBase64(content: string): boolean {
  if (content.length % 4 !== 0) return false;
  for (let at = 0; at < content.length; at += STEP) {
    const last = at + STEP >= content.length;
    const piece = content.slice(at, at + STEP);
    if (!(last ? /^[A-Za-z0-9+/]*={0,2}$/ : /^[A-Za-z0-9+/]*$/).test(piece)) return false;
  }
  return true;
}

/** Bytes after decoding. */
export function measureContent(content: string, encoding: Encoding): number {
  if (encoding === 'utf-8') return Buffer.byteLength(content);
  const padding = content.endsWith('==') ? 2 : content.endsWith('=') ? 1 : 0;
  return (content.length / 4) * 3 - padding;
}

/** Piece by piece, so that the text and its bytes are never both held whole. */
export async function* decodeContent(content: string, encoding: Encoding): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < content.length;) {
    const end = encoding === 'utf-8' && isHighSurrogate(content.charCodeAt(at + STEP - 1)) ? at + STEP - 1 : at + STEP;
    yield Buffer.from(content.slice(at, end), encoding === 'utf-8' ? 'utf8' : 'base64');
    at = end;
  }
}

function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff;
}
