// Tests: test/inference/splice.test.ts

/** A field of the outermost object: from the quote of its name to the end of its value. */
type Span = { name: string; start: number; end: number };

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const OPEN = new Set([0x7b, 0x5b]);
const CLOSE = new Set([0x7d, 0x5d]);

/** The position after a string that begins at `start`. */
function skipString(text: string, start: number): number {
  for (let at = text.indexOf('"', start + 1); ; at = text.indexOf('"', at + 1)) {
    let slashes = 0;
    while (text.charCodeAt(at - 1 - slashes) === BACKSLASH) slashes += 1;
    if (slashes % 2 === 0) return at + 1;
  }
}

/** The fields of an object in valid JSON, in order. */
function listFields(text: string): Span[] {
  const fields: Span[] = [];
  let depth = 0;
  let field: Span | undefined;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) {
      const end = skipString(text, at);
      if (depth === 1 && field === undefined) {
        field = { name: JSON.parse(text.slice(at, end)) as string, start: at, end };
        fields.push(field);
      }
      at = end - 1;
    } else if (OPEN.has(code)) depth += 1;
    else if (CLOSE.has(code)) {
      depth -= 1;
      if (depth > 0) continue;
      if (field !== undefined) field.end = at;
      break;
    } else if (code === COMMA && depth === 1 && field !== undefined) {
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
  const fields = listFields(bytes.toString('latin1'));
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
