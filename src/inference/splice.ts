// Tests: test/inference/splice.test.ts

/** A field of the outermost object: from the quote of its name to the end of its value. */
type Span = { name: string; start: number; end: number };

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

/** Bytes of a string that are read one by one; a native search for the closing quote pays off beyond them. */
const SHORT = 32;
/** Escaped quotes that are nearer than this are read faster one by one: JSON within JSON. */
const DENSE = 8;

/** The position after a string that begins at `start`. Takes linear time. */
function skipString(bytes: Buffer, start: number): number {
  let at = start + 1;
  let window = SHORT;
  for (;;) {
    // Here `at` is never behind a backslash that escapes it.
    const far = at + window;
    while (at < far) {
      const byte = bytes[at];
      if (byte === QUOTE) return at + 1;
      // Valid JSON ends its strings; this is for whatever is not.
      if (byte === undefined) return at;
      at += byte === BACKSLASH ? 2 : 1;
    }
    const quote = bytes.indexOf(QUOTE, at);
    if (quote === -1) return bytes.length;
    let before = quote;
    while (before > at && bytes[before - 1] === BACKSLASH) before -= 1;
    if ((quote - before) % 2 === 0) return quote + 1;
    if (quote - at < DENSE) window *= 2;
    at = quote + 1;
  }
}

/** The fields of an object in valid JSON, in order. Reads bytes, since decoding a large request takes as long. */
function listFields(bytes: Buffer): Span[] {
  const fields: Span[] = [];
  let depth = 0;
  let field: Span | undefined;
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at];
    if (byte === QUOTE) {
      const end = skipString(bytes, at);
      if (depth === 1 && field === undefined) {
        field = { name: JSON.parse(bytes.toString('latin1', at, end)) as string, start: at, end };
        fields.push(field);
      }
      at = end - 1;
    } else if (byte === OPEN_BRACE || byte === OPEN_BRACKET) depth += 1;
    else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) {
      depth -= 1;
      if (depth > 0) continue;
      if (field !== undefined) field.end = at;
      break;
    } else if (byte === COMMA && depth === 1 && field !== undefined) {
      field.end = at;
      field = undefined;
    }
  }
  return fields;
}

/** A JSON object in its original bytes, and its parsed form. */
export type RawObject = { bytes: Buffer; parsed: Record<string, unknown> };

/**
 * The JSON of `wanted`, with the original bytes of every field that it shares with `raw`, so that large requests need
 * not be serialized again. Undefined if a name occurs twice in `raw`, because parsers differ in which one counts.
 */
export function spliceObject({ bytes, parsed }: RawObject, wanted: Record<string, unknown>): Buffer | undefined {
  const fields = listFields(bytes);
  if (new Set(fields.map(({ name }) => name)).size !== fields.length) return undefined;
  const pieces: Uint8Array[] = [];
  const add = (piece: Uint8Array) => pieces.push(Buffer.from(pieces.length === 0 ? '{' : ','), piece);
  // Names are read as Latin-1; a name that is not ASCII is serialized again.
  const shared = new Set<string>();
  for (const { name, start, end } of fields) {
    if (!Object.hasOwn(parsed, name) || wanted[name] === undefined || wanted[name] !== parsed[name]) continue;
    shared.add(name);
    add(bytes.subarray(start, end));
  }
  const others = Object.entries(wanted).filter(([name, value]) => value !== undefined && !shared.has(name));
  if (others.length > 0) add(Buffer.from(JSON.stringify(Object.fromEntries(others)).slice(1, -1)));
  pieces.push(Buffer.from(pieces.length === 0 ? '{}' : '}'));
  return Buffer.concat(pieces);
}
