import { StringDecoder } from 'node:string_decoder';

export const OUTPUT_CAP = 50_000;

/**
 * Collects text in bounded memory: the first 40 % and the last 60 % of the cap, and the length of the removed middle.
 */
export function collectOutput(cap = OUTPUT_CAP) {
  const headCap = cap * 0.4;
  const tailCap = cap - headCap;
  const decoder = new StringDecoder('utf8');
  let head = '';
  let tail = '';
  let total = 0;
  const add = (text: string): void => {
    total += text.length;
    const room = headCap - head.length;
    if (room > 0) head += text.slice(0, room);
    if (text.length > room) tail += text.slice(Math.max(0, room));
    // trimmed in large steps, not at every chunk
    if (tail.length > tailCap * 4) tail = tail.slice(-tailCap);
  };
  return {
    /** Returns the text of the chunk; a character split between chunks comes with the later one. */
    push(chunk: Buffer): string {
      const text = decoder.write(chunk);
      add(text);
      return text;
    },
    end(): string {
      add(decoder.end());
      if (total <= cap) return head + tail;
      const omitted = total - cap;
      return `${head}\n\n... [OUTPUT TRUNCATED - ${omitted} characters omitted out of ${total} total] ...\n\n${tail.slice(-tailCap)}`;
    },
  };
}

/** The last `cap` characters of what was pushed. */
export function rollOutput(cap: number) {
  const decoder = new StringDecoder('utf8');
  let text = '';
  return {
    push(chunk: Buffer): string {
      const added = decoder.write(chunk);
      text += added;
      if (text.length > cap * 2) text = text.slice(-cap);
      return added;
    },
    read: () => text.slice(-cap),
  };
}
