const BOM = '\uFEFF';

/** A text file with its conventions set aside: `text` has `\n` ends and no byte-order mark. */
export type TextFile = { text: string; bom: boolean; crlf: boolean };

/** A file of mixed line ends keeps them as they are, so that untouched lines stay untouched. */
export function decodeText(bytes: Uint8Array): TextFile {
  const raw = Buffer.from(bytes).toString('utf8');
  const bom = raw.startsWith(BOM);
  const body = bom ? raw.slice(1) : raw;
  const ends = body.split('\n').length - 1;
  const crlf = ends > 0 && body.split('\r\n').length - 1 === ends;
  return { text: crlf ? body.replaceAll('\r\n', '\n') : body, bom, crlf };
}

/** The bytes of `text` in the conventions of the file that it replaces. */
export function encodeText(text: string, like: { bom: boolean; crlf: boolean }): Uint8Array {
  const body = like.crlf ? text.replaceAll('\r\n', '\n').replaceAll('\n', '\r\n') : text;
  return Buffer.from(like.bom && !body.startsWith(BOM) ? BOM + body : body, 'utf8');
}

const BINARY_EXTENSIONS = new Set(
  (
    '7z a avif bin bmp bz2 class dll dmg doc docx dylib eot exe flac gif gz heic ico iso jar jpeg jpg lib m4a mkv mov mp3 ' +
    'mp4 o obj odt ogg otf parquet pdf png ppt pptx pyc rar so sqlite sqlite3 tar tgz tif tiff ttf wasm wav webm webp ' +
    'woff woff2 xls xlsx xz zip zst'
  ).split(' '),
);
const IMAGE_EXTENSIONS = new Set('avif bmp gif heic ico jpeg jpg png tif tiff webp'.split(' '));

export function extensionOf(path: string): string {
  return /\.([^./]+)$/.exec(path)?.[1]?.toLowerCase() ?? '';
}

export function isImagePath(path: string): boolean {
  return IMAGE_EXTENSIONS.has(extensionOf(path));
}

/** By name, else by the first 1,000 bytes: a NUL, or more than a third that no text has. */
export function isBinary(path: string, head: Uint8Array): boolean {
  if (BINARY_EXTENSIONS.has(extensionOf(path))) return true;
  const sample = head.subarray(0, 1000);
  if (sample.includes(0)) return true;
  const odd = sample.filter((byte) => byte < 9 || (byte > 13 && byte < 32)).length;
  return sample.length > 0 && odd / sample.length > 0.3;
}
