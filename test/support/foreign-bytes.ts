import { fc } from './property.ts';

type Edit = { at: number; kind: 'set' | 'drop' | 'repeat' | 'cut'; byte: number; length: number };

const edit: fc.Arbitrary<Edit> = fc.record({
  at: fc.nat(1_000_000),
  kind: fc.constantFrom('set', 'drop', 'repeat', 'cut'),
  byte: fc.nat(255),
  length: fc.integer({ min: 1, max: 64 }),
});

function apply(bytes: Buffer, { at, kind, byte, length }: Edit): Buffer {
  if (bytes.length === 0) return bytes;
  const start = at % bytes.length;
  const end = Math.min(bytes.length, start + length);
  const [before, part, after] = [bytes.subarray(0, start), bytes.subarray(start, end), bytes.subarray(end)];
  switch (kind) {
    case 'set':
      return Buffer.concat([before, Buffer.from([byte]), bytes.subarray(start + 1)]);
    case 'drop':
      return Buffer.concat([before, after]);
    case 'repeat':
      return Buffer.concat([before, part, part, after]);
    default:
      return Buffer.from(before);
  }
}

/** Valid inputs with some bytes changed, left out, doubled or cut off; now and then any bytes. */
export function damage(...valid: Uint8Array[]): fc.Arbitrary<Buffer> {
  const damaged = fc
    .tuple(fc.constantFrom(...valid), fc.array(edit, { maxLength: 8 }))
    .map(([bytes, edits]) => edits.reduce(apply, Buffer.from(bytes)));
  const noise = fc.uint8Array({ maxLength: 2000 }).map((bytes) => Buffer.from(bytes));
  return fc.oneof({ weight: 4, arbitrary: damaged }, { weight: 1, arbitrary: noise });
}

/** Cuts bytes into chunks, as a network does. */
export function chunk(bytes: Buffer, cuts: readonly number[]): Buffer[] {
  const places = [...new Set(cuts.map((cut) => cut % (bytes.length + 1)))].sort((left, right) => left - right);
  return [0, ...places].map((start, index) => bytes.subarray(start, places[index] ?? bytes.length));
}
