import { isUtf8 } from 'node:buffer';

/** The number of bytes at the end of `bytes` that start an incomplete character. */
function countOpenBytes(bytes: Uint8Array): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes[bytes.length - back]!;
    if (byte < 0x80) return 0;
    if (byte >= 0xc0) return back < (byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2) ? back : 0;
  }
  return 0;
}

/** Checks whether a stream is UTF-8 without NUL. */
export function openTextCheck(): { push(chunk: Uint8Array): void; end(): boolean } {
  let text = true;
  let rest: Uint8Array = new Uint8Array();
  return {
    push(chunk) {
      if (!text) return;
      const bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
      const open = countOpenBytes(bytes);
      const whole = bytes.subarray(0, bytes.length - open);
      text = isUtf8(whole) && !whole.includes(0);
      rest = Uint8Array.from(bytes.subarray(bytes.length - open));
    },
    end: () => text && rest.length === 0,
  };
}
