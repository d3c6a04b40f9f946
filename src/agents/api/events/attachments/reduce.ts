import { errors } from '../../../../platform/errors.ts';

/** Receives the base64 of one long data URL; `end` returns the text that replaces it. */
export type Sink = {
  write(base64: Buffer): Promise<void>;
  end(): Promise<string>;
  /** The body broke off. */
  abort(): void;
};

export type ReduceOptions = {
  /** of the body, and of what is left of it */
  maxBytes: number;
  maxTextBytes: number;
  openSink: (mediaType: string) => Sink | Promise<Sink>;
};

/** Data URLs of at least this many characters are extracted. */
const LONG = 256 * 1024;
const HEAD = 512;
const BLOCK_BYTES = 64 * 1024;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
// Some writers of JSON escape every slash.
const DATA_URL = /^data:([a-z0-9.+-]+)\\?\/([a-z0-9.+-]+)(?:;[a-z0-9.+-]+=[^;,"\\]{0,100}){0,4};base64,/i;

/**
 * JSON text as it comes in, with every long data URL handed to a sink: neither the body nor an attachment is ever in
 * memory whole. The text is not parsed here; what is wrong with it is found by whoever does.
 */
export async function reduceJson(chunks: AsyncIterable<Buffer>, options: ReduceOptions): Promise<string> {
  const { maxBytes, maxTextBytes, openSink } = options;
  const left = openText(maxTextBytes);
  let total = 0;
  /**
   * outside of strings, in one that may become long, in a long one that is no data URL, in one that goes to the sink
   */
  let state: 'outside' | 'string' | 'plain' | 'sink' = 'outside';
  let pending: Buffer[] = [];
  let pendingSize = 0;
  let escaped = false;
  let sink: Sink | undefined;

  const keep = (bytes: Buffer): void => left.add(bytes);
  const flush = (): void => {
    for (const piece of pending) keep(piece);
    pending = [];
    pendingSize = 0;
  };
  /** What a string that has become long is. */
  const decide = async (): Promise<void> => {
    const whole = Buffer.concat(pending);
    const match = DATA_URL.exec(whole.toString('latin1', 0, HEAD));
    if (match === null) {
      state = 'plain';
      return flush();
    }
    state = 'sink';
    pending = [];
    pendingSize = 0;
    sink = await openSink(`${match[1]}/${match[2]}`.toLowerCase());
    await sink.write(withoutEscapes(whole.subarray(match[0].length)));
  };

  try {
    for await (const chunk of chunks) {
      total += chunk.length;
      if (total > maxBytes) throw errors.payloadTooLarge(maxBytes);
      for (let at = 0; at < chunk.length;) {
        if (state === 'outside') {
          const quote = chunk.indexOf(QUOTE, at);
          const end = quote === -1 ? chunk.length : quote + 1;
          keep(chunk.subarray(at, end));
          at = end;
          if (quote !== -1) state = 'string';
          escaped = false;
          continue;
        }
        const end = findEnd(chunk, at, escaped);
        const piece = chunk.subarray(at, end.index);
        escaped = end.escaped;
        at = end.index;
        if (state === 'string') {
          pending.push(piece);
          pendingSize += piece.length;
          if (pendingSize > LONG) await decide();
          else if (end.closed) flush();
        } else if (state === 'sink') await sink?.write(withoutEscapes(piece));
        else keep(piece);
        if (!end.closed) continue;
        if (sink !== undefined) keep(Buffer.from(await sink.end()));
        sink = undefined;
        keep(chunk.subarray(at, at + 1));
        at += 1;
        state = 'outside';
      }
    }
    flush();
    if (sink !== undefined) throw errors.validation('body: must be valid JSON');
    return left.read();
  } catch (error) {
    sink?.abort();
    throw error;
  }
}

/** Text in the making, of pieces that may be many and tiny. */
function openText(maxBytes: number): { add(bytes: Buffer): void; read(): string } {
  const blocks: Buffer[] = [];
  let block = Buffer.alloc(0);
  let used = 0;
  let size = 0;
  return {
    add(bytes) {
      size += bytes.length;
      if (size > maxBytes) throw errors.payloadTooLarge(maxBytes);
      if (used + bytes.length > block.length) {
        blocks.push(block.subarray(0, used));
        block = Buffer.allocUnsafe(Math.max(BLOCK_BYTES, bytes.length));
        used = 0;
      }
      used += bytes.copy(block, used);
    },
    read: () => Buffer.concat([...blocks, block.subarray(0, used)]).toString('utf8'),
  };
}

/**
 * Where the string ends, or else the chunk. `escaped`: the first byte, or the first of the next chunk, has a backslash
 * before it.
 */
function findEnd(chunk: Buffer, from: number, escaped: boolean): { index: number; closed: boolean; escaped: boolean } {
  for (let at = escaped ? from + 1 : from; ;) {
    const quote = chunk.indexOf(QUOTE, at);
    const end = quote === -1 ? chunk.length : quote;
    let slashes = 0;
    while (end - slashes > at && chunk[end - 1 - slashes] === BACKSLASH) slashes += 1;
    const isEscaped = slashes % 2 === 1;
    if (quote === -1) return { index: end, closed: false, escaped: isEscaped };
    if (!isEscaped) return { index: quote, closed: true, escaped: false };
    at = quote + 1;
  }
}

/** Base64 needs no escapes but that of the slash; anything else is left for the decoder to refuse. */
function withoutEscapes(piece: Buffer): Buffer {
  return piece.includes(BACKSLASH) ? Buffer.from(piece.filter((byte) => byte !== BACKSLASH)) : piece;
}
